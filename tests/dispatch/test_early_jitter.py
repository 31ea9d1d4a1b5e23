"""Jitter may make a slot due before the schedule was there, or while it was paused: it is on time."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.support.database import as_user
from tests.support.scenario import MONDAY, Scenario, at

HOUR = timedelta(hours=1)
SKIP = {"mode": "parallel", "onMissed": "skip"}


def early(scenario: Scenario, slot: datetime, jitter: timedelta, by: timedelta) -> dict[str, Any]:
    """Columns with an id whose jitter makes the slot due at least so much before its time."""
    columns = {"jitter_ms": jitter // timedelta(milliseconds=1), "queue_policy": SKIP}
    while True:
        key = uuid.uuid4()
        due = scenario.db.value(
            "select lenses.fn_slot_due(%s, %s, %s)", [key, slot, columns["jitter_ms"]]
        )
        if due <= slot - by:
            return {"id": key, **columns}


def soon(scenario: Scenario) -> datetime:
    return scenario.db.value("select date_trunc('minute', now()) + interval '6 minutes'")


def daily(slot: datetime) -> str:
    return f"{slot.minute} {slot.hour} * * *"


def tick(scenario: Scenario) -> None:
    """By the server's clock."""
    scenario.db.execute("select lenses.fn_dispatch_scheduled_workflows()")


def resume(scenario: Scenario, schedule: UUID, on_missed: str | None = None) -> None:
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        conn.execute(
            "select public.fn_resume_workflow_schedule(p_schedule_id => %s, p_on_missed => %s)",
            [schedule, on_missed],
        )


def test_a_new_schedule(scenario: Scenario) -> None:
    tick(scenario)
    slot = soon(scenario)
    columns = early(scenario, slot, HOUR, timedelta(minutes=20))
    schedule = scenario.make_schedule(daily(slot), start_at=None, **columns)
    tick(scenario)
    assert scenario.slots(schedule) == [slot]
    assert scenario.skips(schedule) == []


def test_a_new_schedule_with_a_backlog_of_ticks(scenario: Scenario) -> None:
    """Seen by the search for late slots, which an outage before the schedule was there concerns not."""
    scenario.play(at(-90), at(-60))
    scenario.play(at(0), at(2))
    slot = at(20)
    columns = early(scenario, slot, HOUR, timedelta(minutes=30))
    schedule = scenario.make_schedule(
        "20 * * * *", start_at=None, next_run_at=slot, created_at=at(2), **columns
    )
    scenario.tick(at(3))
    assert scenario.slots(schedule) == [slot]
    assert scenario.skips(schedule) == []


def test_a_new_schedule_that_nobody_ticks(scenario: Scenario) -> None:
    """It is due from its beginning on, so an outage from then on makes it late."""
    scenario.play(at(-10), at(2))
    columns = early(scenario, at(20), HOUR, timedelta(minutes=30))
    schedule = scenario.make_schedule(
        "20 * * * *", start_at=None, next_run_at=at(20), created_at=at(2.5), **columns
    )
    scenario.tick(at(10))
    assert scenario.slots(schedule) == []
    assert scenario.missed(schedule) == [(1, at(20), at(20))]


def test_an_edit(scenario: Scenario) -> None:
    tick(scenario)
    slot = soon(scenario)
    columns = early(scenario, slot, HOUR, timedelta(minutes=20))
    schedule = scenario.make_schedule(
        daily(slot), next_run_at=slot, created_at=slot - timedelta(days=9),
        id=columns["id"], queue_policy=SKIP,
    )  # fmt: skip
    scenario.set(schedule, jitter_ms=columns["jitter_ms"])
    assert scenario.schedule(schedule).next_run_at == slot
    tick(scenario)
    assert scenario.slots(schedule) == [slot]
    assert scenario.skips(schedule) == []


@pytest.mark.parametrize("is_silent", [False, True], ids=["ticks go on", "an outage in the pause"])
def test_a_slot_after_the_end_of_a_pause(scenario: Scenario, is_silent: bool) -> None:
    """Slots before the end have passed; what jitter made due meanwhile has not."""
    columns = early(scenario, at(42), timedelta(minutes=10), timedelta(minutes=3))
    schedule = scenario.make_schedule("42 * * * *", **columns)
    scenario.set(schedule, is_active=False, paused_at=at(-100), paused_until=at(40))
    scenario.play(at(0), at(30))
    scenario.play(at(39.5) if is_silent else at(31), at(60))
    assert scenario.slots(schedule) == [at(42)]
    assert scenario.skips(schedule) == []


@pytest.mark.parametrize("passed", [0, 1], ids=["nothing passed", "a slot passed"])
def test_an_outage_after_the_end_of_a_pause(scenario: Scenario, passed: int) -> None:
    """Ticks of the time before passed over the schedule: they have not seen the slot."""
    columns = early(scenario, at(42), timedelta(minutes=10), timedelta(minutes=3))
    schedule = scenario.make_schedule("42 * * * *", start_at=at(-70 * passed), **columns)
    scenario.set(schedule, is_active=False, paused_at=at(-100), paused_until=at(40))
    scenario.play(at(0), at(39))
    scenario.tick(at(39.5))
    scenario.tick(at(60))
    assert scenario.slots(schedule) == []
    assert sum(count for count, _, _ in scenario.missed(schedule)) == passed + 1
    assert scenario.missed(schedule)[-1][2] == at(42)


def test_an_outage_after_a_resume(scenario: Scenario) -> None:
    tick(scenario)
    slot = soon(scenario)
    columns = early(scenario, slot, HOUR, timedelta(minutes=20))
    schedule = scenario.make_schedule(
        daily(slot), next_run_at=slot, created_at=slot - timedelta(days=9), is_active=False,
        paused_at=slot - timedelta(days=1), **columns,
    )  # fmt: skip
    resume(scenario, schedule)
    scenario.tick(slot + HOUR)
    assert scenario.slots(schedule) == []
    assert scenario.missed(schedule) == [(1, slot, slot)]


def test_the_slot_at_the_end_of_a_pause(scenario: Scenario) -> None:
    columns = early(scenario, at(40), timedelta(minutes=4), timedelta(minutes=2))
    schedule = scenario.make_schedule("*/5 * * * *", **columns)
    scenario.set(schedule, is_active=False, paused_at=at(-100), paused_until=at(40))
    scenario.play(at(0), at(42))
    assert scenario.slots(schedule)[0] == at(40)
    assert scenario.missed(schedule) == [(8, at(0), at(35))]


def test_a_resume(scenario: Scenario) -> None:
    tick(scenario)
    slot = soon(scenario)
    columns = early(scenario, slot, HOUR, timedelta(minutes=20))
    schedule = scenario.make_schedule(
        daily(slot), next_run_at=slot, created_at=slot - timedelta(days=9), is_active=False,
        paused_at=slot - timedelta(days=1), **columns,
    )  # fmt: skip
    resume(scenario, schedule)
    assert scenario.schedule(schedule).next_run_at == slot
    tick(scenario)
    assert scenario.slots(schedule) == [slot]
    assert scenario.skips(schedule) == []


@pytest.mark.parametrize("on_missed", [None, "skip", "run_once", "backfill", "spread"])
def test_the_choice_of_a_resume_governs_no_later_outage(
    scenario: Scenario, on_missed: str | None
) -> None:
    schedule = scenario.make_schedule("0 * * * *", queue_policy=SKIP)
    scenario.set(schedule, is_active=False)
    scenario.set(schedule, paused_at=MONDAY - timedelta(days=9))
    resume(scenario, schedule, on_missed)
    scenario.tick(at(-1))
    scenario.tick(at(630))
    assert scenario.slots(schedule) == []
    assert scenario.missed(schedule) == [(11, at(0), at(600))]
