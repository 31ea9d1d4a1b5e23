"""The explanation judges the slot within a minute, as the tick does: seconds, next_run_at, a pause."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.support.scenario import MONDAY, Scenario, at

DAY = timedelta(days=1)


def explain(scenario: Scenario, schedule: UUID, when: datetime) -> dict[str, Any]:
    return scenario.db.value("select lenses.fn_explain_schedule(%s, %s)", [schedule, when])


def verdict(scenario: Scenario, schedule: UUID, when: datetime) -> str:
    return explain(scenario, schedule, when)["verdict"]


@pytest.fixture
def seconds(scenario: Scenario) -> UUID:
    """Every five minutes, 42 seconds past them."""
    return scenario.make_schedule(None, interval_ms=300_000, start_at=at(0.7))


def test_a_slot_with_seconds(scenario: Scenario, seconds: UUID) -> None:
    told = explain(scenario, seconds, MONDAY)
    assert (told["verdict"], told["slot"]) == ("fires", "2027-03-01T09:00:42+00:00")
    assert scenario.tick(at(1)) == 1
    assert verdict(scenario, seconds, MONDAY) == "fired"
    assert verdict(scenario, seconds, at(5)) == "fires"
    assert verdict(scenario, seconds, at(6)) == "no_slot"


def test_a_run_has_the_slot_with_seconds(scenario: Scenario, seconds: UUID) -> None:
    """The key of a slot is that of its own second."""
    scenario.tick(at(1))
    guards = {g["reason"]: g for g in explain(scenario, seconds, MONDAY)["guards"]}
    assert guards["schedule_slot_exists"]["is_met"] is False


@pytest.mark.parametrize(("end", "expected"), [(0.5, "outside_window"), (0.7, "fires")])
def test_an_end_within_the_minute(scenario: Scenario, end: float, expected: str) -> None:
    schedule = scenario.make_schedule(
        None, interval_ms=300_000, start_at=at(-4.3), end_at=at(end + 5)
    )
    assert verdict(scenario, schedule, at(5)) == expected


def test_a_start_within_the_minute(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", start_at=at(0.5))
    told = explain(scenario, schedule, MONDAY)
    assert told["verdict"] == "outside_window"
    assert told["because"] == "the window is Mon 2027-03-01 09:00:30 to open"
    assert verdict(scenario, schedule, at(5)) == "fires"


@pytest.mark.parametrize("seconds", [0, 30])
def test_next_run_at_that_is_no_slot_of_the_rule(scenario: Scenario, seconds: int) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    there = at(17) + timedelta(seconds=seconds)
    scenario.set(schedule, next_run_at=there)
    told = explain(scenario, schedule, at(17))
    assert (told["verdict"], told["rule"]["is_slot"]) == ("fires", False)
    assert told["because"].startswith("next_run_at was set to this minute")
    assert scenario.tick(there) == 1
    assert verdict(scenario, schedule, at(17)) == "fired"


def test_next_run_at_outside_the_window(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *", end_at=MONDAY + DAY)
    scenario.set(schedule, next_run_at=MONDAY + 2 * DAY)
    told = explain(scenario, schedule, MONDAY + 2 * DAY)
    assert (told["verdict"], told["window"]["is_met"]) == ("fires", False)
    assert scenario.tick(MONDAY + 2 * DAY) == 1


def test_slots_before_an_explicit_next_run_at(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    scenario.set(schedule, next_run_at=MONDAY + DAY)
    told = explain(scenario, schedule, MONDAY)
    assert told["verdict"] == "not_recorded"
    assert told["because"].endswith("the slots before it are passed over")


def test_a_frozen_dispatcher(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    scenario.db.execute("select lenses.fn_freeze_dispatch('maintenance')")
    told = explain(scenario, schedule, MONDAY)
    assert told["verdict"] == "frozen"
    assert told["because"].startswith("dispatching is frozen: maintenance")
    assert scenario.tick(MONDAY) == 0
    assert verdict(scenario, schedule, at(1)) == "no_slot"
    scenario.db.execute("select lenses.fn_unfreeze_dispatch()")
    assert verdict(scenario, schedule, MONDAY) == "fires"


def test_a_pause_with_an_end(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    scenario.set(schedule, is_active=False, paused_at=at(-5), paused_until=at(10))
    told = [explain(scenario, schedule, at(minute)) for minute in (5, 10, 20)]
    assert [t["verdict"] for t in told] == ["paused", "fires", "fires"]
    assert told[0]["because"].endswith(", until Mon 2027-03-01 09:10")
    scenario.play(MONDAY, at(20))
    assert scenario.slots(schedule) == [at(10), at(15), at(20)]


@pytest.mark.parametrize(("mode", "expected"), [("skip", "would_skip"), ("backfill", "fires")])
def test_a_slot_that_nothing_ticked_for(scenario: Scenario, mode: str, expected: str) -> None:
    """Late slots are for onMissed, whatever the guards say."""
    hour = scenario.db.value("select date_trunc('hour', now())")
    late = hour - timedelta(hours=5)
    scenario.tick(late - timedelta(hours=1))
    schedule = scenario.make_schedule(
        "0 * * * *", queue_policy={"onMissed": mode}, next_run_at=late,
        created_at=hour - DAY,
    )  # fmt: skip
    scenario.db.execute(
        "update lenses.workflow_schedules set missed_before = null, dispatch_seq = 1 where id = %s",
        [schedule],
    )
    told = explain(scenario, schedule, late)
    assert told["verdict"] == expected
    if mode == "skip":
        assert told["because"] == (
            "the slot would be skipped now: missed (it is late, and onMissed drops it)"
        )
    scenario.tick(scenario.db.value("select now()"))
    assert (late in scenario.slots(schedule)) is (mode == "backfill")


def test_a_default_of_replace_gives_way_to_queue(scenario: Scenario) -> None:
    """Serial that backfills by default queues whatever the default is, and the guard says so."""
    scenario.db.execute(
        "select lenses.fn_set_dispatch_settings(%s)",
        ['{"default_on_overlap": "replace", "default_on_missed": "backfill"}'],
    )
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    scenario.tick(MONDAY)
    told = explain(scenario, schedule, at(5))
    assert told["verdict"] == "would_wait"
    guards = {g["guard"]: g for g in told["guards"]}
    assert guards["overlap"]["is_met"] is False
    assert "gives way" not in guards["overlap"]["detail"]


def test_a_reason_without_a_guard_of_its_own(scenario: Scenario) -> None:
    """A calendar that went past the foreign keys, as in a partial restore."""
    calendar = scenario.make_calendar("skip_dates", "2030-01-01")
    schedule = scenario.make_schedule("0 9 * * *", calendar_id=calendar)
    scenario.db.execute("set local session_replication_role = replica")
    scenario.db.execute("delete from lenses.schedule_calendars where id = %s", [calendar])
    scenario.db.execute("set local session_replication_role = origin")
    told = explain(scenario, schedule, MONDAY)
    assert told["because"] == (
        f"the slot would be skipped now: calendar_missing (calendar {calendar} is gone)"
    )
    assert {g["guard"]: g["is_met"] for g in told["guards"]}["calendar"] is False
    scenario.db.execute(
        "update lenses.workflow_schedules set calendar_id = null where id = %s", [schedule]
    )
