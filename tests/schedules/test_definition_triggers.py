"""A definition's triggers are schedules: one an id, changed and deleted with their entries."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from tests.support.callers import CYCLIC, Caller, instant

NIGHTLY = {"id": "nightly", "type": "schedule_based", "cron_expr": "0 3 * * *"}


def definition(*triggers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"nodes": [{"id": "a"}], "edges": [], "triggers": list(triggers), **more}


def registered(alice: Caller, workflow_id: uuid.UUID) -> dict[str | None, Any]:
    rows = alice.rows("fn_workflow_get_schedules", workflow_id=workflow_id)
    found = {row.trigger_id: row for row in rows}
    assert len(found) == len(rows)
    return found


def saved(
    alice: Caller, workflow_id: uuid.UUID, *triggers: dict[str, Any]
) -> dict[str | None, Any]:
    alice.one("fn_upsert_workflow", workflow_id=workflow_id, definition=definition(*triggers))
    return registered(alice, workflow_id)


def test_an_entry_is_a_schedule(alice: Caller) -> None:
    agent = alice.agent()
    entry = {
        "id": "full", "type": "schedule_based", "cron_expr": "0 9 * * 1-5", "timezone": "Europe/Berlin",
        "inputs_template": {"a": 1}, "is_active": False, "assignee_type": "agent", "assignee_id": str(agent),
        "approval_policy": {"requiresApproval": False}, "queue_policy": {"mode": "serial"}, "description": "d",
        "start_at": "2031-01-01T00:00:00Z", "jitter_ms": 5, "inputs_rotation": [{"a": 1}],
        "pre_dispatch_condition": {"/a": {"eq": 1}}, "workflow_version": 1, "global_model_id": "m",
    }  # fmt: skip
    row = alice.workflow(
        definition=definition(NIGHTLY, entry, {"id": "hook", "type": "webhook", "url": "x"})
    )
    assert row.trigger_type == "schedule"
    found = registered(alice, row.id)
    assert set(found) == {"nightly", "full"}
    default = alice.schedule(row.id, cron_expr="0 3 * * *")
    for name in (
        "timezone",
        "approval_policy",
        "queue_policy",
        "is_active",
        "jitter_ms",
        "next_run_at",
    ):
        assert getattr(found["nightly"], name) == getattr(default, name)
    full = found["full"]
    assert (full.assignee_id, full.start_at) == (agent, instant("2031-01-01T00:00+00:00"))
    for name in set(entry) - {"id", "type", "assignee_id", "start_at"}:
        assert getattr(full, name) == entry[name], name


def test_changed_and_deleted_with_its_entry(alice: Caller) -> None:
    row = alice.workflow(definition=definition(NIGHTLY, {**NIGHTLY, "id": "second"}))
    before = registered(alice, row.id)
    by_hand = alice.schedule(row.id)
    after = saved(alice, row.id, {**NIGHTLY, "cron_expr": "0 4 * * *"})
    assert set(after) == {"nightly", None}
    assert after["nightly"].id == before["nightly"].id
    assert after["nightly"].cron_expr == "0 4 * * *"
    assert after[None] == by_hand
    assert set(saved(alice, row.id)) == {None}
    alice.one("fn_delete_workflow_schedule", schedule_id=by_hand.id)
    saved(alice, row.id, NIGHTLY)
    saved(alice, row.id)
    assert alice.db.value("select trigger_type from lenses.workflows") == "manual"


def test_the_same_again_changes_nothing(alice: Caller) -> None:
    row = alice.workflow(definition=definition(NIGHTLY))
    before = registered(alice, row.id)
    assert saved(alice, row.id, NIGHTLY) == before
    assert alice.db.value("select version from lenses.workflows") == 1


def test_what_the_entry_does_not_name_is_the_owners(alice: Caller) -> None:
    row = alice.workflow(definition=definition(NIGHTLY))
    key = registered(alice, row.id)["nightly"].id
    alice.one(
        "fn_patch_workflow_schedule",
        schedule_id=key,
        patch={"jitter_ms": 9, "cron_expr": "0 5 * * *"},
    )
    alice.one("fn_upsert_workflow", workflow_id=row.id, title="only the title")
    assert alice.saved(key).cron_expr == "0 5 * * *"
    kept = saved(alice, row.id, NIGHTLY, {**NIGHTLY, "id": "other"})["nightly"]
    assert (kept.jitter_ms, kept.cron_expr) == (9, "0 3 * * *")


def test_what_the_entry_no_longer_names_is_cleared(alice: Caller) -> None:
    row = alice.workflow(
        definition=definition({**NIGHTLY, "description": "d", "timezone": "Europe/Paris"})
    )
    found = saved(alice, row.id, NIGHTLY)["nightly"]
    assert (found.description, found.timezone) == (None, "UTC")


def test_from_cron_to_interval(alice: Caller) -> None:
    row = alice.workflow(definition=definition(NIGHTLY))
    found = saved(
        alice, row.id, {"id": "nightly", "type": "schedule_based", "interval_ms": 300000}
    )["nightly"]
    assert (found.schedule_type, found.cron_expr, found.interval_ms) == ("interval", None, 300000)


@pytest.mark.parametrize(
    "entry", [NIGHTLY, {**NIGHTLY, "is_active": True, "cron_expr": "0 4 * * *"}]
)
def test_the_owners_pause_is_kept(alice: Caller, entry: dict[str, Any]) -> None:
    row = alice.workflow(definition=definition(NIGHTLY))
    key = registered(alice, row.id)["nightly"].id
    paused = alice.one("fn_pause_workflow_schedule", schedule_id=key, note="mine")
    found = saved(alice, row.id, entry)["nightly"]
    assert (found.is_active, found.paused_at, found.pause_note) == (False, paused.paused_at, "mine")


def test_deleted_by_hand_comes_back_with_the_next_definition(alice: Caller) -> None:
    row = alice.workflow(definition=definition(NIGHTLY))
    alice.one("fn_delete_workflow_schedule", schedule_id=registered(alice, row.id)["nightly"].id)
    assert set(saved(alice, row.id, NIGHTLY)) == {"nightly"}


@pytest.mark.parametrize(
    ("key", "value", "policy"),
    [
        ("overlap_policy", "allow", {"mode": "parallel"}),
        ("overlap_policy", "skip", {"mode": "serial", "onOverlap": "skip"}),
        ("overlap_policy", "queue", {"mode": "serial", "onOverlap": "queue"}),
        ("catchup_policy", "none", {"onMissed": "skip"}),
        ("catchup_policy", "fire_immediately", {"onMissed": "backfill"}),
        ("catchup_policy", "spread", {"onMissed": "spread", "spreadWindowMs": 60000}),
        ("overlap_policy", {"x": 1}, None),
        ("catchup_policy", None, None),
    ],
)
def test_the_words_of_other_schedulers_are_answered_with_ours(
    alice: Caller, key: str, value: Any, policy: dict[str, Any] | None
) -> None:
    entry = {**NIGHTLY, key: value}
    found = alice.refused("22023", "fn_upsert_workflow", title="new", definition=definition(entry))
    assert f'unknown key "{key}"; the nearest is "queue_policy"' in found.message_primary
    hint = found.message_hint
    assert hint is not None and hint.startswith("Use queue_policy: ")
    schedule = alice.schedule(alice.workflow().id)
    patched = alice.refused(
        "22023", "fn_patch_workflow_schedule", schedule_id=schedule.id, patch={key: value}
    )
    assert patched.message_hint == hint
    if policy is None:
        assert ("onOverlap" if key == "overlap_policy" else "maxBackfill") in hint
        return
    ours, _ = json.JSONDecoder().raw_decode(hint.removeprefix("Use queue_policy: "))
    assert ours == policy
    again = {**NIGHTLY, "queue_policy": ours}
    alice.one("fn_upsert_workflow", title="works", definition=definition(again))


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({**NIGHTLY, "id": "bad", "cron_expr": "0 25 * * *"}, "25"),
        ({**NIGHTLY, "id": "bad", "timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({**NIGHTLY, "id": "bad", "cron": "0 3 * * *"}, '"cron_expr"'),
        ({**NIGHTLY, "id": "bad", "is_active": 1}, '"bad"'),
        ({**NIGHTLY, "id": "bad", "start_at": "soon"}, '"bad"'),
        ({**NIGHTLY, "id": "bad", "interval_ms": 300000}, "cron_expr"),
        ({"id": "bad", "type": "schedule_based"}, '"bad"'),
        ({**NIGHTLY, "id": "x" * 201}, "id is longer"),
    ],
)
def test_everything_or_nothing(alice: Caller, bad: dict[str, Any], says: str) -> None:
    row = alice.workflow(definition=definition(NIGHTLY))
    before = registered(alice, row.id)
    wanted = definition({**NIGHTLY, "cron_expr": "0 4 * * *"}, bad)
    found = alice.refused(
        "22023", "fn_upsert_workflow", workflow_id=row.id, title="new", definition=wanted
    )
    assert says in found.message_primary
    assert found.message_primary.startswith("trigger ") or bad["id"] in found.message_primary
    assert found.message_hint
    assert registered(alice, row.id) == before
    assert [w.title for w in alice.rows("fn_get_workflows")] == ["a workflow"]
    alice.refused("22023", "fn_upsert_workflow", title="new", definition=wanted)
    assert len(alice.rows("fn_get_workflows")) == 1


def test_a_cycle(alice: Caller) -> None:
    found = alice.refused(
        "22023", "fn_upsert_workflow", title="t", definition={**CYCLIC, "triggers": [NIGHTLY]}
    )
    assert found.message_primary.startswith('trigger "nightly": cycle_detected')
    disabled = {**CYCLIC, "triggers": [{**NIGHTLY, "is_active": False}]}
    assert alice.workflow(definition=disabled).trigger_type == "schedule"


def test_deleted_and_back(alice: Caller) -> None:
    row = alice.workflow(definition=definition(NIGHTLY))
    alice.one("fn_set_workflow_status", workflow_id=row.id, status="deleted")
    assert alice.rows("fn_workflow_get_schedules", workflow_id=row.id) == []
    alice.one(
        "fn_upsert_workflow",
        workflow_id=row.id,
        definition=definition(NIGHTLY, NIGHTLY | {"id": "b"}),
        status=None,
    )
    assert alice.rows("fn_workflow_get_schedules", workflow_id=row.id) == []
    assert (
        alice.one("fn_set_workflow_status", workflow_id=row.id, status="active").trigger_type
        == "schedule"
    )
    assert set(registered(alice, row.id)) == {"nightly", "b"}


def test_the_cap_holds_for_them_too(alice: Caller, operator: Caller) -> None:
    operator.one("fn_set_dispatch_settings", patch={"max_schedules_per_lenser": 1})
    alice.refused(
        "53400",
        "fn_upsert_workflow",
        title="t",
        definition=definition(NIGHTLY, NIGHTLY | {"id": "b"}),
    )
    assert alice.rows("fn_get_workflows") == []


def many(triggers: int, timezone: str = "UTC") -> dict[str, Any]:
    return {
        "triggers": [
            {
                "id": f"t{n}",
                "type": "schedule_based",
                "cron_expr": "0 9 * * *",
                "timezone": timezone,
            }
            for n in range(triggers)
        ]
    }


def test_a_definition_has_at_most_a_thousand_triggers(alice: Caller) -> None:
    said = alice.refused("22023", "fn_upsert_workflow", title="t", definition=many(1001))
    assert said.message_primary == "definition has 1001 triggers"
    workflow = alice.workflow(definition=many(1000))
    before = {"id": "t999", "type": "schedule_based", "cron_expr": "0 9 * * *"}
    after = many(1000)
    after["triggers"][999] = before
    alice.one("fn_upsert_workflow", workflow_id=workflow.id, definition=after)
    assert alice.db.value("select count(*) from lenses.workflow_schedules") == 1000
