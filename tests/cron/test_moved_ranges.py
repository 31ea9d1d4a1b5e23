"""Slots that move are listed a range at a time: the same slots as one search after the other gives."""

from __future__ import annotations

import json
from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cron.strategies import ZONES, changes
from tests.support.database import Database, make_tenant

DAY = timedelta(days=1)
MODEL = (Path(__file__).parent / "data" / "moved_model.sql").read_text()
SPEC = "lenses.fn_cron_move_to(lenses.fn_cron_parse(%(expr)s), %(calendar)s, %(on)s)"

MINUTES = ["0", "30", "*/15", "*/20", "7,52", "59"]
HOURS = ["*", "*/6", "0", "2", "0-3", "9,18", "23", "1-23/5"]
DAYS = ["* * *", "* * *", "* * 1-5", "* * 6", "1,15 * *", "L * *", "LW * *", "* * FRIL", "13 * 5"]
RARE = ["29 2 *", "1 1 *", "31 10 *", "* 3 SUN#2"]
RULES: list[list[dict[str, Any]]] = [
    [{"weekdays": ["SAT", "SUN"]}],
    [{"weekdays": ["FRI"]}, {"month_day": "12-25", "observed": True}],
    [{"weekdays": ["MON", "TUE", "WED", "THU", "FRI", "SUN"]}],
    [{"nth": {"weekday": "MON", "n": -1}}, {"easter": -2}],
    [{"weekdays": ["SAT", "SUN"], "except": [{"nth": {"weekday": "SAT", "n": 2}}]}],
]


@pytest.fixture
def model_db(db: Database) -> Database:
    if db.value("select to_regnamespace('model') is null"):
        db.execute(MODEL)
    return db


def some(low: int, high: int, most: int) -> st.SearchStrategy[set[int]]:
    return st.sets(st.integers(low, high), min_size=1, max_size=most)


def make_calendar(db: Database, zone: str, base: date, dates: Any) -> Any:
    """From rules, or from a kind and dates: every so many days from the base on."""
    kind, step, found = ("skip_dates", 1, ()) if isinstance(dates, list) else dates
    return db.value(
        "insert into lenses.schedule_calendars (lenser_id, name, kind, timezone, dates, rules) "
        "values (%s, 'c', %s, %s, %s, %s) returning id",
        (
            make_tenant(db).id,
            kind,
            zone,
            sorted(base + n * step * DAY for n in found),
            json.dumps(dates if isinstance(dates, list) else []),
        ),
    )


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    time=st.tuples(st.sampled_from(MINUTES), st.sampled_from(HOURS)).map(" ".join),
    days=st.one_of(st.sampled_from(DAYS), st.sampled_from(DAYS), st.sampled_from(RARE)),
    zone=st.sampled_from(ZONES),
    calendar_zone=st.sampled_from(["same", "same", "same", "UTC", "Pacific/Apia", "CET"]),
    on=st.sampled_from(["before", "after"]),
    dates=st.one_of(
        st.sampled_from(RULES),
        st.tuples(st.just("skip_dates"), st.just(1), some(-40, 100, 60)),
        st.tuples(st.just("only_dates"), st.just(9), some(-4, 8, 6)),
        st.tuples(st.just("only_dates"), st.just(40), some(-1, 2, 3)),
    ),
    pick=st.integers(0, 60),
    away=st.integers(-50 * 1440, 80 * 1440),
    length=st.integers(1, 50 * 1440),
)
def test_ranges_agree_with_single_searches(
    model_db: Database,
    time: str,
    days: str,
    zone: str,
    calendar_zone: str,
    on: str,
    dates: Any,
    pick: int,
    away: int,
    length: int,
) -> None:
    db = model_db
    near = changes(zone)
    turn = near[pick % len(near)] if near else datetime(2024, 2, 10, tzinfo=UTC)
    given_ = {
        "expr": f"{time} {days}",
        "calendar": make_calendar(
            db, zone if calendar_zone == "same" else calendar_zone, turn.date(), dates
        ),
        "on": on,
        "zone": zone,
        "after": turn - timedelta(minutes=away),
        "until": turn + timedelta(minutes=length - away),
    }
    moves = f"select origin, slot from {{}}.{{}}moves({SPEC}, %(zone)s, %(after)s, %(until)s)"
    assert db.rows(
        f"{moves.format('lenses', 'fn_cron_')} order by origin, slot", given_
    ) == db.rows(f"{moves.format('model', '')} order by origin, slot", given_)
    expected = db.column(
        f"""select distinct slot from model.moves(
          {SPEC}, %(zone)s, %(after)s - interval '33 days', %(until)s + interval '33 days')
        where slot > %(after)s and slot <= %(until)s order by slot""",
        given_,
    )
    ranges = f"from lenses.fn_cron_next_moved({SPEC}, %(zone)s, %(after)s, %(until)s, %(n)s) as s"
    assert db.column(f"select s {ranges}", {**given_, "n": None}) == expected
    count = f"select lenses.fn_cron_count({SPEC}, %(zone)s, %(after)s, %(until)s)"
    assert db.value(count, given_) == len(expected)

    # a few of one search after the other, beyond the end of the range too
    walk = db.column(
        f"""with recursive walk (slot, n) as (
          select model.next({SPEC}, %(zone)s, %(after)s), 1
          union all
          select model.next({SPEC}, %(zone)s, slot), n + 1 from walk where slot is not null and n < 4
        ) select slot from walk where slot is not null order by slot""",
        given_,
    )
    given_ |= {"until": "infinity", "n": 4}
    assert db.column(f"select s {ranges}", given_) == walk
    single = f"select lenses.fn_cron_next_after_spec({SPEC}, %(zone)s, %(after)s)"
    assert db.value(single, given_) == (walk[0] if walk else None)
    nth = f"select lenses.fn_cron_nth_after({SPEC}, %(zone)s, %(after)s, %(n)s)"
    assert db.value(nth, given_) == (walk[3] if len(walk) == 4 else None)
    if len(expected) > 1:
        assert db.value(nth, {**given_, "n": len(expected)}) == expected[-1]


@pytest.mark.parametrize("on", ["before", "after"])
@pytest.mark.parametrize(
    ("zone", "calendar_zone"),
    [
        ("UTC", "UTC"),
        ("America/New_York", "America/New_York"),
        ("America/New_York", "Asia/Tokyo"),
        ("Europe/Berlin", "Pacific/Apia"),
        ("Australia/Lord_Howe", "Europe/Berlin"),
    ],
)
def test_a_search_reaches_far_enough_from_wherever_it_begins(
    model_db: Database, zone: str, calendar_zone: str, on: str
) -> None:
    """Long closed stretches around a turn of the clock, and a start every 63 hours."""
    db = model_db
    turns = [t for t in changes(zone) if t.year == 2026]
    turn = turns[0] if turns else datetime(2026, 3, 8, tzinfo=UTC)
    first, last = turn - 80 * DAY, turn + 80 * DAY
    starts = [first + n * timedelta(hours=63) for n in range(60)]
    for dates in (
        ("only_dates", 1, {-70, -56, -43, -12, 0, 1, 15, 33, 60, 75}),
        ("only_dates", 1, {-61, -33, -4, 5, 30, 58}),
        ("only_dates", 1, {-75, -30, -1, 2, 50}),
    ):
        calendar = make_calendar(db, calendar_zone, turn.date(), dates)
        for expr in ("*/30 * * * 6", "30 */4 * * 1-5", "30 0,2,23 * * *"):
            given_ = {"expr": expr, "calendar": calendar, "on": on, "zone": zone}
            slots = db.column(
                f"""select distinct slot from model.moves(
                  {SPEC}, %(zone)s, %(from)s, %(until)s) order by slot""",
                {**given_, "from": first - 33 * DAY, "until": last + 66 * DAY},
            )
            found = db.column(
                f"select lenses.fn_cron_next_after_spec({SPEC}, %(zone)s, t) "
                "from unnest(%(starts)s::timestamptz[]) with ordinality as x (t, n) order by n",
                {**given_, "starts": starts},
            )
            expected = [slots[bisect_right(slots, start)] for start in starts]
            assert found == expected, (expr, dates)
            pairs = list(zip(starts, starts[3:], strict=False))
            counts = db.column(
                f"select (select count(*) from lenses.fn_cron_moved_between({SPEC}, %(zone)s, t, u)) "
                "from unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) "
                "with ordinality as x (t, u, n) order by n",
                {**given_, "starts": [t for t, _ in pairs], "ends": [u for _, u in pairs]},
            )
            assert counts == [bisect_right(slots, u) - bisect_right(slots, t) for t, u in pairs], (
                expr,
                dates,
            )
