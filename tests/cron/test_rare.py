"""Searches over many years: dates that seldom come, and dates that the clock skips when they do."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.cron.oracle import MINUTE, Schedule
from tests.cron.strategies import changes
from tests.cron.test_properties import quick
from tests.support.database import Database

NEXT = "select lenses.fn_cron_next_after(%s, %s, %s)"
YEARS = timedelta(days=15340)
ZONES = (
    "America/New_York",
    "Europe/Berlin",
    "Europe/Dublin",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Antarctica/Troll",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Gaza",
    "America/Asuncion",
)


def first_slot(expr: str, zone: str, after: datetime) -> datetime | None:
    """The next slot of a real-time expression: date by date, the wall minutes that a clock shows."""
    schedule, tz = Schedule.parse(expr), ZoneInfo(zone)
    minutes, hours = sorted(schedule.fields[0]), sorted(schedule.fields[1])
    last = (after + YEARS).astimezone(tz).replace(tzinfo=None)
    day = after.astimezone(tz).replace(tzinfo=None, hour=0, minute=0, second=0) - timedelta(days=1)
    while day <= last:
        if schedule.matches(day.replace(hour=hours[0], minute=minutes[0])):
            walls = [
                day.replace(hour=hour, minute=minute, tzinfo=tz, fold=fold)
                for hour in hours
                for minute in minutes
                for fold in (0, 1)
            ]
            found = [
                at
                for wall in walls
                for at in [wall.astimezone(UTC)]
                if at > after
                and at.astimezone(tz).replace(tzinfo=None) == wall.replace(tzinfo=None)
            ]
            if found:
                return min(found)
        day += timedelta(days=1)
    return None


@st.composite
def questions(draw: st.DrawFn) -> tuple[str, str, datetime]:
    """A real-time expression around the date and hour of a change of the clock, asked near it."""
    zone = draw(st.sampled_from(ZONES))
    turn = draw(st.sampled_from(changes(zone)))
    before, end = (
        at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for at in (turn - MINUTE, turn)
    )
    wall = min(before + MINUTE, end)  # where the gap, or the repeated hour, begins
    weekday, place = wall.isoweekday() % 7, (wall.day - 1) // 7 + 1
    left = monthrange(wall.year, wall.month)[1] - wall.day
    day = st.sampled_from(
        ["*", f"{wall.day}", f"L-{left}" if left else "L", f"*/31,{wall.day}W", "*/10", "31"]
    )
    days = st.sampled_from(["*", f"*/7,{weekday}#{place}", f"{weekday}#{place}", f"{weekday}L"])
    month = st.sampled_from(
        [f"{wall.month}", f"{wall.month},2", f"2,4,6,9,11,{wall.month}", f"{wall.month},7", "*"]
    )
    hour = st.sampled_from([f"{wall.hour}", f"{wall.hour}", f"{wall.hour},5", f"0-{wall.hour}"])
    minute = st.sampled_from(["*/30", "*", "*/59", "*/7"])
    expr = " ".join(draw(field) for field in (minute, hour, day, month, days))
    return expr, zone, turn + timedelta(minutes=draw(st.integers(-3000, 1500)))


@quick
@given(question=questions())
def test_agrees_with_a_walk_over_the_dates(
    shared_db: Database, question: tuple[str, str, datetime]
) -> None:
    expr, zone, after = question
    assume(shared_db.value("select lenses.fn_cron_is_valid(%s)", (expr,)))
    assert shared_db.value(NEXT, (expr, zone, after)) == first_slot(expr, zone, after)


@pytest.mark.parametrize(
    ("expr", "zone", "after", "expected"),
    [
        # the second Sunday of March at 2: skipped each year; its 5 o'clock is not
        ("*/30 2 * 3 SUN#2", "America/New_York", "2026-03-01", None),
        ("*/30 2,5 * 3 SUN#2", "America/New_York", "2026-03-08", "2026-03-08T09:00"),
        ("*/30 1,2 * 3 SUN#2", "America/New_York", "2026-03-09", "2027-03-14T06:00"),
        # the 8th or a Sunday: the 8th is a Sunday that is skipped, the next Sunday is not
        ("*/30 2 8 3 SUN", "America/New_York", "2026-03-08", "2026-03-15T06:00"),
        # a Sunday that is the last of a month and its 31st: of these months March alone has one
        ("*/30 2 31 2,3,4,6,9,11 */7,SUN#5", "Europe/Berlin", "2026-01-01", None),
        ("*/30 3 31 2,3,4,6,9,11 */7,SUN#5", "Europe/Berlin", "2026-01-01", "2030-03-31T01:00"),
        # the 1st is no last Sunday, and the 22nd is one only in a February of 28 days
        ("0 0 */21 * SUNL", "UTC", "2026-02-22", "2037-02-22T00:00"),
        ("0 0 29 2 */7,MON#5", "UTC", "2076-03-01", "2088-02-29T00:00"),
        # in the first pass of the hour that comes twice, far from the next date
        ("*/30 1 1 2,11 */7", "America/New_York", "2026-11-01 05:31", "2026-11-01T06:00"),
        ("*/30 0 1 2,11 */7", "America/New_York", "2026-11-01 05:31", "2032-02-01T05:00"),
    ],
)
def test_far_ahead(
    shared_db: Database, expr: str, zone: str, after: str, expected: str | None
) -> None:
    found = shared_db.value(NEXT, (expr, zone, datetime.fromisoformat(after).replace(tzinfo=UTC)))
    assert found == (expected and datetime.fromisoformat(expected).replace(tzinfo=UTC))
