"""Parents that are gone, next slots in the wrong place, and what recompute does about them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.dispatch.silence import LOST, kill, lose_zone
from tests.support.database import Database
from tests.support.scenario import MONDAY, Scenario, at


@contextmanager
def replica(db: Database) -> Iterator[None]:
    """Foreign keys and triggers are silent, as they are for logical replication and some restores."""
    db.execute("set session_replication_role = replica")
    yield
    db.execute("reset session_replication_role")


def test_a_workflow_that_is_gone_is_named(scenario: Scenario, committed: None) -> None:
    workflow = scenario.make_workflow()
    schedule = scenario.make_schedule("* * * * *", workflow_id=workflow)
    with replica(scenario.db):
        scenario.db.execute("delete from lenses.workflows where id = %s", [workflow])
    scenario.play(at(0), at(1))
    assert scenario.skips(schedule) == [("workflow_missing", at(0)), ("workflow_missing", at(1))]
    row = scenario.schedule(schedule)
    assert row.last_dispatch_status == "validation_failed"
    assert str(workflow) in row.last_error_message
    assert [(v.invariant, v.subject) for v in scenario.violations()] == [
        ("parent_exists", schedule)
    ]
    scenario.db.execute("delete from lenses.workflow_schedules where id = %s", [schedule])


@pytest.mark.parametrize("parent", ["calendar", "assignment"])
def test_what_would_judge_and_is_gone_lets_nothing_pass(
    scenario: Scenario, parent: str, committed: None
) -> None:
    if parent == "calendar":
        column, table = "calendar_id", "lenses.schedule_calendars"
        link = scenario.make_calendar("skip_dates", "2027-12-25")
    else:
        column, table = "workflow_assignment_id", "agents.workflow_assignments"
        link = scenario.db.value(
            "insert into agents.workflow_assignments (workflow_id, lenser_id, assignee_type, "
            "assignee_id) values (%s, %s, 'agent', %s) returning id",
            [scenario.workflow, scenario.tenant.id, scenario.make_agent()],
        )
    schedule = scenario.make_schedule("* * * * *", **{column: link})
    with replica(scenario.db):
        scenario.db.execute(f"delete from {table} where id = %s", [link])
    assert scenario.tick(at(0)) == 0
    assert scenario.skips(schedule) == [(f"{parent}_missing", at(0))]
    assert scenario.schedule(schedule).last_dispatch_status == "validation_failed"
    assert [v.invariant for v in scenario.violations()] == ["parent_exists"]
    scenario.set(schedule, **{column: None})


def test_recompute_brings_back_the_due_row(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    with replica(scenario.db):
        scenario.db.execute("delete from lenses.schedule_due where schedule_id = %s", [schedule])
    assert [v.invariant for v in scenario.violations()] == ["due_index"]
    row = scenario.db.row("select * from lenses.fn_recompute_schedule(%s)", [schedule])
    assert row.next_run_at == MONDAY


def test_recompute_never_takes_a_slot_that_was_used_up(scenario: Scenario) -> None:
    """With negative jitter a slot is judged before its instant."""
    schedule = scenario.make_schedule("0 * * * *", start_at=None, jitter_ms=1_800_000)
    slot = scenario.schedule(schedule).next_run_at
    scenario.db.execute(
        "insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, "
        "occurred_at) values (%s, %s, 'schedule_skipped', jsonb_build_object('reason', "
        "'calendar', 'scheduled_for', %s), least(now(), %s - interval '1 microsecond'))",
        [scenario.tenant.id, schedule, slot, slot],
    )
    early = scenario.db.value("select now() >= %s - interval '30 minutes'", [slot])
    row = scenario.db.row("select * from lenses.fn_recompute_schedule(%s)", [schedule])
    assert row.next_run_at == slot + timedelta(hours=1 if early else 0)


def test_recompute_refuses_what_it_cannot_do(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(timezone="Asia/Tokyo")
    lose_zone(scenario, schedule)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=LOST):
        scenario.db.execute("select lenses.fn_recompute_schedule(%s)", [schedule])
    assert scenario.schedule(schedule).next_run_at == MONDAY
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="there is no schedule"):
        scenario.db.execute("select lenses.fn_recompute_schedule(%s)", [scenario.workflow])


def test_misplaced_next_slots_are_named(scenario: Scenario) -> None:
    hourly: dict[str, Any] = {"cron": "0 * * * *", "start_at": None}
    names = {
        "DEAD": scenario.make_schedule(**hourly),
        "PARKED": scenario.make_schedule(**hourly),
        "NOT_A_SLOT": scenario.make_schedule(**hourly),
        "ZONE_CHANGED": scenario.make_schedule("0 9 * * *", start_at=None, timezone="Asia/Tokyo"),
    }
    fine = [
        scenario.make_schedule(**hourly),
        scenario.make_schedule("0 * * * *"),
        scenario.make_schedule(**hourly, is_active=False),
        scenario.make_schedule(None, start_at=None, interval_ms=300_000),
        scenario.make_schedule("* * * * *", next_run_at="2026-01-01T00:00:00Z"),
    ]
    kill(scenario, names["DEAD"])
    for label, hours in (("PARKED", 3), ("NOT_A_SLOT", 0.01), ("ZONE_CHANGED", 1)):
        scenario.db.execute(
            "update lenses.workflow_schedules "
            "set next_run_at = next_run_at + make_interval(secs => %s) where id = %s",
            [hours * 3600, names[label]],
        )
    find = "select label, id from lenses.fn_misplaced_schedules() where resource = 'schedule'"
    assert dict(scenario.db.rows(find)) == names
    for schedule in [*names.values(), *fine]:
        scenario.db.execute("select lenses.fn_recompute_schedule(%s)", [schedule])
    assert scenario.db.rows(find) == []
