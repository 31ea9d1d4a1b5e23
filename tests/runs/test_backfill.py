"""Slots of the past, on demand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.database import Database, as_user
from tests.support.run_scenario import RunScenario

HOUR = timedelta(hours=1)


def backfill(
    scenario: RunScenario, schedule: UUID, since: Any, until: Any = None, dry: bool = False,
    conn: Database | None = None,
) -> Any:  # fmt: skip
    with as_user(conn or scenario.db, scenario.tenant, "authenticated") as conn:
        return conn.value(
            "select public.fn_backfill_schedule(%s, %s, %s, coalesce(%s, now()))",
            [schedule, since, dry, until],
        )


def this_hour(scenario: RunScenario) -> datetime:
    return scenario.db.value("select date_trunc('hour', now())")


def hourly(scenario: RunScenario, **columns: Any) -> UUID:
    return scenario.make_schedule("0 * * * *", start_at="2020-01-01Z", **columns)


def test_both_ends_included_and_safe_to_repeat(scenario: RunScenario) -> None:
    schedule, end = hourly(scenario), this_hour(scenario)
    start = end - 3 * HOUR
    dry = backfill(scenario, schedule, start, end, dry=True)
    assert dry["would_dispatch"] == 4
    assert scenario.runs(schedule) == []
    assert set(dry) == {"would_dispatch", "slots"}
    answer = backfill(scenario, schedule, start, end)
    assert (answer["dispatched"], answer["skipped"]) == (4, 0)
    assert [datetime.fromisoformat(slot["scheduled_for"]) for slot in answer["slots"]] == [
        start + n * HOUR for n in range(4)
    ]
    assert {(slot["decision"], slot["reason"]) for slot in answer["slots"]} == {("dispatch", "ok")}
    runs = scenario.runs(schedule)
    assert [run.scheduled_for for run in runs] == [start + n * HOUR for n in range(4)]
    assert {(run.trigger_mode, run.triggered_by) for run in runs} == {
        ("backfill", str(scenario.tenant.id))
    }
    assert [str(run.id) for run in runs] == [slot["run_id"] for slot in answer["slots"]]
    again = backfill(scenario, schedule, start - HOUR, end)
    assert (again["dispatched"], again["skipped"]) == (1, 4)
    assert [slot["reason"] for slot in again["slots"]] == ["ok"] + ["schedule_slot_exists"] * 4
    assert len(scenario.runs(schedule)) == 5
    assert scenario.claimed(limit=9) == [run.id for run in scenario.runs(schedule)]


def test_leaves_the_schedule_where_it_is(scenario: RunScenario) -> None:
    schedule = hourly(scenario)
    before = scenario.schedule(schedule)
    backfill(scenario, schedule, this_hour(scenario) - 2 * HOUR)
    assert scenario.schedule(schedule) == before
    assert scenario.actions(schedule) == ["dispatch_schedule"] * 3


def test_the_tick_skips_what_a_backfill_has_run(scenario: RunScenario) -> None:
    slot = this_hour(scenario)
    schedule = hourly(scenario, next_run_at=slot)
    assert backfill(scenario, schedule, slot, slot)["dispatched"] == 1
    assert scenario.tick(slot) == 0
    assert scenario.skips(schedule) == [("schedule_slot_exists", slot)]
    assert scenario.schedule(schedule).next_run_at == slot + HOUR


def test_a_slot_of_the_tick_is_left_alone(scenario: RunScenario) -> None:
    slot = this_hour(scenario)
    schedule = hourly(scenario, next_run_at=slot)
    assert scenario.tick(slot) == 1
    assert backfill(scenario, schedule, slot, slot)["slots"][0]["reason"] == "schedule_slot_exists"


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_run_that_a_stale_snapshot_does_not_show(
    committed: None, scenario: RunScenario, level: str
) -> None:
    slot = this_hour(scenario)
    schedule = hourly(scenario, next_run_at=slot + HOUR)
    with scenario.db.another() as stale:
        stale.execute(f"begin isolation level {level}")
        stale.execute("select count(*) from lenses.workflow_runs")
        scenario.db.execute(
            "insert into lenses.workflow_runs (workflow_id, schedule_id, scheduled_for, trigger_mode) "
            "select s.workflow_id, s.id, %s, 'backfill' from lenses.workflow_schedules as s",
            [slot],
        )
        with pytest.raises(psycopg.errors.SerializationFailure) as refused:
            backfill(scenario, schedule, slot - HOUR, slot, conn=stale)
        assert refused.value.diag.message_hint == "Repeat the transaction."
        stale.execute("rollback")
    assert [run.scheduled_for for run in scenario.runs(schedule)] == [slot]
    assert backfill(scenario, schedule, slot - HOUR, slot)["dispatched"] == 1


def test_guards_apply_but_the_overlap(scenario: RunScenario) -> None:
    end = this_hour(scenario)
    serial = hourly(scenario, queue_policy={"mode": "serial"})
    assert backfill(scenario, serial, end - HOUR, end)["dispatched"] == 2
    closed = hourly(scenario, calendar_id=scenario.make_calendar("only_dates", "2020-01-01"))
    answer = backfill(scenario, closed, end - HOUR, end)
    assert (answer["dispatched"], answer["skipped"]) == (0, 2)
    assert {slot["reason"] for slot in answer["slots"]} == {"calendar"}
    scenario.db.execute(
        "update lenses.workflows set status = 'paused' where id = %s", [scenario.workflow]
    )
    answer = backfill(scenario, serial, end - 3 * HOUR, end)
    assert {slot["reason"] for slot in answer["slots"]} == {"workflow_not_active"}


def test_battles_stop_at_the_days_limit(scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, max_daily_battles) "
        "values (%s, %s, 2)",
        [agent, scenario.tenant.id],
    )
    schedule = hourly(
        scenario, workflow_id=scenario.make_workflow(kind="battle"), assignee_id=agent
    )
    end = this_hour(scenario)
    dry = backfill(scenario, schedule, end - 3 * HOUR, end, dry=True)
    answer = backfill(scenario, schedule, end - 3 * HOUR, end)
    assert (dry["would_dispatch"], answer["dispatched"], answer["skipped"]) == (2, 2, 2)
    assert [slot["reason"] for slot in answer["slots"]] == ["ok", "ok"] + ["budget_exceeded"] * 2
    assert backfill(scenario, schedule, end - 4 * HOUR, end)["dispatched"] == 0


def test_rotation_goes_on_through_a_backfill(scenario: RunScenario) -> None:
    schedule = hourly(scenario, inputs_rotation='["a", "b"]')
    end = this_hour(scenario)
    backfill(scenario, schedule, end - 2 * HOUR, end)
    assert [run.context_inputs for run in scenario.runs(schedule)] == ["a", "b", "a"]
    assert scenario.schedule(schedule).last_rotation_index == 3


@pytest.mark.parametrize("paused", [True, False])
def test_the_window_holds_and_a_pause_does_not(scenario: RunScenario, paused: bool) -> None:
    end = this_hour(scenario)
    schedule = scenario.make_schedule("0 * * * *", start_at=end - HOUR)
    if paused:
        scenario.set(schedule, is_active=False, paused_at=end)
    assert backfill(scenario, schedule, end - 5 * HOUR, end)["dispatched"] == 2


def test_limits(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule("* * * * *", start_at="2020-01-01Z")
    now = scenario.db.value("select now()")
    for since, until, text in (
        (now - timedelta(days=31), None, "further back than 30 days"),
        (now - timedelta(days=8), None, "more than 10000 slots"),
        (now, now + HOUR, "is in the future"),
        (now, now - HOUR, "is after"),
        (None, None, "p_since"),
        ("-infinity", None, "further back"),
    ):
        with scenario.refused("22023", text):
            backfill(scenario, schedule, since, until)
    assert backfill(scenario, schedule, now - timedelta(days=6), dry=True)["would_dispatch"] > 8_600
    assert backfill(
        scenario, schedule, now - timedelta(days=30), now - timedelta(days=29, hours=23)
    )
    assert scenario.db.value("select count(*) from lenses.workflow_runs") in (60, 61)


def test_nothing_to_do(scenario: RunScenario) -> None:
    schedule = hourly(scenario)
    middle = this_hour(scenario) - timedelta(minutes=30)
    assert backfill(scenario, schedule, middle, middle) == {
        "dispatched": 0,
        "skipped": 0,
        "slots": [],
    }
    assert datetime.now(UTC) >= middle
