"""Faults that an attack on the dispatcher found, one by one."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest

from tests.dispatch.test_failures import cure, poison
from tests.support.scenario import MONDAY, Scenario, at, minutes


def test_each_gap_between_ticks_is_judged_by_itself(scenario: Scenario) -> None:
    """A failed slot waits: 09:05 to 09:07 and 09:10 to 09:12 met a tick within the grace."""
    schedule = scenario.make_schedule("* * * * *")
    poison(scenario, schedule, slot=f"new.scheduled_for = '{MONDAY.isoformat()}'")
    for minute in (0, 1, 3, 7, 12, 17):
        scenario.tick(at(minute))
    assert scenario.missed(schedule) == [(1, at(4), at(4)), (4, at(8), at(14))]
    assert scenario.slots(schedule) == minutes(1, 2, 3, 5, 6, 7, 10, 11, 12, 15, 16, 17)


def test_what_passed_in_a_pause_is_late_though_older_slots_wait(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue"}
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(1))
    scenario.set(schedule, is_active=False, paused_at=at(1.5), paused_until=at(20))
    for minute in range(2, 9):
        scenario.tick(at(minute))
    scenario.tick(at(20))
    assert scenario.missed(schedule) == [(18, at(2), at(19))]


def test_a_failed_assertion_is_an_error_like_others(scenario: Scenario) -> None:
    bad = scenario.make_schedule("0 9 * * *")
    good = [scenario.make_schedule("0 9 * * *") for _ in range(3)]
    poison(scenario, bad)
    scenario.db.execute(
        "create or replace function public.poison() returns trigger language plpgsql as $$ begin "
        f"assert new.schedule_id <> '{bad}', 'not this one'; return new; end $$"
    )
    assert scenario.tick(MONDAY) == 3
    assert scenario.schedule(bad).last_error_message == "P0004: not this one"
    assert all(scenario.slots(schedule) == [MONDAY] for schedule in good)


def test_the_cap_holds_for_a_slot_that_failed_and_those_behind_it(scenario: Scenario) -> None:
    policy = {"mode": "parallel", "onMissed": "backfill"}
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    scenario.db.execute("select lenses.fn_set_dispatch_settings('{\"max_catchup_per_tick\": 3}')")
    poison(scenario, schedule, slot=f"new.scheduled_for = '{MONDAY.isoformat()}'")
    for minute in (0, 1, 3, 7):
        scenario.tick(at(minute))
    assert scenario.tick(at(15)) == 2
    cure(scenario)
    assert scenario.tick(at(15)) == 3


def test_a_drop_beside_a_deferred_slot_does_not_hide_it(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue"}
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(1))
    scenario.tick(at(11))
    assert scenario.schedule(schedule).is_deferred
    assert scenario.db.column(
        "select run_at from lenses.schedule_slots where schedule_id = %s and status = 'DEFERRED'",
        [schedule],
    ) == minutes(1)
    scenario.end(scenario.runs(schedule)[0].id, at=at(11))
    assert scenario.tick(at(11) + timedelta(seconds=5)) == 1


def test_battles_through_an_assignment_are_counted_by_one_dispatcher_at_a_time(
    scenario: Scenario,
    committed: None,
) -> None:
    agent = scenario.make_agent()
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, max_daily_battles) values (%s, %s, 1)",
        [agent, scenario.tenant.id],
    )
    arena = scenario.make_workflow(kind="battle")
    assignment = scenario.db.value(
        "insert into agents.workflow_assignments (workflow_id, lenser_id, assignee_type, "
        "assignee_id, approval_policy) values (%s, %s, 'agent', %s, %s) returning id",
        [arena, scenario.tenant.id, agent, '{"requiresApproval": false}'],
    )
    for _ in range(2):
        scenario.make_schedule("0 9 * * *", workflow_id=arena, workflow_assignment_id=assignment)
    tick = "select lenses.fn_dispatch_scheduled_workflows(%s, %s)"

    def waiting() -> list[str]:
        return scenario.db.column(
            "select last_dispatch_status from lenses.workflow_schedules where is_deferred"
        )

    with scenario.db.another() as first, scenario.db.another() as second:
        with first.transaction():
            assert first.value(tick, [MONDAY, 1]) == 1
            second.execute("set lock_timeout = '300ms'")
            assert second.value(tick, [MONDAY, None]) == 0
            assert waiting() == ["deferred"]
        assert second.value(tick, [MONDAY + timedelta(seconds=1), None]) == 0
        assert waiting() == []
    assert scenario.db.value("select count(*) from lenses.workflow_runs") == 1


def test_a_run_that_cannot_be_reaped_keeps_no_other(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *", retry_policy={"maxRetries": 0})
    scenario.play(at(0), at(1))
    stuck, healthy = [run.id for run in scenario.runs(schedule)]
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "lease_expires_at = %s", [at(2)],
    )  # fmt: skip
    scenario.db.execute(
        "create function public.stuck() returns trigger language plpgsql as $$ begin "
        f"if new.id = '{stuck}' then raise exception 'stuck'; end if; return new; end $$"
    )
    scenario.db.execute(
        "create trigger stuck before update on lenses.workflow_runs "
        "for each row execute function public.stuck()"
    )
    scenario.tick(at(3))
    statuses = {run.id: run.status for run in scenario.runs(schedule)}
    assert (statuses[stuck], statuses[healthy]) == ("running", "timed_out")
    scenario.db.execute("drop trigger stuck on lenses.workflow_runs")


@pytest.mark.parametrize("value", ["infinity", "-infinity"])
def test_infinite_times_are_refused(scenario: Scenario, value: str) -> None:
    schedule = scenario.make_schedule()
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="infinity"):
        scenario.set(schedule, next_run_at=value)


@pytest.mark.parametrize("value", ["infinity", "-infinity", "20000-01-01Z", "1969-12-31Z"])
def test_no_tick_acts_outside_the_years(scenario: Scenario, value: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="1970 to 9999"):
        scenario.db.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [value])


def test_a_due_row_that_does_not_follow_ends_no_tick_late(scenario: Scenario) -> None:
    held = scenario.make_schedule("0 9 * * *")
    others = [scenario.make_schedule("0 9 * * *") for _ in range(3)]
    scenario.db.execute(
        "create function public.hold() returns trigger language plpgsql as $$ begin "
        f"if new.schedule_id = '{held}' then return null; end if; return new; end $$"
    )
    scenario.db.execute(
        "create trigger hold before update on lenses.schedule_due "
        "for each row execute function public.hold()"
    )
    assert scenario.tick(MONDAY) == 4
    assert scenario.tick(at(1)) == 0
    assert all(scenario.slots(schedule) == [MONDAY] for schedule in [held, *others])
    scenario.db.execute("drop trigger hold on lenses.schedule_due")
    scenario.set(held, next_run_at=MONDAY + timedelta(days=1, minutes=1))
