"""Ticks by a clock that was ahead are undone: no slot, retry or lease is lost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dispatch.silence import BACKFILL
from tests.dispatch.test_failures import cure, poison
from tests.support.scenario import Scenario, at, minutes


@pytest.mark.parametrize(
    "columns",
    [{"cron": "*/5 * * * *"}, {"cron": None, "interval_ms": 300_000}],
    ids=["cron", "interval"],
)
@pytest.mark.parametrize("policy", [{"mode": "parallel"}, BACKFILL], ids=["skip", "backfill"])
def test_a_tick_of_the_future_loses_no_slot(
    scenario: Scenario, columns: dict[str, Any], policy: dict[str, Any]
) -> None:
    schedule = scenario.make_schedule(queue_policy=policy, **columns)
    scenario.play(at(0), at(10))
    scenario.tick(at(190))
    fired = set(scenario.slots(schedule))
    assert at(190) in fired
    scenario.play(at(11), at(200))
    assert scenario.slots(schedule) == minutes(*range(0, 201, 5))
    for slot in set(minutes(*range(0, 201, 5))) - fired:
        run = scenario.db.row(
            "select created_at, metadata from lenses.workflow_runs "
            "where schedule_id = %s and scheduled_for = %s", [schedule, slot],
        )  # fmt: skip
        assert (run.created_at, run.metadata) == (slot, {})


def test_a_future_that_ended_the_window_is_taken_back(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(end_at=at(60))
    scenario.play(at(0), at(10))
    scenario.tick(at(190))
    assert scenario.schedule(schedule).next_run_at is None
    scenario.play(at(11), at(70))
    assert scenario.slots(schedule) == minutes(*range(0, 61, 5))


def test_a_retry_of_the_future_is_made_now(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=BACKFILL)
    scenario.play(at(0), at(4))
    poison(scenario, schedule)
    scenario.tick(at(5))
    scenario.tick(at(185))
    assert scenario.schedule(schedule).due_at > at(180)
    cure(scenario)
    scenario.play(at(6), at(20))
    assert scenario.slots(schedule) == minutes(0, 5, 10, 15, 20)


def test_a_deferred_slot_of_the_future_is_looked_at_now(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue", "onMissed": "backfill"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(185))
    first = scenario.runs(schedule)[0].id
    assert scenario.schedule(schedule).due_at > at(180)
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'cancelled' where id = %s", [first]
    )
    scenario.tick(at(6))
    assert scenario.slots(schedule) == minutes(0, 5)


def test_runs_of_the_future_are_there_now(scenario: Scenario) -> None:
    policy = {**BACKFILL, "onMissed": "spread", "spreadWindowMs": 600_000}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(180))
    held = scenario.runs(schedule)[0].id
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "started_at = %s, lease_expires_at = %s where id = %s", [at(180), at(185), held],
    )  # fmt: skip
    scenario.tick(at(1))
    runs = scenario.runs(schedule)
    assert runs[0].lease_expires_at == at(6)
    available = [run.available_at for run in runs if run.available_at]
    assert available
    assert max(available) <= at(11)


def test_a_lease_longer_than_any_can_be_is_cut(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    scenario.tick(at(0))
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "started_at = %s, lease_expires_at = %s", [at(0), at(60 * 24 * 30)],
    )  # fmt: skip
    scenario.tick(at(1))
    assert scenario.runs(schedule)[0].lease_expires_at == at(1 + 60 * 24)


def test_the_future_is_undone_in_parts(scenario: Scenario) -> None:
    """What came due while others were put back is on time when its turn comes."""
    schedules = [scenario.make_schedule("* * * * *") for _ in range(7)]
    scenario.play(at(0), at(1))
    scenario.tick(at(100))
    ids = "select array_agg(id) from lenses.dispatch_ticks where started_at > %s"
    scenario.db.execute(
        "create or replace function lenses.fn_keep_alive("
        "p_tick_id bigint, p_now timestamptz, p_limit integer) returns integer "
        "language plpgsql security definer set search_path = pg_catalog, pg_temp as "
        "$$ begin return lenses.fn_undo_future(p_tick_id, p_now, 1); end $$"
    )
    scenario.play(at(2), at(12))
    assert scenario.db.value(ids + " and undone_at is null", [at(20)]) is None
    for schedule in schedules:
        assert [slot for slot in scenario.slots(schedule) if slot < at(90)] == minutes(*range(13))
        assert [reason for reason, slot in scenario.skips(schedule) if slot < at(90)] == []
