"""Pause, resume, disable, enable: every way in ends the same."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.callers import Caller, instant

DAILY = {"cron_expr": "0 2 * * *", "approval_policy": {"requiresApproval": False}}


def due_row(alice: Caller, key: uuid.UUID) -> Any:
    return alice.db.value("select due_at from lenses.schedule_due where schedule_id = %s", [key])


def put_back(alice: Caller, key: uuid.UUID, days: int) -> None:
    """As if the next slot had been due that long ago, and the pause longer."""
    alice.db.execute(
        "update lenses.workflow_schedules set next_run_at = next_run_at - make_interval(days => %s), "
        "paused_at = paused_at - make_interval(days => %s) where id = %s",
        [days, days + 1, key],
    )


def slots_dispatched(alice: Caller, key: uuid.UUID) -> int:
    """One tick now; how many runs the schedule has."""
    alice.db.execute("select lenses.fn_dispatch_scheduled_workflows()")
    return alice.db.value("select count(*) from lenses.workflow_runs where schedule_id = %s", [key])


def test_pause_takes_it_out_of_the_due_index(alice: Caller) -> None:
    row = alice.schedule(**DAILY)
    paused = alice.one("fn_pause_workflow_schedule", schedule_id=row.id, note="holiday")
    assert (paused.is_active, paused.pause_note, paused.due_at) == (False, "holiday", None)
    assert paused.paused_at
    assert paused.next_run_at == row.next_run_at
    assert due_row(alice, row.id) is None
    assert alice.rows("fn_preview_schedule_ticks", schedule_id=row.id) == []


def test_pausing_again_keeps_its_beginning(alice: Caller) -> None:
    key = alice.schedule().id
    first = alice.one("fn_pause_workflow_schedule", schedule_id=key, note="a")
    again = alice.one("fn_pause_workflow_schedule", schedule_id=key, note="b", until="2040-01-01Z")
    assert again.paused_at == first.paused_at
    assert (again.pause_note, again.paused_until) == ("b", instant("2040-01-01T00:00+00:00"))
    assert alice.one("fn_pause_workflow_schedule", schedule_id=key).paused_until is None


@pytest.mark.parametrize("until", ["2020-01-01Z", "now", "infinity", "-infinity"])
def test_a_pause_ends_in_the_future(alice: Caller, until: str) -> None:
    row = alice.schedule()
    found = alice.refused("22023", "fn_pause_workflow_schedule", schedule_id=row.id, until=until)
    assert "until" in found.message_primary
    assert alice.saved(row.id) == row


def test_long_notes(alice: Caller) -> None:
    key = alice.schedule().id
    alice.refused("22023", "fn_pause_workflow_schedule", schedule_id=key, note="x" * 2001)
    alice.one("fn_pause_workflow_schedule", schedule_id=key, note="x" * 2000)
    alice.refused("22023", "fn_resume_workflow_schedule", schedule_id=key, note="x" * 2001)


def test_both_are_told_in_the_log(alice: Caller) -> None:
    key = alice.schedule().id
    alice.one("fn_pause_workflow_schedule", schedule_id=key, note="why", until="2040-01-01Z")
    alice.one("fn_resume_workflow_schedule", schedule_id=key, note="enough", on_missed="skip")
    alice.one("fn_resume_workflow_schedule", schedule_id=key, note="nothing to resume")
    told = alice.db.rows(
        "select action_type, payload from agents.action_logs where schedule_id = %s order by id",
        [key],
    )
    assert [tuple(row) for row in told] == [
        ("schedule_paused", {"note": "why", "until": "2040-01-01T00:00:00+00:00"}),
        ("schedule_resumed", {"note": "enough", "on_missed": "skip"}),
    ]


def test_resume_in_time_loses_nothing(alice: Caller) -> None:
    row = alice.schedule(**DAILY)
    alice.one("fn_pause_workflow_schedule", schedule_id=row.id, note="x")
    back = alice.one("fn_resume_workflow_schedule", schedule_id=row.id)
    assert (back.is_active, back.paused_at, back.paused_until, back.pause_note) == (
        True,
        None,
        None,
        None,
    )
    assert (back.next_run_at, back.due_at) == (row.next_run_at, row.due_at)
    assert due_row(alice, row.id) == row.due_at


def by_rpc(alice: Caller, key: uuid.UUID) -> None:
    alice.one("fn_resume_workflow_schedule", schedule_id=key)


def by_patch(alice: Caller, key: uuid.UUID) -> None:
    alice.one("fn_patch_workflow_schedule", schedule_id=key, patch={"is_active": True})


def by_update(alice: Caller, key: uuid.UUID) -> None:
    alice.db.execute("update lenses.workflow_schedules set is_active = true where id = %s", [key])


@pytest.mark.parametrize("way", [by_rpc, by_patch, by_update])
@pytest.mark.parametrize(("on_missed", "runs"), [("skip", 0), ("run_once", 1), ("backfill", 3)])
def test_every_way_back_applies_on_missed(
    alice: Caller, way: Callable[[Caller, uuid.UUID], None], on_missed: str, runs: int
) -> None:
    key = alice.schedule(**DAILY, queue_policy={"onMissed": on_missed}).id
    alice.one("fn_pause_workflow_schedule", schedule_id=key)
    put_back(alice, key, 3)
    way(alice, key)
    assert slots_dispatched(alice, key) == runs
    assert alice.saved(key).next_run_at > alice.db.value("select now()")


@pytest.mark.parametrize(
    ("choice", "runs"), [("skip", 0), ("run_once", 1), ("backfill", 3), ("spread", 3)]
)
def test_on_missed_for_this_once(alice: Caller, choice: str, runs: int) -> None:
    own = "skip" if runs else "backfill"
    key = alice.schedule(**DAILY, queue_policy={"onMissed": own}).id
    for round_ in (1, 2):
        alice.one("fn_pause_workflow_schedule", schedule_id=key)
        put_back(alice, key, 3)
        alice.one("fn_resume_workflow_schedule", schedule_id=key, on_missed=choice)
        assert slots_dispatched(alice, key) == runs
        assert alice.saved(key).missed_override is None, round_


def test_unknown_on_missed(alice: Caller) -> None:
    key = alice.schedule().id
    paused = alice.one("fn_pause_workflow_schedule", schedule_id=key)
    found = alice.refused(
        "22023", "fn_resume_workflow_schedule", schedule_id=key, on_missed="run-all"
    )
    assert "run-all" in found.message_primary
    assert "run_once" in found.message_hint
    assert alice.saved(key) == paused


def test_upsert_and_condition_never_end_a_pause(alice: Caller) -> None:
    row = alice.schedule(**DAILY)
    paused = alice.one(
        "fn_pause_workflow_schedule", schedule_id=row.id, note="n", until="2040-01-01Z"
    )
    for is_active in (True, False, None):
        again = alice.schedule(
            row.workflow_id, schedule_id=row.id, is_active=is_active, cron_expr="0 3 * * *"
        )
        assert (again.is_active, again.paused_at, again.pause_note, again.paused_until, again.due_at) == (
            False, paused.paused_at, "n", paused.paused_until, None,
        )  # fmt: skip
    alice.one("fn_set_schedule_condition", schedule_id=row.id, condition={})
    assert alice.saved(row.id).paused_at == paused.paused_at


def test_disabled_is_not_paused(alice: Caller) -> None:
    row = alice.schedule(**DAILY, is_active=False)
    assert (row.is_active, row.paused_at, row.due_at) == (False, None, None)
    enabled = alice.schedule(row.workflow_id, schedule_id=row.id, **DAILY)
    assert enabled.is_active
    assert enabled.due_at == enabled.next_run_at


def test_enabling_a_disabled_schedule_catches_nothing_up(alice: Caller) -> None:
    key = alice.schedule(**DAILY, queue_policy={"onMissed": "backfill"}, is_active=False).id
    put_back(alice, key, 3)
    alice.one("fn_resume_workflow_schedule", schedule_id=key, on_missed="backfill")
    assert slots_dispatched(alice, key) == 0
    assert alice.saved(key).missed_override is None


def test_resume_of_an_active_schedule_changes_nothing(alice: Caller) -> None:
    row = alice.schedule()
    alice.one("fn_resume_workflow_schedule", schedule_id=row.id, on_missed="backfill")
    assert alice.saved(row.id) == row


def test_delete(alice: Caller) -> None:
    row = alice.schedule(**DAILY)
    put_back(alice, row.id, 1)
    alice.one(
        "fn_patch_workflow_schedule",
        schedule_id=row.id,
        patch={"queue_policy": {"onMissed": "run_once"}},
    )
    assert slots_dispatched(alice, row.id) == 1
    assert alice.value("fn_delete_workflow_schedule", schedule_id=row.id) in (None, "")
    alice.refused("42501", "fn_delete_workflow_schedule", schedule_id=row.id)
    run = alice.db.row("select * from lenses.workflow_runs")
    assert (run.schedule_id, run.status, run.triggered_by) == (None, "pending", str(row.id))
    assert alice.db.value("select trigger_type from lenses.workflows") == "manual"
