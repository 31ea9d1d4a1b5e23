"""Slots that move off closed dates, and single slots: a slow model walks the days beside them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cron.oracle import Schedule
from tests.cron.strategies import changes
from tests.support.database import Database, make_tenant

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def resolve(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant of a wall-clock minute: the first of two, the end of the gap where it is skipped."""
    now = (wall - timedelta(hours=30)).replace(tzinfo=UTC)
    low, high = now, now + timedelta(hours=60)
    # the first minute whose wall clock has reached it; the clock is turned once at most in between
    step = timedelta(hours=1)
    while low.astimezone(zone).replace(tzinfo=None) < wall:
        low += step
    low -= step
    while low.astimezone(zone).replace(tzinfo=None) < wall:
        low += MINUTE
    assert low <= high
    return low


class Model:
    """All slots of an expression from one day to another, moved day by day."""

    def __init__(
        self, expr: str, zone: str, closed: set[date], calendar_zone: str, step: int
    ) -> None:
        self.schedule = Schedule.parse(expr)
        self.zone, self.calendar_zone = ZoneInfo(zone), ZoneInfo(calendar_zone)
        self.closed, self.step = closed, step

    def is_open(self, instant: datetime) -> bool:
        return instant.astimezone(self.calendar_zone).date() not in self.closed

    def move(self, wall: datetime) -> datetime:
        origin = resolve(wall, self.zone)
        if self.is_open(origin):
            return origin
        for days in range(1, 32):
            moved = resolve(wall + self.step * days * DAY, self.zone)
            if self.is_open(moved):
                return moved
        return origin

    def slots(self, first: date, last: date) -> list[datetime]:
        minutes, hours = self.schedule.fields[:2]
        found = set()
        day = first
        while day <= last:
            for hour in hours:
                for minute in minutes:
                    wall = datetime(day.year, day.month, day.day, hour, minute)
                    if self.schedule.matches(wall):
                        found.add(self.move(wall))
            day += DAY
        return sorted(found)


def make_calendar(db: Database, closed: list[date], zone: str) -> Any:
    tenant = make_tenant(db)
    return db.value(
        "insert into lenses.schedule_calendars (lenser_id, name, kind, timezone, dates) "
        "values (%s, 'c', 'skip_dates', %s, %s) returning id",
        (tenant.id, zone, closed),
    )


SPEC = "lenses.fn_cron_move_to(lenses.fn_cron_parse(%(expr)s), %(calendar)s, %(on)s)"

CLOSED_WEEKS = st.sets(st.integers(0, 120), min_size=1, max_size=50)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    time=st.sampled_from(["0 9", "30 2", "0,30 1", "15 0", "59 23", "0 8-18/5"]),
    days=st.sampled_from(
        ["* * *", "* * 1-5", "* * FRIL", "1,15 * *", "L * *", "* * 6", "13 * 5", "1 3 *"]
    ),
    zone=st.sampled_from(
        ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"]
    ),
    calendar_zone=st.sampled_from(["same", "same", "Pacific/Auckland", "America/Los_Angeles"]),
    on=st.sampled_from(["before", "after"]),
    closed=CLOSED_WEEKS,
    run=st.tuples(st.integers(0, 90), st.integers(0, 40)),
    pick=st.integers(0, 50),
)
def test_agrees_with_a_walk_over_the_days(
    db: Database,
    time: str,
    days: str,
    zone: str,
    calendar_zone: str,
    on: str,
    closed: set[int],
    run: tuple[int, int],
    pick: int,
) -> None:
    near = changes(zone)
    base = (near[pick % len(near)] if near else datetime(2024, 2, 10, tzinfo=UTC)).date() - 60 * DAY
    dates = sorted(base + n * DAY for n in closed | set(range(run[0], run[0] + run[1])))
    calendar_zone = zone if calendar_zone == "same" else calendar_zone
    calendar = make_calendar(db, dates, calendar_zone)
    expr = f"{time} {days}"
    model = Model(expr, zone, set(dates), calendar_zone, 1 if on == "after" else -1)
    first = datetime.combine(base, datetime.min.time(), UTC)
    last = first + 120 * DAY
    expected = [s for s in model.slots(base - 40 * DAY, base + 160 * DAY) if first < s <= last]
    given_ = {
        "expr": expr,
        "calendar": calendar,
        "on": on,
        "zone": zone,
        "at": first,
        "until": last,
    }
    found = db.column(
        f"""with recursive walk (slot) as (
          select lenses.fn_cron_next_after_spec({SPEC}, %(zone)s, %(at)s)
          union all
          select lenses.fn_cron_next_after_spec({SPEC}, %(zone)s, slot) from walk where slot <= %(until)s
        ) select slot from walk where slot <= %(until)s order by slot""",
        given_,
    )
    assert found == expected
    assert db.value(
        f"select lenses.fn_cron_count({SPEC}, %(zone)s, %(at)s, %(until)s)", given_
    ) == len(expected)
    if expected:
        nth = f"select lenses.fn_cron_nth_after({SPEC}, %(zone)s, %(at)s, %(n)s)"
        assert db.value(nth, {**given_, "n": len(expected)}) == expected[-1]


def test_where_a_slot_came_from(db: Database) -> None:
    calendar = make_calendar(
        db, [date(2026, 12, 25), date(2026, 12, 26), date(2026, 12, 27)], "UTC"
    )
    given_ = {"expr": "0 9 * * *", "calendar": calendar, "zone": "UTC"}
    moved = f"select lenses.fn_cron_moved_from({SPEC}, %(zone)s, %(slot)s::timestamptz)"
    after = db.value(moved, {**given_, "on": "after", "slot": "2026-12-28 09:00+00"})
    assert [s.day for s in after] == [25, 26, 27]
    before = db.value(moved, {**given_, "on": "before", "slot": "2026-12-24 09:00+00"})
    assert [s.day for s in before] == [25, 26, 27]
    for on, slot in (
        ("after", "2026-12-24 09:00+00"),
        ("before", "2026-12-28 09:00+00"),
        ("skip", "2026-12-28 09:00+00"),
    ):
        assert db.value(moved, {**given_, "on": on, "slot": slot}) == []


@pytest.mark.parametrize(
    ("zone", "expr", "closed", "origin", "moved"),
    [
        # 23:30 was midnight there: what would move to the 4th comes on the 5th, which is closed too
        ("Asia/Pyongyang", "45 23 3 5 *", ["2018-05-03", "2018-05-05"], "03T15:15", "06T14:45"),
        # the first hour of a closed date comes twice, and the slot lies in the first pass
        ("America/Havana", "10 0 1 11 *", ["2026-11-01"], "01T04:10", "02T05:10"),
    ],
)
def test_a_slot_moves_across_a_turn_of_the_clock_at_midnight(
    db: Database, zone: str, expr: str, closed: list[str], origin: str, moved: str
) -> None:
    calendar = make_calendar(db, [date.fromisoformat(day) for day in closed], zone)
    given_ = {"expr": expr, "calendar": calendar, "on": "after", "zone": zone}
    came, went = (
        datetime.fromisoformat(f"{closed[0][:8]}{at}").replace(tzinfo=UTC) for at in (origin, moved)
    )
    for after in (came - MINUTE, came, went - timedelta(minutes=10), went - MINUTE):
        found = db.value(
            f"select lenses.fn_cron_next_after_spec({SPEC}, %(zone)s, %(after)s)",
            {**given_, "after": after},
        )
        assert found == went, after
    query = f"select lenses.fn_cron_moved_from({SPEC}, %(zone)s, %(slot)s)"
    assert db.value(query, {**given_, "slot": went}) == [came]


def test_the_later_of_two_slots_may_come_first(db: Database) -> None:
    """18:00 in Los Angeles is past midnight in UTC: a date later, and there the earlier time of day."""
    calendar = make_calendar(db, [date(2026, 12, 26), date(2026, 12, 27)], "UTC")
    found = db.column(
        f"""with spec as (select {SPEC} as s),
        first as (
          select lenses.fn_cron_next_after_spec(s, 'America/Los_Angeles', '2026-12-26 00:00+00') as at
          from spec)
        select at from first union all
        select lenses.fn_cron_next_after_spec(s, 'America/Los_Angeles', at) from spec, first""",
        {"expr": "0 9,18 26 12 *", "calendar": calendar, "on": "after"},
    )
    assert found == [datetime(2026, 12, 28, hour, tzinfo=UTC) for hour in (2, 17)]


def test_a_calendar_that_closes_every_day_moves_nothing(db: Database) -> None:
    """Such a slot stays, for the calendar to skip."""
    calendar = db.value(
        "insert into lenses.schedule_calendars (lenser_id, name, kind, dates, rules) values (%s, 'c', 'skip_dates', '{}', %s) returning id",
        (
            make_tenant(db).id,
            json.dumps([{"weekdays": ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]}]),
        ),
    )
    for on in ("before", "after"):
        assert db.value(
            f"select lenses.fn_cron_next_after_spec({SPEC}, 'UTC', '2026-01-01 10:00+00')",
            {"expr": "0 9 * * *", "calendar": calendar, "on": on},
        ) == datetime(2026, 1, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "expected"), [("2026-05-01 08:59:59+00", True), ("2026-05-01 09:00+00", False)]
)
def test_a_single_slot(shared_db: Database, after: str, expected: bool) -> None:
    spec = "row(null, null, null, null, null, null, 8, null, null, null, null, '2026-05-01 09:00+00', null)::lenses.cron_spec"
    found = shared_db.row(
        f"""select lenses.fn_cron_next_after_spec({spec}, 'UTC', %(after)s::timestamptz) as next,
        lenses.fn_cron_count({spec}, 'UTC', %(after)s::timestamptz, '2027-01-01 00:00+00') as count,
        lenses.fn_cron_nth_after({spec}, 'UTC', %(after)s::timestamptz, 2) as second""",
        {"after": after},
    )
    assert (found.next is not None, found.count, found.second) == (expected, int(expected), None)
