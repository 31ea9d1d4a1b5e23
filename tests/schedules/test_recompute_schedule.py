"""public.fn_recompute_schedule: the owner's way to a next slot that is right."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.support.callers import Caller

DAILY: dict[str, Any] = {"cron_expr": "0 2 * * *"}


def move(alice: Caller, schedule: Any, by: timedelta) -> None:
    alice.db.execute(
        "update lenses.workflow_schedules set next_run_at = next_run_at + %s where id = %s",
        [by, schedule.id],
    )


def test_a_parked_one_comes_back(alice: Caller) -> None:
    row = alice.schedule(**DAILY)
    move(alice, row, timedelta(days=3))
    found = alice.one("fn_recompute_schedule", schedule_id=row.id)
    assert (found.next_run_at, found.due_at) == (row.next_run_at, row.due_at)
    again = alice.one("fn_recompute_schedule", schedule_id=row.id)
    assert again.next_run_at == row.next_run_at


def test_what_is_past_is_given_up_with_a_log_row(alice: Caller) -> None:
    row = alice.schedule(**DAILY)
    move(alice, row, timedelta(days=-3))
    found = alice.one("fn_recompute_schedule", schedule_id=row.id)
    assert found.next_run_at == row.next_run_at
    log = alice.db.row(
        "select payload ->> 'reason' as reason, (payload #>> '{detail,count}')::int as n "
        "from agents.action_logs where schedule_id = %s and action_type = 'schedule_skipped'",
        [row.id],
    )
    assert (log.reason, log.n) == ("schedule_edited", 3)
    assert alice.db.value("select count(*) from lenses.workflow_runs") == 0


def test_a_paused_one_stays_paused(alice: Caller) -> None:
    row = alice.schedule(**DAILY)
    move(alice, row, timedelta(days=3))
    alice.one("fn_pause_workflow_schedule", schedule_id=row.id)
    found = alice.one("fn_recompute_schedule", schedule_id=row.id)
    assert (found.is_active, found.next_run_at, found.due_at) == (False, row.next_run_at, None)
    assert found.paused_at
