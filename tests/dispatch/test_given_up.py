"""Slots that an edit, a disabling or a calendar gives up: each is logged once, and no other is."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.dispatch.silence import lose_zone
from tests.support.callers import Caller
from tests.support.scenario import Scenario

DAY = 86_400_000
MINUTE = timedelta(minutes=1)
QUEUE = {"mode": "serial", "onOverlap": "queue"}
CLOSE = "update lenses.schedule_calendars set dates = %s where id = %s"


def now_of(scenario: Scenario) -> datetime:
    """The minute of the database's clock."""
    return scenario.db.value("select date_trunc('minute', clock_timestamp())")


def slots_ago(scenario: Scenario, times: int) -> datetime:
    """A slot of */5, so many slots before the newest one."""
    return scenario.db.value(
        "select date_bin('5 minutes', clock_timestamp(), '2020-01-01Z') - %s * interval '5 minutes'",
        [times],
    )


def patch(scenario: Scenario, schedule: UUID, **columns: Any) -> None:
    alice = Caller(scenario.db, scenario.tenant)
    alice.one("fn_patch_workflow_schedule", schedule_id=schedule, patch=columns)


def ledger(scenario: Scenario, schedule: UUID) -> list[tuple[str, datetime, datetime, int]]:
    """(reason, first, last, count) of what has no run."""
    return [
        tuple(row)
        for row in scenario.db.rows(
            "select reason, run_at, run_at_last, slot_count from lenses.schedule_slots "
            "where schedule_id = %s and run_id is null order by run_at",
            [schedule],
        )
    ]


def jittered(
    scenario: Scenario, slots: list[datetime], fits: Callable[..., bool], cron: str
) -> UUID:
    """A schedule with a jitter of a day whose id makes the slots due at instants that fit."""
    for _ in range(500):
        schedule = uuid.uuid4()
        due = [
            scenario.db.value("select lenses.fn_slot_due(%s, %s, %s)", [schedule, slot, DAY])
            for slot in slots
        ]
        if fits(*due):
            return scenario.make_schedule(
                cron, id=schedule, jitter_ms=DAY, next_run_at=slots[0],
                created_at=slots[0] - timedelta(days=1),
            )  # fmt: skip
    raise AssertionError("no id has such due times")


def test_an_edit_finds_the_new_rules_next_slot_between_slots_of_the_old(scenario: Scenario) -> None:
    now = now_of(scenario)
    last, soon = now - 10 * MINUTE, now + 20 * MINUTE
    schedule = jittered(
        scenario, [last, last + 60 * MINUTE], lambda a, b: a <= now and b <= now,
        f"{last.minute} * * * *",
    )  # fmt: skip
    patch(scenario, schedule, cron_expr=f"{soon.minute} * * * *")
    assert scenario.schedule(schedule).next_run_at == soon
    assert ledger(scenario, schedule) == [("schedule_edited", last, last, 1)]


@pytest.mark.parametrize("columns", [{"is_active": False}, {"end_at": "2099-01-01"}], ids=str)
def test_a_slot_that_jitter_puts_off_is_given_up_with_the_rest(
    scenario: Scenario, columns: dict[str, Any]
) -> None:
    first, second = slots_ago(scenario, 2), slots_ago(scenario, 1)
    late = now_of(scenario) + timedelta(hours=1)
    schedule = jittered(
        scenario, [first, second], lambda a, b: a <= first and b > late, "*/5 * * * *"
    )
    patch(scenario, schedule, **columns)
    if not scenario.schedule(schedule).is_active:
        patch(scenario, schedule, is_active=True)
    [(reason, since, until, count)] = ledger(scenario, schedule)
    assert (reason, since) == ("schedule_edited", first)
    assert until >= second
    assert count == (until - first) / (5 * MINUTE) + 1
    assert scenario.schedule(schedule).next_run_at == until + 5 * MINUTE


@pytest.mark.parametrize("columns", [{"is_active": False}, {"cron_expr": "0 0 1 1 *"}], ids=str)
def test_slots_that_were_dropped_before_are_not_logged_again(
    scenario: Scenario, columns: dict[str, Any]
) -> None:
    base = slots_ago(scenario, 30)
    schedule = scenario.make_schedule(
        next_run_at=base, created_at=base - timedelta(days=1), queue_policy=QUEUE
    )
    for minute in (0, 5, 65):
        scenario.tick(base + minute * MINUTE)
    patch(scenario, schedule, **columns)
    rows = ledger(scenario, schedule)
    assert [row[0] for row in rows].count("missed") == 1
    slots = [
        since + n * 5 * MINUTE
        for _, since, until, _ in rows
        for n in range(int((until - since) / (5 * MINUTE)) + 1)
    ]
    assert sum(row[3] for row in rows) == len(slots)
    assert sorted(slots) == [base + n * 5 * MINUTE for n in range(1, len(slots) + 1)]
    assert slots_ago(scenario, 0) - max(slots) <= 5 * MINUTE


def test_a_pause_owes_nothing_from_before_it_when_it_was_disabled(scenario: Scenario) -> None:
    base = slots_ago(scenario, 6)
    schedule = scenario.make_schedule(
        next_run_at=base, created_at=base - timedelta(days=1),
        queue_policy={"mode": "parallel", "onMissed": "backfill"},
    )  # fmt: skip
    alice = Caller(scenario.db, scenario.tenant)
    patch(scenario, schedule, is_active=False)
    alice.one("fn_pause_workflow_schedule", schedule_id=schedule)
    assert scenario.schedule(schedule).next_run_at > now_of(scenario)
    alice.one("fn_resume_workflow_schedule", schedule_id=schedule)
    scenario.tick(now_of(scenario))
    assert [slot for slot in scenario.slots(schedule) if slot <= base + 30 * MINUTE] == []
    [row] = ledger(scenario, schedule)
    assert row[:2] == ("schedule_edited", base)


@pytest.mark.parametrize("columns", [{"is_active": False}, {"timezone": "UTC"}], ids=str)
def test_a_schedule_whose_zone_is_gone_can_be_disabled_and_mended(
    scenario: Scenario, columns: dict[str, Any]
) -> None:
    slot = slots_ago(scenario, 3)
    schedule = scenario.make_schedule(
        timezone="Europe/Berlin", next_run_at=slot, created_at=slot - timedelta(days=1)
    )
    lose_zone(scenario, schedule)
    patch(scenario, schedule, **columns)
    assert ledger(scenario, schedule) == [("schedule_edited", slot, slot, 1)]


def test_a_calendar_changes_though_a_schedules_zone_is_gone(scenario: Scenario) -> None:
    now = now_of(scenario)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    schedule = scenario.make_schedule(
        "0 9 * * *", timezone="Europe/Berlin", calendar_id=calendar, on_holiday="after",
        next_run_at=None, created_at=now - timedelta(days=10),
    )  # fmt: skip
    lose_zone(scenario, schedule)
    scenario.db.execute(CLOSE, [[now.date()], calendar])
    assert scenario.schedule(schedule).next_run_at is None
    assert ledger(scenario, schedule) == []


def test_a_calendar_that_moves_a_slot_into_the_past_says_so(scenario: Scenario) -> None:
    now = scenario.db.value("select now()")
    gone = now - timedelta(minutes=5)
    tomorrow = gone.date() + timedelta(days=1)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    cron = f"{gone.minute} {gone.hour} * * {tomorrow.isoweekday() % 7}"
    schedule = scenario.make_schedule(
        cron, calendar_id=calendar, on_holiday="before", next_run_at=None,
        created_at=now - timedelta(days=2), updated_at=now - timedelta(days=2),
    )  # fmt: skip
    assert scenario.schedule(schedule).next_run_at.date() == tomorrow
    close = "update lenses.schedule_calendars set dates = %s where id = %s"
    scenario.db.execute(close, [[tomorrow], calendar])
    assert scenario.schedule(schedule).next_run_at.date() > tomorrow
    slot = gone.replace(second=0, microsecond=0)
    assert scenario.skips(schedule) == [("schedule_edited", slot)]
    scenario.db.execute(close, [[tomorrow, tomorrow + timedelta(days=40)], calendar])
    assert scenario.skips(schedule) == [("schedule_edited", slot)]


def test_a_slot_that_a_calendar_moves_on_is_not_given_up(scenario: Scenario) -> None:
    now = scenario.db.value("select now()")
    tomorrow = now.date() + timedelta(days=1)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    schedule = scenario.make_schedule(
        "30 12 * * *", calendar_id=calendar, on_holiday="after", next_run_at=None,
        start_at=now + timedelta(days=1) - timedelta(hours=12), created_at=now - timedelta(days=2),
    )  # fmt: skip
    before = scenario.schedule(schedule).next_run_at
    scenario.db.execute(
        "update lenses.schedule_calendars set dates = %s where id = %s",
        [[before.date(), tomorrow + timedelta(days=50)], calendar],
    )
    assert scenario.schedule(schedule).next_run_at > before
    assert scenario.skips(schedule) == []


def test_all_slots_that_a_calendar_moves_into_the_past_are_logged(scenario: Scenario) -> None:
    now = now_of(scenario)
    gone = now - 5 * MINUTE
    tomorrow = gone.date() + timedelta(days=1)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    schedule = scenario.make_schedule(
        f"{gone.minute} * * * {tomorrow.isoweekday() % 7}", calendar_id=calendar,
        on_holiday="before", next_run_at=None, created_at=now - timedelta(days=2),
        updated_at=now - timedelta(days=2),
    )  # fmt: skip
    scenario.db.execute(CLOSE, [[tomorrow], calendar])
    first = gone.replace(hour=0)
    assert ledger(scenario, schedule) == [("schedule_edited", first, gone, gone.hour + 1)]


@pytest.mark.parametrize("way", ["edited", "disabled", "enabled"])
def test_a_calendar_gives_up_nothing_that_was_never_owed(scenario: Scenario, way: str) -> None:
    now = now_of(scenario)
    gone = now - timedelta(hours=1)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    rule = f"{gone.minute} {gone.hour} * * *"
    schedule = scenario.make_schedule(
        "0 0 1 1 *" if way == "edited" else rule, calendar_id=calendar, on_holiday="after",
        is_active=way == "edited", next_run_at=None, created_at=now - timedelta(days=20),
        updated_at=now - timedelta(days=20),
    )  # fmt: skip
    if way == "edited":
        patch(scenario, schedule, cron_expr=rule)
    if way == "enabled":
        patch(scenario, schedule, is_active=True)
    closed = scenario.schedule(schedule).next_run_at.date()
    scenario.db.execute(CLOSE, [[closed], calendar])
    assert ledger(scenario, schedule) == []


def test_the_date_of_a_holiday_that_is_over_can_go(scenario: Scenario) -> None:
    """Its slot ran where it lay then."""
    nine = now_of(scenario).replace(hour=9, minute=0) - timedelta(days=10)
    calendar = scenario.make_calendar("skip_dates", str(nine.date()), "2099-01-01")
    schedule = scenario.make_schedule(
        f"0 9 * * {nine.isoweekday() % 7}", calendar_id=calendar, on_holiday="after",
        next_run_at=nine + timedelta(days=1), created_at=nine - timedelta(days=2),
        updated_at=nine - timedelta(days=2),
    )  # fmt: skip
    for days in (1, 7):
        scenario.tick(nine + timedelta(days=days))
    assert scenario.slots(schedule) == [nine + timedelta(days=1), nine + timedelta(days=7)]
    scenario.db.execute(CLOSE, [["2099-01-01"], calendar])
    assert ledger(scenario, schedule) == []


@pytest.mark.parametrize("on_holiday", ["before", "after"])
def test_a_date_that_closes_after_its_slots_ran_gives_up_nothing(
    scenario: Scenario, on_holiday: str
) -> None:
    now = now_of(scenario)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    schedule = scenario.make_schedule(
        f"{now.minute} {now.hour} * * *", calendar_id=calendar, on_holiday=on_holiday,
        next_run_at=now - timedelta(days=3), created_at=now - timedelta(days=4),
        updated_at=now - timedelta(days=4),
    )  # fmt: skip
    for days in (3, 2, 1, 0):
        scenario.tick(now - timedelta(days=days))
    before = scenario.schedule(schedule).next_run_at
    scenario.db.execute(CLOSE, [[now.date() - timedelta(days=1)], calendar])
    assert scenario.schedule(schedule).next_run_at == before
    assert ledger(scenario, schedule) == []


def test_what_a_calendar_gives_up_is_logged_after_an_edit_too(scenario: Scenario) -> None:
    now = now_of(scenario)
    gone = now - 5 * MINUTE
    tomorrow = gone.date() + timedelta(days=1)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    schedule = scenario.make_schedule(
        f"{gone.minute} {gone.hour} * * {tomorrow.isoweekday() % 7}", calendar_id=calendar,
        on_holiday="before", next_run_at=None, created_at=now - timedelta(days=2),
    )  # fmt: skip
    patch(scenario, schedule, description="still the same rule")
    scenario.db.execute(CLOSE, [[tomorrow], calendar])
    assert ledger(scenario, schedule) == [("schedule_edited", gone, gone, 1)]


@pytest.mark.parametrize("policy", ["waits", "late"])
@pytest.mark.parametrize("on", ["skip", "before"])
def test_slots_that_wait_on_a_date_that_closes(scenario: Scenario, on: str, policy: str) -> None:
    """The one that is due is judged by the tick; none of the others goes without a word."""
    now = now_of(scenario)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    noon = (now - timedelta(days=2)).replace(hour=12, minute=0, second=0, microsecond=0)
    schedule = scenario.make_schedule(
        "*/15 12 * * *", calendar_id=calendar, on_holiday=on, created_at=noon - timedelta(days=9),
        next_run_at=noon, queue_policy={**QUEUE, "onMissed": "backfill"},
    )  # fmt: skip
    if policy == "waits":
        for minutes in (0, 15, 30, 45):
            scenario.tick(noon + minutes * MINUTE)
        scenario.db.execute(CLOSE, [[noon.date()], calendar])
        [run] = scenario.runs(schedule)
        scenario.end(run.id)
    else:
        scenario.db.execute(CLOSE, [[noon.date()], calendar])
    scenario.tick(noon + 50 * MINUTE)
    rows = scenario.db.rows(
        "select run_at, run_at_last, slot_count from lenses.schedule_slots "
        "where schedule_id = %s and run_at < %s",
        [schedule, noon + 60 * MINUTE],
    )
    for slot in (noon + n * MINUTE for n in (0, 15, 30, 45)):
        assert any(row.run_at <= slot <= row.run_at_last for row in rows)
    assert sum(row.slot_count for row in rows) == 4


def test_a_calendar_that_opens_again_wakes_its_schedules(scenario: Scenario) -> None:
    now = now_of(scenario)
    calendar = scenario.make_calendar("skip_dates", "2099-01-01")
    schedule = scenario.make_schedule(
        "0 9 * * *", calendar_id=calendar, on_holiday="before", next_run_at=None,
        end_at=now + timedelta(days=2),
    )  # fmt: skip
    before = scenario.schedule(schedule).next_run_at
    assert before > now
    closed = [now.date() + timedelta(days=n) for n in range(10)]
    scenario.db.execute(CLOSE, [closed, calendar])
    assert scenario.schedule(schedule).next_run_at is None
    scenario.db.execute(CLOSE, [["2099-01-01"], calendar])
    assert scenario.schedule(schedule).next_run_at == before


def test_the_log_has_the_time_of_the_edit(scenario: Scenario) -> None:
    slot = slots_ago(scenario, 300)
    schedule = scenario.make_schedule(next_run_at=slot, created_at=slot - timedelta(days=1))
    began = scenario.db.value("select clock_timestamp()")
    scenario.set(schedule, next_run_at=slot + 10 * MINUTE)
    row = scenario.db.row(
        "select occurred_at, payload -> 'detail' -> 'count' as slots from agents.action_logs "
        "where schedule_id = %s",
        [schedule],
    )
    assert row.occurred_at >= began
    assert row.slots == 2
