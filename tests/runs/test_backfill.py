"""Slots of the past, on demand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.rpc.callers import acting
from tests.runs.world import World

HOUR = timedelta(hours=1)


def backfill(world: World, schedule: UUID, since: Any, until: Any = None, dry: bool = False) -> Any:
    with acting(world.db, world.tenant, "authenticated") as conn:
        return conn.value(
            "select public.fn_backfill_schedule(%s, %s, %s, coalesce(%s, now()))",
            [schedule, since, dry, until],
        )


def this_hour(world: World) -> datetime:
    return world.db.value("select date_trunc('hour', now())")


def hourly(world: World, **columns: Any) -> UUID:
    return world.make_schedule("0 * * * *", start_at="2020-01-01Z", **columns)


def test_both_ends_included_and_safe_to_repeat(world: World) -> None:
    schedule, end = hourly(world), this_hour(world)
    start = end - 3 * HOUR
    dry = backfill(world, schedule, start, end, dry=True)
    assert dry["would_dispatch"] == 4
    assert world.runs(schedule) == []
    assert set(dry) == {"would_dispatch", "slots"}
    answer = backfill(world, schedule, start, end)
    assert (answer["dispatched"], answer["skipped"]) == (4, 0)
    assert [datetime.fromisoformat(slot["scheduled_for"]) for slot in answer["slots"]] == [
        start + n * HOUR for n in range(4)
    ]
    assert {(slot["decision"], slot["reason"]) for slot in answer["slots"]} == {("dispatch", "ok")}
    runs = world.runs(schedule)
    assert [run.scheduled_for for run in runs] == [start + n * HOUR for n in range(4)]
    assert {(run.trigger_mode, run.triggered_by) for run in runs} == {
        ("backfill", str(world.tenant.id))
    }
    assert [str(run.id) for run in runs] == [slot["run_id"] for slot in answer["slots"]]
    again = backfill(world, schedule, start - HOUR, end)
    assert (again["dispatched"], again["skipped"]) == (1, 4)
    assert [slot["reason"] for slot in again["slots"]] == ["ok"] + ["schedule_slot_exists"] * 4
    assert len(world.runs(schedule)) == 5
    assert world.claimed(limit=9) == [run.id for run in world.runs(schedule)]


def test_leaves_the_schedule_where_it_is(world: World) -> None:
    schedule = hourly(world)
    before = world.schedule(schedule)
    backfill(world, schedule, this_hour(world) - 2 * HOUR)
    assert world.schedule(schedule) == before
    assert world.actions(schedule) == ["dispatch_schedule"] * 3


def test_the_tick_skips_what_a_backfill_has_run(world: World) -> None:
    slot = this_hour(world)
    schedule = hourly(world, next_run_at=slot)
    assert backfill(world, schedule, slot, slot)["dispatched"] == 1
    assert world.tick(slot) == 0
    assert world.skips(schedule) == [("schedule_slot_exists", slot)]
    assert world.schedule(schedule).next_run_at == slot + HOUR


def test_a_slot_of_the_tick_is_left_alone(world: World) -> None:
    slot = this_hour(world)
    schedule = hourly(world, next_run_at=slot)
    assert world.tick(slot) == 1
    assert backfill(world, schedule, slot, slot)["slots"][0]["reason"] == "schedule_slot_exists"


def test_guards_apply_but_the_overlap(world: World) -> None:
    end = this_hour(world)
    serial = hourly(world, queue_policy={"mode": "serial"})
    assert backfill(world, serial, end - HOUR, end)["dispatched"] == 2
    closed = hourly(world, calendar_id=world.make_calendar("only_dates", "2020-01-01"))
    answer = backfill(world, closed, end - HOUR, end)
    assert (answer["dispatched"], answer["skipped"]) == (0, 2)
    assert {slot["reason"] for slot in answer["slots"]} == {"calendar"}
    world.db.execute(
        "update lenses.workflows set status = 'paused' where id = %s", [world.workflow]
    )
    answer = backfill(world, serial, end - 3 * HOUR, end)
    assert {slot["reason"] for slot in answer["slots"]} == {"workflow_not_active"}


def test_battles_stop_at_the_days_limit(world: World) -> None:
    agent = world.make_agent()
    world.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, max_daily_battles) "
        "values (%s, %s, 2)",
        [agent, world.tenant.id],
    )
    schedule = hourly(world, workflow_id=world.make_workflow(kind="battle"), assignee_id=agent)
    end = this_hour(world)
    dry = backfill(world, schedule, end - 3 * HOUR, end, dry=True)
    answer = backfill(world, schedule, end - 3 * HOUR, end)
    assert (dry["would_dispatch"], answer["dispatched"], answer["skipped"]) == (2, 2, 2)
    assert [slot["reason"] for slot in answer["slots"]] == ["ok", "ok"] + ["budget_exceeded"] * 2
    assert backfill(world, schedule, end - 4 * HOUR, end)["dispatched"] == 0


def test_rotation_goes_on_through_a_backfill(world: World) -> None:
    schedule = hourly(world, inputs_rotation='["a", "b"]')
    end = this_hour(world)
    backfill(world, schedule, end - 2 * HOUR, end)
    assert [run.context_inputs for run in world.runs(schedule)] == ["a", "b", "a"]
    assert world.schedule(schedule).last_rotation_index == 3


@pytest.mark.parametrize("paused", [True, False])
def test_the_window_holds_and_a_pause_does_not(world: World, paused: bool) -> None:
    end = this_hour(world)
    schedule = world.make_schedule("0 * * * *", start_at=end - HOUR)
    if paused:
        world.set(schedule, is_active=False, paused_at=end)
    assert backfill(world, schedule, end - 5 * HOUR, end)["dispatched"] == 2


def test_limits(world: World) -> None:
    schedule = world.make_schedule("* * * * *", start_at="2020-01-01Z")
    now = world.db.value("select now()")
    for since, until, text in (
        (now - timedelta(days=31), None, "further back than 30 days"),
        (now - timedelta(days=8), None, "more than 10000 slots"),
        (now, now + HOUR, "is to come"),
        (now, now - HOUR, "is after"),
        (None, None, "p_since"),
        ("-infinity", None, "further back"),
    ):
        with world.refused("22023", text):
            backfill(world, schedule, since, until)
    assert backfill(world, schedule, now - timedelta(days=6), dry=True)["would_dispatch"] > 8_600
    assert backfill(world, schedule, now - timedelta(days=30), now - timedelta(days=29, hours=23))
    assert world.db.value("select count(*) from lenses.workflow_runs") in (60, 61)


def test_nothing_to_do(world: World) -> None:
    schedule = hourly(world)
    middle = this_hour(world) - timedelta(minutes=30)
    assert backfill(world, schedule, middle, middle) == {"dispatched": 0, "skipped": 0, "slots": []}
    assert datetime.now(UTC) >= middle
