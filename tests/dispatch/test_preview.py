"""The preview says what the tick will do, row by row."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.scenario import MONDAY, Scenario, at, minutes

ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu",
         "America/Sao_Paulo"]  # fmt: skip
CRONS = ["0 9 * * 1-5", "0 */6 * * *", "30 2 * * *", "15 1,13 * * *", "0 0 1,15 * *", "45 23 * * 0",
         "0 12 13 * 5", "*/30 2 * * *", "0 0-23/5 * * *"]  # fmt: skip


def preview(
    scenario: Scenario, schedule: UUID, n: int = 10, horizon: str = "4000 days"
) -> list[Any]:
    return scenario.db.rows(
        "select * from lenses.fn_preview_schedule_ticks(%s, %s, %s)", [schedule, n, horizon]
    )


def done(scenario: Scenario, schedule: UUID) -> dict[datetime, tuple[str, str, Any]]:
    """What the ticks made of each slot: decision, reason, inputs."""
    outcome: dict[datetime, tuple[str, str, Any]] = {
        run.scheduled_for: ("dispatch", "ok", run.context_inputs) for run in scenario.runs(schedule)
    }
    for reason, slot in scenario.skips(schedule):
        outcome[slot] = ("skip", reason, None)
    return outcome


def random_schedule(scenario: Scenario, rng: random.Random) -> UUID:
    columns: dict[str, Any] = {"timezone": rng.choice(ZONES)}
    cron: str | None = rng.choice(CRONS)
    if rng.random() < 0.25:
        cron = None
        columns["schedule_type"] = "interval"
        columns["interval_ms"] = rng.choice([5_400_000, 21_600_000, 86_400_000])
    if rng.random() < 0.3:
        columns["jitter_ms"] = rng.choice([1_000, 300_000, 3_600_000])
    if rng.random() < 0.4:
        kind = rng.choice(["skip_dates", "only_dates"])
        days = rng.sample(range(21), 6)
        dates = [str((MONDAY + timedelta(days=day)).date()) for day in days]
        columns["calendar_id"] = scenario.db.value(
            "insert into lenses.schedule_calendars (lenser_id, name, kind, timezone, dates) "
            "values (%s, gen_random_uuid(), %s, %s, %s) returning id",
            [scenario.tenant.id, kind, rng.choice(ZONES), dates],
        )
    if rng.random() < 0.4:
        columns["inputs_rotation"] = '[{"n": 1}, {"n": 2}, {"n": 3}]'
    if rng.random() < 0.2:
        columns["pre_dispatch_condition"] = {"/signal_rpc_result": {"eq": rng.choice([None, 1])}}
    if rng.random() < 0.2:
        columns["end_at"] = MONDAY + timedelta(days=rng.randint(2, 12))
    if rng.random() < 0.2:
        columns["approval_policy"] = {"requiresApproval": True}
    columns["queue_policy"] = {
        "mode": "parallel",
        "onMissed": rng.choice(["skip", "run_once", "backfill", "spread"]),
    }
    if rng.random() < 0.15:
        columns["workflow_id"] = scenario.make_workflow(status="paused")
    return scenario.make_schedule(cron, **columns)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_preview_and_tick_agree_over_simulated_weeks(scenario: Scenario, seed: int) -> None:
    rng = random.Random(seed)
    schedules = [random_schedule(scenario, rng) for _ in range(25)]
    foretold = {schedule: preview(scenario, schedule, 200) for schedule in schedules}
    end = MONDAY + timedelta(days=21)
    ticks = 0
    while True:
        due = scenario.db.value("select min(due_at) from lenses.schedule_due")
        if due is None or due > end:
            break
        scenario.tick(due)
        ticks += 1
    assert ticks > 100
    compared = 0
    for schedule in schedules:
        outcome = done(scenario, schedule)
        rows = [row for row in foretold[schedule] if row.tick_at in outcome]
        assert len(rows) >= len(outcome) - max(0, len(outcome) - 200)
        for row in rows:
            decision, reason, inputs = outcome[row.tick_at]
            assert (row.decision, row.reason) == (decision, reason), (schedule, row)
            if decision == "dispatch":
                assert row.inputs == inputs, (schedule, row)
            compared += 1
        # Nothing foretold before the last slot handled is left without an outcome.
        if outcome:
            last = max(outcome)
            assert [r.tick_at for r in foretold[schedule] if r.tick_at <= last] == sorted(outcome)[
                : len([r for r in foretold[schedule] if r.tick_at <= last])
            ]
    assert compared > 200


def test_it_changes_nothing(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", inputs_rotation='[{"n": 1}, {"n": 2}]')
    before = scenario.schedule(schedule)
    rows = preview(scenario, schedule, 3)
    assert [row.inputs for row in rows] == [{"n": 1}, {"n": 2}, {"n": 1}]
    assert scenario.schedule(schedule) == before
    assert scenario.db.value("select count(*) from agents.action_logs") == 0


def test_the_rows_are_the_slots_that_get_dispatched(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", timezone="Asia/Ho_Chi_Minh")
    slots = [row.tick_at for row in preview(scenario, schedule, 100)]
    scenario.play(at(0), at(495), timedelta(minutes=5))
    assert scenario.slots(schedule) == slots


def test_a_paused_schedule_has_no_rows(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    scenario.set(schedule, is_active=False)
    assert preview(scenario, schedule) == []


def test_the_first_row_is_after_now_where_the_next_slot_is_past(scenario: Scenario) -> None:
    now = scenario.db.value("select now()")
    schedule = scenario.make_schedule("* * * * *", next_run_at=now - timedelta(hours=1))
    first = preview(scenario, schedule, 1)[0].tick_at
    assert now < first <= now + timedelta(minutes=1, seconds=5)


def test_more_than_200_is_200(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    assert len(preview(scenario, schedule, 201)) == 200
    assert len(preview(scenario, schedule, 2_000_000_000)) == 200


def test_the_horizon_bounds_the_rows(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *", start_at=None)
    assert len(preview(scenario, schedule, 200, "31 days")) == 31


@pytest.mark.parametrize(("n", "horizon"), [(0, "1 day"), (-5, "1 day"), (5, "0"), (5, "-1 day")])
def test_nonsense_is_refused(scenario: Scenario, n: int, horizon: str) -> None:
    schedule = scenario.make_schedule()
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        preview(scenario, schedule, n, horizon)


def test_guards_that_look_at_runs_see_this_moment(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy={"mode": "serial"})
    scenario.tick(MONDAY)
    rows = preview(scenario, schedule, 3)
    assert [(r.tick_at, r.decision, r.reason) for r in rows] == [
        (slot, "skip", "overlap_in_flight") for slot in minutes(5, 10, 15)
    ]


def test_a_slot_that_would_wait_is_not_dispatched_now(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    scenario.tick(MONDAY)
    assert {(r.decision, r.reason) for r in preview(scenario, schedule, 3)} == {
        ("defer", "overlap_in_flight")
    }
