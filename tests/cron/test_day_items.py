"""L, L-n, nW, LW, d#k and dL: every day of many years, alone and joined with the other day field."""

from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cron.oracle import Schedule
from tests.cron.test_describe import one_meaning_each
from tests.cron.vectors import refusal
from tests.support.database import Database

START = datetime(2000, 1, 1, tzinfo=UTC)
# 28 years hold each kind of month: every length that begins on every weekday.
SHEET = [START + timedelta(days=n) for n in range(28 * 365 + 7)]
DAY_ITEMS = [
    "L",
    *(f"L-{n}" for n in (1, 2, 27, 28, 29, 30)),
    "LW",
    *(f"{n}W" for n in range(1, 32)),
]
WEEKDAY_ITEMS = [
    f"{d}{k}" for d, k in itertools.product((0, 3, "sat", 7), ("#1", "#2", "#4", "#5", "L"))
]


def fires(expr: str) -> list[datetime]:
    """The days of SHEET on which an expression fires, by the month's sheet."""
    schedule = Schedule.parse(expr)
    return [day for day in SHEET if schedule.matches(day)]


def found(conn: Database, expr: str, most: int = 12000) -> list[datetime]:
    """The product's answer for an expression at midnight, UTC."""
    return conn.column(
        "select s from lenses.fn_cron_next(%s, 'UTC', %s, %s) as s where s <= %s",
        (expr, START - timedelta(minutes=1), most, SHEET[-1]),
    )


@pytest.mark.parametrize("item", DAY_ITEMS)
def test_each_item_of_the_days(shared_db: Database, item: str) -> None:
    assert found(shared_db, f"0 0 {item} * *") == fires(f"0 0 {item} * *")


@pytest.mark.parametrize("item", WEEKDAY_ITEMS)
def test_each_item_of_the_weekdays(shared_db: Database, item: str) -> None:
    assert found(shared_db, f"0 0 * * {item}") == fires(f"0 0 * * {item}")


@st.composite
def day_fields(draw: st.DrawFn, items: list[str], plain: list[str]) -> str:
    """A list of day items and plain ones, in any order and case."""
    parts = draw(st.lists(st.sampled_from(items), min_size=1, max_size=3)) + draw(
        st.lists(st.sampled_from(plain), max_size=2)
    )
    text = ",".join(draw(st.permutations(parts)))
    return text.lower() if draw(st.booleans()) else text


@st.composite
def joined(draw: st.DrawFn) -> str:
    """An expression at midnight with day items in one of the day fields or in both."""
    days = day_fields(DAY_ITEMS, ["1", "15", "*/9", "28-31", "30"])
    weekdays = day_fields([i.upper() for i in WEEKDAY_ITEMS], ["MON", "1-5", "*/3", "WED"])
    day = draw(st.one_of(days, st.sampled_from(["*", "13", "*/2", "31"])))
    weekday = draw(
        weekdays if day in ("*", "13", "*/2", "31") else st.one_of(weekdays, st.just("*"))
    )
    month = draw(st.sampled_from(["*", "2", "*/3", "FEB,APR", "4,6,9,11", "12"]))
    return f"0 0 {day} {month} {weekday}"


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(expr=joined())
def test_joined_with_the_other_field(shared_db: Database, expr: str) -> None:
    expected = fires(expr)
    if not expected:
        error = refusal(shared_db, "select lenses.fn_cron_parse(%s)", (expr,))
        assert error is not None
        assert "a date that never comes" in str(error)
        return
    assert found(shared_db, expr, len(expected) + 1) == expected
    spec = "lenses.fn_cron_parse(%(expr)s)"
    before = START - timedelta(minutes=1)
    given_ = {"expr": expr, "at": before, "until": SHEET[-1], "n": len(expected)}
    count = f"select lenses.fn_cron_count({spec}, 'UTC', %(at)s, %(until)s)"
    assert shared_db.value(count, given_) == len(expected)
    nth = f"select lenses.fn_cron_nth_after({spec}, 'UTC', %(at)s, %(n)s)"
    assert shared_db.value(nth, given_) == expected[-1]


def test_items_add_nothing_to_a_field_that_lets_all_days_through(shared_db: Database) -> None:
    for expr, same in (
        ("0 9 *,L * *", "0 9 * * *"),
        ("0 9 1-31,LW * MON#1", "0 9 * * *"),
        ("0 9 * * 0-6,FRIL", "0 9 * * *"),
    ):
        assert shared_db.value(
            "select lenses.fn_cron_parse(%s) = lenses.fn_cron_parse(%s)", (expr, same)
        ), expr


def test_described_apart(shared_db: Database) -> None:
    days = ["*", "1", "*/2", "L", "L-1", "LW", "15W", "31W", "1,L", "15,15W", "1-7,L"]
    weekdays = ["*", "1-5", "MON", "MON#1", "MON#2", "MONL", "MON,MON#1", "SUN#5"]
    expressions = [
        f"0 9 {day} {month} {weekday}"
        for day, month, weekday in itertools.product(days, ["*", "2,4"], weekdays)
    ]
    keys = [(frozenset(fires(f"0 0 {e.split(' ', 2)[2]}"))) for e in expressions]
    kept = [(e, k) for e, k in zip(expressions, keys, strict=True) if k]
    one_meaning_each(shared_db, [e for e, _ in kept], [k for _, k in kept])


SAYS = [
    ("0 9 * * FRIL", "At 09:00, on the last Friday of every month"),
    ("0 9 L * *", "At 09:00, on the last day of every month"),
    ("0 9 L-3 * *", "At 09:00, on the day 3 days before the last day of every month"),
    ("30 18 LW 12 *", "At 18:30, on the last weekday of December"),
    ("0 9 1,15,L * *", "At 09:00, on the 1st, the 15th and the last day of every month"),
    (
        "0 9 15W 3-6 *",
        "At 09:00, on the weekday nearest the 15th of each month from March through June",
    ),
    ("0 9 * * MON#1,MON#3", "At 09:00, on the 1st Monday and the 3rd Monday of every month"),
    (
        "0 9 L * MON#1",
        "At 09:00, on the last day of every month and also on the 1st Monday of every month",
    ),
    (
        "0 9 L * */2",
        "At 09:00, on the last day of every month, but only if it is also a Tuesday, a Thursday, a Saturday or a Sunday",
    ),
    (
        "0 0 * * SAT,SUN,MON#2",
        "At 00:00, on every Saturday, every Sunday and the 2nd Monday of every month",
    ),
]


@pytest.mark.parametrize(("expr", "says"), SAYS)
def test_says(shared_db: Database, expr: str, says: str) -> None:
    assert shared_db.value("select lenses.fn_cron_describe(%s)", (expr,)) == says


BUILT = [
    ({"day_of_month": "L", "hour": 9}, "0 9 L * *"),
    ({"day_of_month": "15w", "hour": 9}, "0 9 15W * *"),
    ({"day_of_month": "LW"}, "0 0 LW * *"),
    ({"day_of_month": "L-3", "minute": 5}, "5 0 L-3 * *"),
    ({"days": ["MON#2", "fril"], "hour": 9}, "0 9 * * MON#2,FRIL"),
]


@pytest.mark.parametrize(("choices", "expr"), BUILT)
def test_the_builder_knows_them(shared_db: Database, choices: dict[str, object], expr: str) -> None:
    built = shared_db.value(
        "select lenses.fn_cron_build(%s::jsonb)", (json.dumps({"frequency": "monthly", **choices}),)
    )
    assert built == expr
    assert shared_db.value("select lenses.fn_cron_is_valid(%s)", (built,))


@pytest.mark.parametrize(
    "choices",
    [
        {"day_of_month": "L-31"},
        {"day_of_month": "FRIL"},
        {"days": ["MON"]},
        {"days": []},
        {"days": ["MON#6"]},
        {"days": "FRIL"},
        {"days": ["FRIL"], "day_of_month": 1},
    ],
)
def test_the_builder_refuses_others(shared_db: Database, choices: dict[str, object]) -> None:
    text = json.dumps({"frequency": "monthly", **choices})
    error = refusal(shared_db, "select lenses.fn_cron_build(%s::jsonb)", (text,))
    assert error is not None
    assert error.sqlstate == "22023"


def test_rows_written_before_they_were_known_read_the_same(db: Database) -> None:
    """An attribute that a stored row lacks is NULL: the same spec, found by equality as well."""
    old = "row(1, 512, 2147483647, 4095, 62, 540, 1, false, null, null, null, null, null)::lenses.cron_spec"
    assert db.value(f"select lenses.fn_cron_parse('0 9 * * 1-5') = {old}")
