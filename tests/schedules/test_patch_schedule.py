"""fn_patch_workflow_schedule: what is named changes, and nothing else."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from tests.support.callers import Caller, instant

INTERNAL = {"updated_at", "next_run_at", "due_at", "cron_spec"}


def patched(alice: Caller, key: uuid.UUID, patch: dict[str, Any]) -> Any:
    return alice.one("fn_patch_workflow_schedule", schedule_id=key, patch=patch)


def changed(before: Any, after: Any) -> set[str]:
    return {
        name
        for name, old, new in zip(before._fields, before, after, strict=True)
        if old != new and name not in INTERNAL
    }


@pytest.mark.parametrize(
    ("patch", "names"),
    [
        ({}, set()),
        ({"description": "new"}, {"description"}),
        ({"timezone": "Europe/Paris"}, {"timezone"}),
        ({"jitter_ms": 7}, {"jitter_ms"}),
        ({"is_active": False}, {"is_active"}),
        ({"start_at": "2031-05-01T09:00:00+02:00"}, {"start_at"}),
        ({"inputs_template": {"a": None}}, {"inputs_template"}),
        ({"inputs_rotation": [{"a": 1}]}, {"inputs_rotation"}),
        (
            {"pre_dispatch_condition": {"": {"neq": None}}},
            {"pre_dispatch_condition", "is_sequential"},
        ),
        ({"approval_policy": {"requiresApproval": False}}, {"approval_policy"}),
        ({"queue_policy": {"mode": "serial"}}, {"queue_policy", "max_in_flight", "is_sequential"}),
        ({"interval_ms": 600000}, {"interval_ms", "cron_expr", "schedule_type"}),
        ({"workflow_version": 1}, {"workflow_version"}),
        ({"cron_expr": "0 10 * * *", "schedule_type": "cron", "interval_ms": None}, {"cron_expr"}),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_changes_what_is_named(alice: Caller, patch: dict[str, Any], names: set[str]) -> None:
    before = alice.schedule(
        cron_expr="0 9 * * *", retry_policy={"maxRetries": 2}, global_model_id="m"
    )
    assert changed(before, patched(alice, before.id, patch)) == names


def test_null_clears_or_sets_the_default(alice: Caller) -> None:
    row = alice.schedule(
        description="d", global_model_id="m", timezone="Europe/Paris", retry_policy={"maxRetries": 5},
        inputs_template={"a": 1}, inputs_rotation="[1]", end_at="2040-01-01Z", jitter_ms=9, workflow_version=1,
        assignee_id=alice.agent(), pre_dispatch_condition={"/a": {"eq": 1}},
    )  # fmt: skip
    names = (
        "description", "global_model_id", "timezone", "retry_policy", "inputs_template", "inputs_rotation",
        "end_at", "jitter_ms", "workflow_version", "assignee_id", "pre_dispatch_condition",
    )  # fmt: skip
    default = alice.schedule()
    cleared = patched(alice, row.id, dict.fromkeys(names))
    assert {name: getattr(cleared, name) for name in names} == {
        name: getattr(default, name) for name in names
    }


def test_from_interval_to_cron_and_back(alice: Caller) -> None:
    key = alice.schedule(interval_ms=300000).id
    row = patched(alice, key, {"cron_expr": "0 9 * * *"})
    assert (row.schedule_type, row.cron_expr, row.interval_ms) == ("cron", "0 9 * * *", None)
    row = patched(alice, key, {"interval_ms": 900000})
    assert (row.schedule_type, row.cron_expr, row.interval_ms) == ("interval", None, 900000)


def test_times_are_instants(alice: Caller) -> None:
    key = alice.schedule().id
    for text, meant in (
        ("2031-05-01T09:00:00+02:00", "2031-05-01T07:00:00+00:00"),
        ("2031-05-01 09:00:00.5Z", "2031-05-01T09:00:00.5+00:00"),
        ("2031-05-01", "2031-05-01T00:00:00+00:00"),
    ):
        assert patched(alice, key, {"start_at": text}).start_at == instant(meant)


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ({"timezon": "UTC"}, '"timezone"'),
        ({"cronExpr": "* * * * *"}, '"cron_expr"'),
        ({"next_run_at": "2030-01-01Z"}, '"next_run_at"'),
        ({"lenser_id": str(uuid.UUID(int=7))}, '"lenser_id"'),
        ({"description": 5}, "a string"),
        ({"is_active": "yes"}, "true or false"),
        ({"is_active": None}, "true or false"),
        ({"interval_ms": "300000"}, "a whole number"),
        ({"interval_ms": 300000.5}, "300000.5"),
        ({"interval_ms": 10**30}, "nearest allowed"),
        ({"jitter_ms": -1}, "-1"),
        ({"workflow_version": 2**31}, "nearest allowed"),
        ({"assignee_id": "me"}, "uuid"),
        ({"assignee_type": "teams"}, '"team"'),
        ({"schedule_type": "crown"}, '"cron"'),
        ({"start_at": "tomorrow"}, "tomorrow"),
        ({"start_at": "infinity"}, "infinity"),
        ({"start_at": "2031-02-30"}, "2031-02-30"),
        ({"start_at": "2031-01-01T00:00:00+99"}, "+99"),
        ({"start_at": 1900000000}, "a string"),
        ({"end_at": "x" * 5000}, "xxx"),
        ({"cron_expr": None}, "cron_expr"),
        ({"cron_expr": "0 9 * * *", "interval_ms": 300000}, "cron_expr"),
        ({"cron_expr": "0 9 * * 8"}, "8"),
        ({"timezone": "PST"}, "PST"),
        ({"approval_policy": "none"}, "approval_policy"),
        ({"inputs_rotation": {"a": 1}}, "inputs_rotation"),
        ({"pre_dispatch_condition": []}, "filter"),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else None,
)
def test_bad_patches(alice: Caller, patch: dict[str, Any], says: str) -> None:
    row = alice.schedule()
    found = alice.refused("22023", "fn_patch_workflow_schedule", schedule_id=row.id, patch=patch)
    assert says in found.message_primary
    assert found.message_hint
    assert alice.saved(row.id) == row


@pytest.mark.parametrize("patch", ["[]", '"x"', "7", "null", None])
def test_a_patch_is_an_object(alice: Caller, patch: str | None) -> None:
    key = alice.schedule().id
    found = alice.refused("22023", "fn_patch_workflow_schedule", schedule_id=key, patch=patch)
    assert "JSON object" in found.message_primary


def test_every_parameter_of_upsert_can_be_patched(alice: Caller) -> None:
    parameters = alice.db.column(
        "select substr(unnest(proargnames), 3) from pg_proc where proname = 'fn_upsert_workflow_schedule'"
    )
    found = alice.refused(
        "22023", "fn_patch_workflow_schedule", schedule_id=alice.schedule().id, patch={"?": 1}
    )
    known = found.message_hint.removeprefix("Known keys: ").removesuffix(".").split(", ")
    assert set(known) == set(parameters) - {"workflow_id", "schedule_id"}


def test_nothing_is_written_where_nothing_changes(alice: Caller) -> None:
    row = alice.schedule()
    patched(alice, row.id, {"timezone": "UTC", "description": None})
    assert alice.saved(row.id) == row
