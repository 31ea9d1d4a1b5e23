"""Slots that move off the closed dates of a calendar: tick, preview, catch-up and backfill agree."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from tests.support.callers import Caller
from tests.support.scenario import MONDAY, Scenario

DAY = timedelta(days=1)


def closed(scenario: Scenario, *days: str) -> Any:
    return scenario.make_calendar("skip_dates", *days)


def day(slot: datetime) -> str:
    return slot.strftime("%a %d %H:%M")


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("skip", ["Mon 01 09:00", "Thu 04 09:00", "Fri 05 09:00"]),
        ("after", ["Mon 01 09:00", "Thu 04 09:00", "Fri 05 09:00"]),
        ("before", ["Mon 01 09:00", "Thu 04 09:00", "Fri 05 09:00"]),
    ],
)
def test_slots_that_fall_together_are_one(scenario: Scenario, on: str, expected: list[str]) -> None:
    calendar = closed(scenario, "2027-03-02", "2027-03-03")
    schedule = scenario.make_schedule("0 9 * * 1-5", calendar_id=calendar, on_holiday=on)
    scenario.play(MONDAY, MONDAY + 4 * DAY, timedelta(hours=1))
    assert [day(s) for s in scenario.slots(schedule)] == expected


@pytest.mark.parametrize(
    ("on", "expected"), [("after", "Thu 04 09:00"), ("before", "Mon 01 09:00")]
)
def test_a_weekly_slot_moves(scenario: Scenario, on: str, expected: str) -> None:
    calendar = closed(scenario, "2027-03-02", "2027-03-03")
    schedule = scenario.make_schedule("0 9 * * 3", calendar_id=calendar, on_holiday=on)
    scenario.play(MONDAY, MONDAY + 6 * DAY, timedelta(hours=1))
    assert [day(s) for s in scenario.slots(schedule)] == [expected]
    told = scenario.db.value(
        "select payload ->> 'moved_from' from agents.action_logs where action_type = 'dispatch_schedule' and schedule_id = %s",
        [schedule],
    )
    assert told == "moved from Wed 03 Mar: skip_dates 2027-03-02"


def test_preview_and_tick_agree(scenario: Scenario) -> None:
    """The preview names where a slot came from, and the ticks of the month make those runs."""
    soon = datetime.now(UTC).date() + DAY
    dates = [str(soon + n * DAY) for n in (1, 2, 3, 9, 10, 20, 25, 26)]
    schedules = [
        scenario.make_schedule(
            expr,
            next_run_at=None,
            calendar_id=closed(scenario, *dates[n:]),
            on_holiday=on,
            timezone=zone,
        )
        for n, (expr, on, zone) in enumerate(
            [
                ("0 9 * * *", "after", "UTC"),
                ("30 17 * * 1-5", "before", "America/New_York"),
                ("0 8,20 */2 * *", "after", "Asia/Tokyo"),
            ]
        )
    ]
    shown = {
        schedule: scenario.db.rows(
            "select * from lenses.fn_preview_schedule_ticks(%s, 200, '28 days')", [schedule]
        )
        for schedule in schedules
    }
    for now in sorted({r.tick_at for rows in shown.values() for r in rows}):
        scenario.tick(now)
    for schedule, rows in shown.items():
        assert {r.decision for r in rows} == {"dispatch"}
        assert any(r.reason.startswith("moved from ") for r in rows)
        assert scenario.slots(schedule) == [r.tick_at for r in rows]
    assert scenario.db.value("select count(*) from lenses.fn_invariant_violations()") == 0


def test_late_slots_are_the_moved_ones(scenario: Scenario) -> None:
    calendar = closed(scenario, "2027-03-06", "2027-03-07")
    schedule = scenario.make_schedule(
        "0 9 * * 6", calendar_id=calendar, on_holiday="after",
        queue_policy='{"mode":"parallel","onMissed":"backfill"}',
    )  # fmt: skip
    scenario.tick(MONDAY + 14 * DAY + timedelta(hours=1))
    assert [day(s) for s in scenario.slots(schedule)] == ["Mon 08 09:00", "Sat 13 09:00"]


def test_a_calendar_that_changes_moves_what_comes(scenario: Scenario) -> None:
    calendar = closed(scenario, "2027-03-02")
    schedule = scenario.make_schedule("0 9 * * 2", calendar_id=calendar, on_holiday="after")
    scenario.db.execute(
        "update lenses.workflow_schedules set next_run_at = null where id = %s", [schedule]
    )
    assert (
        scenario.db.value("select next_run_at from lenses.workflow_schedules") == MONDAY + 2 * DAY
    )
    scenario.db.execute(
        "update lenses.schedule_calendars set dates = %s where id = %s",
        [[date(2027, 3, 2), date(2027, 3, 3)], calendar],
    )
    assert (
        scenario.db.value("select next_run_at from lenses.workflow_schedules") == MONDAY + 3 * DAY
    )
    scenario.db.execute("update lenses.workflow_schedules set on_holiday = 'skip'")
    assert scenario.db.value("select next_run_at from lenses.workflow_schedules") == MONDAY + DAY


@pytest.mark.parametrize("on_holiday", ["before", "after"])
@pytest.mark.parametrize("what", ["tick", "resume", "preview"])
def test_many_slots_take_few_searches(scenario: Scenario, on_holiday: str, what: str) -> None:
    """A month missed, or 200 slots to show: searched by the day at most, not by the slot."""
    now = scenario.db.value("select date_bin('15 minutes', now(), '2020-01-01Z')")
    weekends = closed(scenario, "2026-01-01")
    scenario.db.execute(
        "update lenses.schedule_calendars set rules = %s where id = %s",
        [json.dumps([{"weekdays": ["SAT", "SUN"]}]), weekends],
    )
    schedule = scenario.make_schedule(
        "*/15 * * * *", next_run_at=None, calendar_id=weekends, on_holiday=on_holiday
    )
    caller = Caller(scenario.db, scenario.tenant)
    if what == "resume":
        caller.one("fn_pause_workflow_schedule", schedule_id=schedule)
    if what != "preview":
        scenario.set(schedule, next_run_at=now - timedelta(days=30))
    with scenario.db.transaction():
        scenario.db.execute("set local track_functions = 'all'")
        if what == "tick":
            scenario.tick(now)
        elif what == "resume":
            caller.one("fn_resume_workflow_schedule", schedule_id=schedule)
        else:
            shown = scenario.db.rows(
                "select * from lenses.fn_preview_schedule_ticks(%s, 200)", [schedule]
            )
            assert len(shown) == 200
        calls = dict(scenario.db.rows("select funcname, calls from pg_stat_xact_user_functions"))
    if what != "preview":
        [(count, _, _)] = scenario.missed(schedule)
        assert count > 1900  # of 2,880, since the weekends' fall together with others
    assert calls["fn_calendar_window"] < 100
    assert calls["fn_cron_next_after_spec"] < 300
