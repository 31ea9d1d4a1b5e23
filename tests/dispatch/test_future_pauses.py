"""Pauses that ticks by a clock that was ahead have ended go on, and nothing else suffers by it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.database import make_tenant
from tests.support.scenario import MONDAY, Scenario, at

QUEUE = {"mode": "serial", "onOverlap": "queue"}


@pytest.mark.parametrize("policy", [{"mode": "parallel"}, {**QUEUE, "onMissed": "run_once"}])
def test_a_pause_that_a_clock_ahead_has_ended_goes_on(
    scenario: Scenario, policy: dict[str, Any]
) -> None:
    schedule = scenario.make_schedule("*/30 * * * *", queue_policy=policy)
    scenario.set(
        schedule, is_active=False, paused_at=at(-5), paused_until=at(120), pause_note="holidays"
    )
    scenario.tick(at(0))
    scenario.tick(at(1))
    scenario.tick(at(181))  # a clock that is three hours ahead
    assert scenario.schedule(schedule).is_active
    scenario.tick(at(2))
    row = scenario.schedule(schedule)
    assert (row.is_active, row.paused_at, row.paused_until, row.pause_note) == (
        False, at(-5), at(120), "holidays",
    )  # fmt: skip
    for minute in range(3, 211):
        scenario.tick(at(minute))
        for run in scenario.runs(schedule):
            if run.status == "pending":
                scenario.end(run.id)
    assert [slot for slot in scenario.slots(schedule) if slot < at(90)] == []
    assert scenario.schedule(schedule).is_active
    assert scenario.schedule(schedule).next_run_at == at(240)
    assert {at(150), at(180), at(210)} <= set(scenario.slots(schedule))
    assert scenario.violations() == []


def test_a_tick_waits_for_nobody_to_put_a_pause_back(scenario: Scenario, committed: None) -> None:
    schedule = scenario.make_schedule("*/30 * * * *")
    scenario.set(schedule, is_active=False, paused_at=at(-5), paused_until=at(120))
    scenario.tick(at(0))
    scenario.tick(at(181))
    with scenario.db.another() as other, other.transaction():
        other.execute("select from lenses.workflow_schedules where id = %s for update", [schedule])
        scenario.db.execute("set lock_timeout = '1ms'")
        scenario.tick(at(2))
        assert scenario.schedule(schedule).is_active
        notes = scenario.db.column("select note from lenses.dispatch_ticks where note is not null")
        assert notes == []
    scenario.tick(at(3))
    row = scenario.schedule(schedule)
    assert (row.is_active, row.paused_until) == (False, at(120))


def test_runs_of_a_pause_that_is_put_back_start_by_the_right_clock(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(
        "*/30 * * * *",
        queue_policy={"mode": "parallel", "onMissed": "spread", "spreadWindowMs": 60_000},
    )
    scenario.set(schedule, is_active=False, paused_at=at(-5), paused_until=at(120))
    for minute in (0, 1, 181, 2, 3):
        scenario.tick(at(minute))
    available = [run.available_at for run in scenario.runs(schedule) if run.available_at]
    assert available
    assert max(available) <= at(60)


@pytest.mark.parametrize("departs", [False, True])
def test_a_tenant_that_departs_stops_no_undoing(scenario: Scenario, departs: bool) -> None:
    paused = scenario.make_schedule("*/30 * * * *")
    scenario.set(paused, is_active=False, paused_at=at(-5), paused_until=at(120))
    other = make_tenant(scenario.db)
    gateway = scenario._insert("agents.gateways", {"lenser_id": other.id, "name": "g"})
    columns = {
        "lenser_id": other.id, "gateway_id": gateway, "operation": "health_probe",
        "cron_expr": "*/10 * * * *", "next_run_at": at(0),
    }  # fmt: skip
    cron = scenario._insert("agents.gateway_crons", columns)
    for minute in (0, 1, 60 * 24 * 365 * 3 + 1):
        scenario.tick(at(minute))
    if departs:
        scenario.db.execute(
            "select lenses.fn_depart_tenants(%s::uuid[], 'two')", [[scenario.tenant.id]]
        )
    scenario.play(at(2), at(61))
    slots = scenario.db.column(
        "select scheduled_for from agents.gateway_cron_runs "
        "where gateway_cron_id = %s and scheduled_for < %s order by 1",
        [cron, at(1000)],
    )
    assert slots == [at(10 * n) for n in range(7)]


def test_pauses_are_put_back_in_parts(scenario: Scenario) -> None:
    schedules = [scenario.make_schedule("*/30 * * * *") for _ in range(5)]
    for schedule in schedules:
        scenario.set(schedule, is_active=False, paused_at=at(-5), paused_until=at(120))
    scenario.tick(at(0))
    scenario.tick(at(181))

    def undone() -> tuple[int, bool]:
        row = scenario.db.row("select * from lenses.fn_undo_resumes(%s, 2)", [at(2)])
        return (row.p_resumed, row.p_are_left)

    assert [undone() for _ in range(3)] == [(2, True), (2, True), (1, False)]
    assert [scenario.schedule(schedule).is_active for schedule in schedules] == [False] * 5
    scenario.play(at(2), at(3))


def test_a_pause_that_cannot_be_put_back_stops_no_other(scenario: Scenario) -> None:
    bad, good, other = (scenario.make_schedule("*/30 * * * *") for _ in range(3))
    for schedule in (bad, good):
        scenario.set(schedule, is_active=False, paused_at=at(-5), paused_until=at(120))
    scenario.tick(at(0))
    scenario.tick(at(181))
    scenario.db.execute(
        "create function public.refuse() returns trigger language plpgsql as "
        "$$ begin raise exception 'an operator says no'; end $$"
    )
    scenario.db.execute(
        "create trigger zz_refuse before update of paused_until on lenses.workflow_schedules "
        f"for each row when (new.id = '{bad}') execute function public.refuse()"
    )
    scenario.play(at(2), at(30))
    assert not scenario.schedule(good).is_active
    assert set(scenario.slots(other)) >= {MONDAY, at(30)}


def test_after_a_second_fault_the_pause_is_the_newest(scenario: Scenario) -> None:
    schedules = [scenario.make_schedule("*/30 * * * *") for _ in range(6)]
    for until, note, minutes in ((120, "old", (0, 181, 2)), (150, "new", (3, 181, 4))):
        for schedule in schedules:
            scenario.set(
                schedule, is_active=False, paused_at=at(-5), paused_until=at(until), pause_note=note
            )
        for minute in minutes:
            scenario.tick(at(minute))
    assert {scenario.schedule(schedule).pause_note for schedule in schedules} == {"new"}
