"""Poison costs only itself; the server's own errors are nobody's."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import psycopg
import pytest

from tests.support.scenario import MONDAY, Scenario, at, minutes


def poison(scenario: Scenario, schedule: UUID, code: str = "P0001", slot: str = "true") -> None:
    """Makes the insert of this schedule's runs fail."""
    scenario.db.execute(
        "create or replace function public.poison() returns trigger language plpgsql as $$ begin "
        f"if new.schedule_id = '{schedule}' and ({slot}) then "
        f"raise exception 'poisoned row' using errcode = '{code}'; end if; return new; end $$"
    )
    scenario.db.execute(
        "create or replace trigger poison before insert on lenses.workflow_runs "
        "for each row execute function public.poison()"
    )


def cure(scenario: Scenario) -> None:
    scenario.db.execute("drop trigger poison on lenses.workflow_runs")


def test_one_bad_row_costs_only_itself(scenario: Scenario) -> None:
    good = [scenario.make_schedule("0 9 * * *") for _ in range(9)]
    bad = scenario.make_schedule("0 9 * * *")
    poison(scenario, bad)
    assert scenario.tick(MONDAY) == 9
    assert all(scenario.slots(schedule) == [MONDAY] for schedule in good)
    row = scenario.schedule(bad)
    assert row.last_dispatch_status == "dispatch_failed"
    assert row.last_error_message == "P0001: poisoned row"
    assert (row.last_error_at, row.next_run_at) == (MONDAY, MONDAY)
    tick = scenario.db.row("select * from lenses.dispatch_ticks order by id desc limit 1")
    assert (tick.due, tick.dispatched, tick.failed) == (10, 9, 1)


def test_a_failed_slot_is_tried_again_and_then_runs(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    poison(scenario, schedule)
    scenario.tick(MONDAY)
    cure(scenario)
    assert scenario.tick(at(0.9)) == 0
    assert scenario.tick(at(1)) == 1
    row = scenario.schedule(schedule)
    assert (row.last_dispatch_status, row.failure_count) == ("dispatched", 0)
    assert scenario.slots(schedule) == [MONDAY]


def test_it_waits_1_2_4_and_8_minutes_and_the_fifth_failure_uses_it_up(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    poison(scenario, schedule)
    dues = []
    now = MONDAY
    for _ in range(4):
        scenario.tick(now)
        due = scenario.schedule(schedule).due_at
        dues.append((due - now) / timedelta(minutes=1))
        now = due
    assert dues == [1, 2, 4, 8]
    scenario.tick(now)
    row = scenario.schedule(schedule)
    assert (row.next_run_at, row.failure_count) == (MONDAY + timedelta(days=1), 0)
    log = scenario.db.row("select * from agents.action_logs where action_type = 'schedule_failed'")
    assert log.schedule_id == schedule
    assert "poisoned row" in log.payload["detail"]
    slot = scenario.db.row("select * from lenses.schedule_slots where schedule_id = %s", [schedule])
    assert (slot.status, slot.run_at, slot.reason) == ("FAILED", MONDAY, "dispatch_failed")
    cure(scenario)
    assert scenario.tick(MONDAY + timedelta(days=1)) == 1


def test_what_waits_behind_a_failed_slot_never_becomes_late(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    poison(scenario, schedule, slot=f"new.scheduled_for = '{MONDAY.isoformat()}'")
    assert scenario.play(at(0), at(14)) == 0
    assert scenario.skips(schedule) == []
    scenario.play(at(15), at(16))
    assert scenario.slots(schedule) == minutes(*range(1, 17))
    failed = scenario.db.column(
        "select payload ->> 'scheduled_for' from agents.action_logs "
        "where action_type = 'schedule_failed'"
    )
    assert failed == ["2027-03-01T09:00:00+00:00"]


def test_the_good_slots_before_a_bad_one_are_not_held_back(scenario: Scenario) -> None:
    policy = {"mode": "parallel", "onMissed": "backfill"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    poison(scenario, schedule, slot=f"new.scheduled_for = '{at(10).isoformat()}'")
    assert scenario.tick(at(29)) == 2
    assert scenario.slots(schedule) == minutes(0, 5)
    cure(scenario)
    assert scenario.tick(at(30)) == 5
    assert scenario.slots(schedule) == minutes(0, 5, 10, 15, 20, 25, 30)


@pytest.mark.parametrize("code", ["08006", "25P02", "40001", "40P01", "53100", "55P03", "57014",
                                  "58030"])  # fmt: skip
def test_errors_of_the_server_count_against_no_schedule(scenario: Scenario, code: str) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    poison(scenario, schedule, code=code)
    with pytest.raises(psycopg.Error) as raised:
        scenario.tick(MONDAY)
    assert raised.value.sqlstate == code
    row = scenario.schedule(schedule)
    assert (row.last_dispatch_status, row.failure_count, row.last_error_at) == (None, 0, None)
    cure(scenario)
    assert scenario.tick(at(1)) == 1


def test_a_row_that_vanishes_is_an_error_and_not_a_conflict(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    scenario.db.execute(
        "create function public.swallow() returns trigger language plpgsql as "
        "$$ begin return null; end $$"
    )
    scenario.db.execute(
        "create trigger swallow before insert on lenses.workflow_runs "
        "for each row execute function public.swallow()"
    )
    assert scenario.tick(MONDAY) == 0
    row = scenario.schedule(schedule)
    assert row.last_dispatch_status == "dispatch_failed"
    assert "was not inserted" in row.last_error_message
    scenario.db.execute("drop trigger swallow on lenses.workflow_runs")
    assert scenario.tick(at(1)) == 1


def test_a_collision_with_the_slots_key_is_an_ordinary_skip(scenario: Scenario) -> None:
    taken = scenario.make_schedule("0 9 * * *")
    others = [scenario.make_schedule("0 9 * * *") for _ in range(5)]
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, lenser_id, workflow_version, "
        "idempotency_key, status) values (%s, %s, 1, lenses.fn_slot_key(%s, %s), 'pending')",
        [scenario.workflow, scenario.tenant.id, taken, MONDAY],
    )
    assert scenario.tick(MONDAY) == 5
    assert scenario.skips(taken) == [("schedule_slot_exists", MONDAY)]
    assert all(scenario.slots(s) == [MONDAY] for s in others)


def test_a_zone_that_has_left_the_server(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    other = scenario.make_schedule("0 9 * * *")
    scenario.db.execute(
        "alter table lenses.workflow_schedules disable trigger workflow_schedules_check_update"
    )
    scenario.set(schedule, timezone="Atlantis/Capital")
    scenario.db.execute(
        "alter table lenses.workflow_schedules enable always trigger workflow_schedules_check_update"
    )
    assert scenario.tick(MONDAY) == 2
    row = scenario.schedule(schedule)
    assert (row.last_dispatch_status, row.next_run_at, row.due_at) == (
        "validation_failed",
        None,
        None,
    )
    assert "zone" in row.last_error_message
    assert scenario.slots(schedule) == scenario.slots(other) == [MONDAY]
    scenario.set(schedule, timezone="Europe/Paris")
    assert scenario.schedule(schedule).next_run_at is not None


def test_housekeeping_that_fails_holds_up_no_schedule(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    scenario.db.execute(
        "create or replace function lenses.fn_end_pauses(p_now timestamptz, p_limit integer default 1000) "
        "returns integer "
        "language plpgsql set search_path = pg_catalog, pg_temp as "
        "$$ begin raise exception 'broken'; end $$"
    )
    assert scenario.tick(MONDAY) == 1
    assert scenario.slots(schedule) == [MONDAY]
    assert "broken" in scenario.db.value("select note from lenses.dispatch_ticks")
