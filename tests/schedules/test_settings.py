"""The dispatcher's settings and its freeze: service_role's."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from tests.support.callers import Caller


def test_patch(operator: Caller) -> None:
    before = operator.db.row("select * from lenses.dispatch_settings")
    row = operator.one(
        "fn_set_dispatch_settings",
        patch={
            "batch_size": 500,
            "missed_grace": "PT5M",
            "default_on_missed": "run_once",
            "retention": "40 days",
        },
    )
    assert (row.batch_size, row.missed_grace, row.default_on_missed, row.retention) == (
        500, datetime.timedelta(minutes=5), "run_once", datetime.timedelta(days=40),
    )  # fmt: skip
    assert row.max_catchup_per_tick == before.max_catchup_per_tick
    assert row.updated_at > before.updated_at
    assert operator.db.row("select * from lenses.dispatch_settings") == row


def test_retention_by_kind_follows_that_of_runs_unless_set(operator: Caller) -> None:
    kinds = ("events_retention", "logs_retention")
    row = operator.one("fn_set_dispatch_settings", patch=dict.fromkeys(kinds, "40 days"))
    assert [getattr(row, kind) for kind in kinds] == [datetime.timedelta(days=40)] * 2
    row = operator.one("fn_set_dispatch_settings", patch={"batch_size": 7})
    assert [getattr(row, kind) for kind in kinds] == [datetime.timedelta(days=40)] * 2
    row = operator.one("fn_set_dispatch_settings", patch=dict.fromkeys(kinds))
    assert [getattr(row, kind) for kind in kinds] == [None, None]


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ({"batchsize": 5}, '"batch_size"'),
        ({"batch_size": 0}, "0"),
        ({"batch_size": 10001}, "10001"),
        ({"batch_size": "5"}, "whole number"),
        ({"batch_size": None}, "whole number"),
        ({"missed_grace": "soon"}, "soon"),
        ({"missed_grace": "2 days"}, "2 days"),
        ({"missed_grace": "-1 minute"}, "-1 minute"),
        ({"missed_grace": 5}, "a string"),
        ({"default_on_overlap": "replce"}, '"replace"'),
        ({"default_jitter_ms": -1}, "-1"),
        ({"retention": "30 days"}, "30 days"),
        ({"retention": "999999999 years"}, "999999999 years"),
        ({"ticks_retention": "1 minute"}, "1 minute"),
        ({"events_retention": "30 days"}, "30 days"),
        ({"logs_retention": "30 days"}, "30 days"),
        ({"logs_retention": 40}, "a string"),
        ({"max_schedules_per_lenser": 0}, "0"),
        ({"is_frozen": "yes"}, "true or false"),
        ({"batch_size": 7, "nonsense": 1}, "nonsense"),
    ],
    ids=str,
)
def test_bad_patches(operator: Caller, patch: dict[str, Any], says: str) -> None:
    before = operator.db.row("select * from lenses.dispatch_settings")
    found = operator.refused("22023", "fn_set_dispatch_settings", patch=patch)
    assert says in found.message_primary
    assert operator.db.row("select * from lenses.dispatch_settings") == before


@pytest.mark.parametrize("patch", ["[]", "7", None])
def test_a_patch_is_an_object(operator: Caller, patch: str | None) -> None:
    operator.refused("22023", "fn_set_dispatch_settings", patch=patch)


def test_freeze(operator: Caller, alice: Caller) -> None:
    key = alice.schedule(cron_expr="0 9 * * *", queue_policy={"onMissed": "run_once"}).id
    alice.db.execute(
        "update lenses.workflow_schedules set next_run_at = next_run_at - interval '1 day' where id = %s",
        [key],
    )
    frozen = operator.one("fn_freeze_dispatch", reason="maintenance")
    assert (frozen.is_frozen, frozen.frozen_reason) == (True, "maintenance")
    assert frozen.frozen_at
    tick = "select lenses.fn_dispatch_scheduled_workflows()"
    assert alice.db.value(tick) == 0
    assert operator.one("fn_freeze_dispatch", reason="longer").frozen_reason == "longer"
    open_ = operator.one("fn_unfreeze_dispatch")
    assert (open_.is_frozen, open_.frozen_reason, open_.frozen_at) == (False, None, None)
    assert alice.db.value(tick) == 1
    operator.one("fn_unfreeze_dispatch")
    assert operator.one("fn_freeze_dispatch", reason=None).is_frozen
    operator.refused("22023", "fn_freeze_dispatch", reason="x" * 2001)


def test_freeze_by_patch(operator: Caller) -> None:
    row = operator.one("fn_set_dispatch_settings", patch={"is_frozen": True, "frozen_reason": "r"})
    assert (row.is_frozen, row.frozen_reason) == (True, "r")
    row = operator.one("fn_set_dispatch_settings", patch={"frozen_reason": None})
    assert (row.is_frozen, row.frozen_reason) == (True, None)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("fn_set_dispatch_settings", {"patch": {"batch_size": 5}}),
        ("fn_freeze_dispatch", {"reason": "r"}),
        ("fn_unfreeze_dispatch", {}),
    ],
)
def test_only_operators(alice: Caller, function: str, arguments: dict[str, Any]) -> None:
    alice.refused("42501", function, **arguments)
    Caller(alice.db, alice.tenant, "anon").refused("42501", function, **arguments)
