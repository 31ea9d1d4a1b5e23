"""What a description says: a table judged line by line, and that it never hides a difference."""

from __future__ import annotations

import itertools
import json
from calendar import monthrange
from collections import defaultdict
from typing import Any

import pytest

from tests.cron.oracle import Schedule
from tests.cron.vectors import SETTINGS, ids, load, session
from tests.support.database import Database

MINUTES = [
    "*",
    "*/1",
    "0",
    "7",
    "59",
    "0,30",
    "*/30",
    "0/30",
    "15,45",
    "*/15",
    "0,15,30,45",
    "5/15",
    "*/25",
    "0,25,50",
    "*/7",
    "0-59/7",
    "*/2",
    "1/2",
    "0-30/2",
    "0-59",
    "0-9",
    "1-59",
    "*/59",
    "0,59",
    "5,*/10",
    "10,11,40",
    "3-3",
]
HOURS = [
    "*",
    "*/1",
    "0",
    "9",
    "0-23",
    "*/2",
    "0-23/2",
    "1/2",
    "0-20/2",
    "*/12",
    "0,12",
    "*/5",
    "0/5",
    "9-17",
    "9,10",
    "9-11",
    "1,2,7",
    "8-20/4",
    "*/23",
]
DAYS = [
    "*",
    "*/2",
    "1-31/2",
    "2/2",
    "1",
    "31",
    "30",
    "1,15",
    "1-7",
    "8,9,10",
    "*/5",
    "1-29",
    "1-30",
    "1-31",
    "28-31",
    "*/31",
    "29",
]
MONTHS = ["*", "1", "2", "2,4", "*/3", "1,4,7,10", "6-8", "1-11", "4,6", "1-12"]
WEEKDAYS = [
    "*",
    "0",
    "7",
    "1-5",
    "*/2",
    "0,2,4,6",
    "MON,WED",
    "FRI-SUN",
    "6-7/2",
    "0-6",
    "1-7",
    "*,1",
    "1,2",
]


@pytest.mark.parametrize("row", load("describe_expected"), ids=ids("describe_expected"))
def test_says(shared_db: Database, row: dict[str, Any]) -> None:
    assert shared_db.value("select lenses.fn_cron_describe(%s)", (row["expr"],)) == row["says"]


def test_public_namesake_and_settings(shared_db: Database) -> None:
    query = """select public.fn_cron_describe(e) as public, lenses.fn_cron_describe(e) as said
        from unnest(%s::text[]) as e"""
    for setting in SETTINGS:
        with session(shared_db, setting):
            for row in shared_db.rows(query, ([r["expr"] for r in load("describe_expected")],)):
                assert row.public == row.said


def dates(schedule: Schedule) -> frozenset[tuple[int, int, int]]:
    """Each (month, day, weekday) on which a schedule fires; all of them come in some year."""
    _, _, days, months, weekdays = schedule.fields
    return frozenset(
        (month, day, weekday)
        for month in months
        for day in range(1, monthrange(2024, month)[1] + 1)
        for weekday in range(7)
        if (day in days and weekday in weekdays)
        or (not schedule.needs_both_days and (day in days or weekday in weekdays))
    )


def one_meaning_each(shared_db: Database, expressions: list[str], keys: list[Any]) -> None:
    """Descriptions told apart wherever the meanings are."""
    said = shared_db.column(
        "select lenses.fn_cron_describe(e) from unnest(%s::text[]) with ordinality as v (e, n) order by n",
        (expressions,),
    )
    meanings = defaultdict(set)
    for expression, text, key in zip(expressions, said, keys, strict=True):
        meanings[text].add(key)
        assert "\n" not in text, expression
        assert text[0].isupper(), expression
    shared = [text for text, found in meanings.items() if len(found) > 1]
    assert not shared


def test_times_told_apart(shared_db: Database) -> None:
    expressions = [f"{m} {h} * * *" for m, h in itertools.product(MINUTES, HOURS)]
    parsed = [Schedule.parse(e) for e in expressions]
    one_meaning_each(shared_db, expressions, [(*p.fields[:2], p.is_real_time) for p in parsed])


def test_days_told_apart(shared_db: Database) -> None:
    expressions = [f"0 9 {d} {m} {w}" for d, m, w in itertools.product(DAYS, MONTHS, WEEKDAYS)]
    valid = shared_db.column(
        "select e from unnest(%s::text[]) with ordinality as v (e, n) where lenses.fn_cron_is_valid(e) "
        "order by n",
        (expressions,),
    )
    assert len(valid) > len(expressions) * 0.9
    one_meaning_each(shared_db, valid, [dates(Schedule.parse(e)) for e in valid])


def build(conn: Database, **choices: Any) -> tuple[str, str]:
    """The expression of the builder's choices, and what it says."""
    return conn.row(
        "select e, lenses.fn_cron_describe(e) from lenses.fn_cron_build(%s::jsonb) as e",
        (json.dumps(choices),),
    )


def test_builder_hourly_says_its_choice(shared_db: Database) -> None:
    for minute in range(60):
        expr, says = build(shared_db, frequency="hourly", minute=minute)
        assert expr == f"{minute} * * * *"
        wanted = "Every hour, on the hour" if minute == 0 else f"At minute {minute} of every hour"
        assert says == wanted


def test_builder_daily_says_its_choice(shared_db: Database) -> None:
    for minute, hour in itertools.product((0, 1, 30, 59), range(24)):
        expr, says = build(shared_db, frequency="daily", minute=minute, hour=hour)
        assert expr == f"{minute} {hour} * * *"
        assert says == f"At {hour:02}:{minute:02}, every day"


def test_builder_monthly_says_its_choice(shared_db: Database) -> None:
    for day in range(1, 32):
        expr, says = build(shared_db, frequency="monthly", hour=8, minute=30, day_of_month=day)
        assert expr == f"30 8 {day} * *"
        assert says.startswith(f"At 08:30, on the {day}")
        assert says.endswith(" of every month")


def test_builder_weekly_says_its_choice(shared_db: Database) -> None:
    names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    for size in range(1, 8):
        for days in itertools.combinations(range(7), size):
            expr, says = build(shared_db, frequency="weekly", hour=9, days=list(days))
            assert Schedule.parse(expr).fields[4] == set(days)
            assert (
                expr
                == build(shared_db, frequency="weekly", hour=9, days=[names[d] for d in days])[0]
            )
            if size == 7:
                assert says == "At 09:00, every day"
                continue
            told = [d for d in days if names[d] in says]
            runs = says.count(" through ")
            assert told == list(days) or runs, (days, says)
            for day in set(range(7)) - set(days):
                assert names[day] not in says, (days, says)
