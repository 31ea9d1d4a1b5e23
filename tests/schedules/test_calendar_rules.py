"""Calendars by rule: the dates of each kind of rule, references, and what is refused."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import holidays
import psycopg
import pytest
from dateutil.easter import EASTER_ORTHODOX, EASTER_WESTERN, easter

from tests.support.callers import Caller
from tests.support.database import Database

US = "ca1e0da0-0000-4000-8000-000000000001"
TR = "ca1e0da0-0000-4000-8000-000000000002"
WEEKDAYS = "ca1e0da0-0000-4000-8000-000000000003"


def dates(db: Database, rules: list[dict[str, Any]], first: str, last: str) -> list[str]:
    """What an array of rules names."""
    return db.column(
        "select d::text from lenses.fn_calendar_rule_dates(%s::jsonb, %s, %s) as d order by d",
        (json.dumps(rules), first, last),
    )


RULES = [
    (
        [{"weekdays": ["SAT", "sun"]}],
        "2026-11-27",
        "2026-12-05",
        ["2026-11-28", "2026-11-29", "2026-12-05"],
    ),
    ([{"month_day": "02-29"}], "2023-01-01", "2029-01-01", ["2024-02-29", "2028-02-29"]),
    (
        [{"month_day": "07-04", "observed": True}],
        "2026-07-01",
        "2027-07-31",
        ["2026-07-03", "2027-07-05"],
    ),
    # a New Year's Day on a Saturday is observed in the year before
    ([{"month_day": "01-01", "observed": True}], "2021-12-31", "2022-12-31", ["2021-12-31"]),
    (
        [{"nth": {"weekday": "MON", "n": -1, "month": 5}}],
        "2026-01-01",
        "2027-12-31",
        ["2026-05-25", "2027-05-31"],
    ),
    (
        [{"nth": {"weekday": "FRI", "n": 5}}],
        "2026-01-01",
        "2026-06-30",
        ["2026-01-30", "2026-05-29"],
    ),
    (
        [{"nth": {"weekday": "FRI", "n": -5}}],
        "2026-01-01",
        "2026-06-30",
        ["2026-01-02", "2026-05-01"],
    ),
    ([{"easter": -2}, {"easter": 1}], "2026-01-01", "2026-12-31", ["2026-04-03", "2026-04-06"]),
    ([{"orthodox_easter": 0}], "2026-01-01", "2026-12-31", ["2026-04-12"]),
    # counted from the Easter of the year before
    ([{"easter": 300}], "2027-01-01", "2027-12-31", [str(easter(2026) + timedelta(300))]),
    (
        [{"month_day": "12-25", "from": "2026-01-01", "until": "2027-12-24"}],
        "2020-01-01",
        "2030-01-01",
        ["2026-12-25"],
    ),
    (
        [{"weekdays": ["MON"], "except": [{"nth": {"weekday": "MON", "n": 1}}]}],
        "2026-06-01",
        "2026-06-30",
        ["2026-06-08", "2026-06-15", "2026-06-22", "2026-06-29"],
    ),
    # an exception knows its own exceptions
    (
        [
            {
                "weekdays": ["MON"],
                "except": [{"weekdays": ["MON"], "except": [{"month_day": "06-15"}]}],
            }
        ],
        "2026-06-01",
        "2026-06-30",
        ["2026-06-15"],
    ),
    ([], "2026-01-01", "2026-12-31", []),
]


@pytest.mark.parametrize(("rules", "first", "last", "expected"), RULES)
def test_dates_of_rules(
    shared_db: Database, rules: list[dict[str, Any]], first: str, last: str, expected: list[str]
) -> None:
    assert dates(shared_db, rules, first, last) == expected


def test_easter_as_by_the_libraries(shared_db: Database) -> None:
    years = list(range(1970, 2300))
    for is_orthodox, method in ((False, EASTER_WESTERN), (True, EASTER_ORTHODOX)):
        found = shared_db.column(
            "select lenses.fn_easter(y, %s) from unnest(%s::integer[]) with ordinality as v (y, n) order by n",
            (is_orthodox, years),
        )
        assert found == [easter(year, method) for year in years]


def test_one_date_at_a_time_agrees_with_the_range(shared_db: Database) -> None:
    for rules, *_ in RULES:
        text = json.dumps(rules)
        assert shared_db.value(
            """select array(select d from lenses.fn_calendar_rule_dates(%(r)s::jsonb, '2025-01-01', '2028-12-31') as d order by d)
            = array(select day::date from generate_series(timestamp '2025-01-01', '2028-12-31', '1 day') as day
            where exists (select from lenses.fn_calendar_rule_dates(%(r)s::jsonb, day::date, day::date)) order by day)""",
            {"r": text},
        ), rules


def test_us_federal_holidays_as_by_the_library(alice: Caller) -> None:
    """The days off: the library gives the holiday and the day in lieu, of which this keeps the latter."""
    known = holidays.country_holidays(
        "US", years=range(2020, 2062), observed=True, language="en_US"
    )
    wanted = {
        day for day, name in known.items() if not (day.weekday() >= 5 and "observed" not in name)
    }
    found = listed(alice, US, date(2020, 1, 1), date(2060, 12, 31))
    assert found == sorted(day for day in wanted if 2020 <= day.year <= 2060)


def test_tr_fixed_days_as_by_the_library(alice: Caller) -> None:
    fixed = {(1, 1), (4, 23), (5, 1), (5, 19), (7, 15), (8, 30), (10, 29)}
    known = holidays.country_holidays("TR", years=range(2020, 2061), language="tr")
    wanted = sorted(day for day in known if (day.month, day.day) in fixed)
    found = listed(alice, TR, date(2020, 1, 1), date(2060, 12, 31))
    assert [day for day in found if (day.month, day.day) in fixed] == wanted
    exact = holidays.country_holidays("TR", years=range(2025, 2033), language="tr")
    assert [day for day in found if 2025 <= day.year <= 2032] == sorted(exact)


GERMANY: list[dict[str, Any]] = [
    *({"month_day": day} for day in ("01-01", "05-01", "10-03", "12-25", "12-26")),
    *({"easter": days} for days in (-2, 1, 39, 50)),
]


def only(days: str, *weekdays: str) -> dict[str, Any]:
    """A day of the year where it is one of some weekdays."""
    others = [
        day for day in ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT") if day not in weekdays
    ]
    return {"month_day": days, "except": [{"weekdays": others}]}


# the days off of England and Wales: a holiday at a weekend has the next working day in lieu
ENGLAND: list[dict[str, Any]] = [
    only("01-01", "MON", "TUE", "WED", "THU", "FRI"),
    only("01-02", "MON"),
    only("01-03", "MON"),
    {"easter": -2},
    {"easter": 1},
    {
        "nth": {"weekday": "MON", "n": 1, "month": 5},
        "except": [{"month_day": "05-04", "until": "2020-12-31"}],
    },
    {
        "nth": {"weekday": "MON", "n": -1, "month": 5},
        "except": [{"month_day": "05-30", "from": "2022-01-01", "until": "2022-12-31"}],
    },
    {"nth": {"weekday": "MON", "n": -1, "month": 8}},
    only("12-25", "MON", "TUE", "WED", "THU", "FRI"),
    only("12-26", "MON", "TUE", "WED", "THU", "FRI"),
    only("12-27", "MON", "TUE"),
    only("12-28", "MON", "TUE"),
]
# moved and added by proclamation, so that no rule has them
PROCLAIMED = ["2020-05-08", "2022-06-02", "2022-06-03", "2022-09-19", "2023-05-08"]


@pytest.mark.parametrize(
    ("country", "subdivision", "rules", "proclaimed"),
    [("DE", None, GERMANY, None), ("GB", "ENG", ENGLAND, PROCLAIMED)],
)
def test_days_off_elsewhere_as_by_the_library(
    alice: Caller,
    country: str,
    subdivision: str | None,
    rules: list[dict[str, Any]],
    proclaimed: list[str] | None,
) -> None:
    """The library gives a British holiday at a weekend and the day in lieu; these keep the latter."""
    known = holidays.country_holidays(
        country, subdiv=subdivision, years=range(2020, 2061), language="en_US"
    )
    wanted = [day for day in sorted(known) if country == "DE" or day.weekday() < 5]
    calendar = alice.one(
        "fn_create_schedule_calendar",
        name=country,
        kind="skip_dates",
        timezone="UTC",
        dates=proclaimed,
        rules=json.dumps(rules),
    )
    assert listed(alice, calendar.id, date(2020, 1, 1), date(2060, 12, 31)) == wanted


def test_seeds_beside_those_of_a_year(alice: Caller) -> None:
    names = {c.name: c for c in alice.rows("fn_get_schedule_calendars")}
    for name in ("us-federal-holidays", "tr-public-holidays", "weekdays"):
        assert names[name].is_seed
        assert names[name].rules
    year = (date(2026, 1, 1), date(2026, 12, 31))
    for by_rule, of_2026 in ((US, "us-federal-holidays-2026"), (TR, "tr-public-holidays-2026")):
        assert listed(alice, by_rule, *year) == names[of_2026].dates
    week = listed(alice, WEEKDAYS, date(2099, 1, 1), date(2099, 1, 7))
    assert [day.weekday() < 5 for day in week] == [True] * 5


def make(caller: Caller, name: str, rules: Any) -> Any:
    return caller.one(
        "fn_create_schedule_calendar",
        name=name,
        kind="skip_dates",
        timezone="UTC",
        dates=None,
        rules=json.dumps(rules),
    )


def update(caller: Caller, calendar_id: Any, rules: Any) -> Any:
    return caller.one(
        "fn_update_schedule_calendar", calendar_id=calendar_id, rules=json.dumps(rules)
    )


def listed(caller: Caller, calendar_id: Any, first: date | None, last: date | None) -> list[date]:
    found = caller.rows(
        "fn_get_calendar_dates", calendar_id=calendar_id, **{"from": first, "until": last}
    )
    return [row[0] for row in found]


def test_references_and_cycles(alice: Caller, bob: Caller) -> None:
    base = make(alice, "base", [{"month_day": "12-24"}])
    both = make(alice, "both", [{"calendar": str(base.id)}, {"calendar": US}])
    december = (date(2026, 12, 1), date(2026, 12, 31))
    assert listed(alice, both.id, *december) == [date(2026, 12, 24), date(2026, 12, 25)]
    for rules in (
        [{"calendar": str(both.id)}],
        [{"weekdays": ["MON"], "except": [{"calendar": str(base.id)}]}],
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="refer to itself"):
            update(alice, base.id, rules)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="no such calendar of yours"):
        make(bob, "theirs", [{"calendar": str(base.id)}])
    with pytest.raises(
        psycopg.errors.ForeignKeyViolation, match='"both" refers to the calendar "base"'
    ):
        alice.rows("fn_delete_schedule_calendar", calendar_id=base.id)


def test_references_go_eight_deep(alice: Caller) -> None:
    last = make(alice, "c0", [{"month_day": "12-24"}])
    first = last
    for depth in range(1, 9):
        last = make(alice, f"c{depth}", [{"calendar": str(last.id)}])
    day = (date(2026, 12, 24), date(2026, 12, 24))
    assert listed(alice, last.id, *day) == [date(2026, 12, 24)]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="eight deep"):
        make(alice, "c9", [{"calendar": str(last.id)}])
    # nor below the chain
    spare = make(alice, "spare", [{"month_day": "12-24"}])
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="eight deep"):
        update(alice, first.id, [{"calendar": str(spare.id)}])


def test_what_references_multiply_is_bounded(alice: Caller) -> None:
    """Every path counts: ten references to ten references to ten rules are a thousand."""
    leaf = make(alice, "leaf", [{"easter": day} for day in range(10)])
    middle = make(alice, "middle", [{"calendar": str(leaf.id)}] * 10)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="for each path"):
        make(alice, "top", [{"calendar": str(middle.id)}] * 10)
    top = make(alice, "top", [{"calendar": str(middle.id)}] * 2)
    # nor by a change below, of rules or of dates, nor in an exception
    for rules in (
        [{"easter": day} for day in range(20)],
        [{"easter": 1, "except": RULES[0][0] * 9}],
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="for each path"):
            update(alice, leaf.id, rules * 2)
    days = [date(2026, 1, 1) + timedelta(day) for day in range(1000)]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=str(top.id)):
        alice.rows("fn_update_schedule_calendar", calendar_id=leaf.id, dates=days)
    update(alice, leaf.id, [{"easter": day} for day in range(5)])


BAD = [
    ({}, "array"),
    ([1], "must be an object"),
    ([{}], "a rule has one of"),
    ([{"weekday": ["MON"]}], 'the nearest is "weekdays"'),
    ([{"weekdays": "MON"}], "weekdays is a list"),
    ([{"weekdays": []}], "weekdays is a list"),
    ([{"weekdays": ["MONDAY"]}], "weekdays is a list"),
    ([{"weekdays": [1]}], "weekdays is a list"),
    ([{"month_day": "2-5"}], "month_day is"),
    ([{"month_day": "02-30"}], "month_day is"),
    ([{"month_day": "12-25", "observed": "yes"}], 'observed is true or false, not "yes"'),
    ([{"month_day": "12-25", "observed": None}], "observed is true or false, not null"),
    ([{"weekdays": ["MON"], "observed": True}], 'observed goes with month_day, not "weekdays"'),
    ([{"nth": {"weekday": "MON", "n": 0}}], "nth is"),
    ([{"nth": {"weekday": "MON", "n": 6}}], "nth is"),
    ([{"nth": {"weekday": "MON", "n": "1"}}], "nth is"),
    ([{"nth": {"weekday": "MON", "n": 1, "month": 13}}], "nth is"),
    ([{"nth": {"weekday": "MON", "n": 1, "day": 1}}], "nth is"),
    ([{"nth": {"n": 1}}], "nth is"),
    ([{"easter": "1"}], "easter is a whole number"),
    ([{"easter": 301}], "easter is a whole number"),
    ([{"easter": 1.5}], "easter is a whole number"),
    ([{"calendar": "x"}], "calendar is the id"),
    ([{"calendar": None}], "calendar is the id"),
    ([{"easter": 1, "weekdays": ["MON"]}], "two rules in one"),
    ([{"easter": 1, "from": "2026-02-30"}], "from is a date"),
    ([{"easter": 1, "until": "infinity"}], "until is a date"),
    ([{"easter": 1, "until": "20000-01-01"}], "until is a date"),
    (
        [{"easter": 1, "from": "2026-02-01", "until": "2026-01-31"}],
        'until must not be before from (2026-02-01), not "2026-01-31"',
    ),
    ([{"easter": 1, "from": "2026-13-01"}], 'from 1970 to 9999, not "2026-13-01"'),
    ([{"easter": 1, "except": [{"x": 1}]}], 'rules[0].except[0] has an unknown key "x"'),
    ([{"easter": 1}] * 201, "at most 200 rules"),
]


@pytest.mark.parametrize(("rules", "words"), BAD, ids=[str(n) for n in range(len(BAD))])
def test_a_bad_rule_is_named(alice: Caller, rules: Any, words: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as error:
        make(alice, "bad", rules)
    assert words in str(error.value)
    assert error.value.diag.message_hint


def test_ranges_that_cannot_be_listed(alice: Caller) -> None:
    for first, last in (
        (date(2026, 1, 2), date(2026, 1, 1)),
        (date(1969, 12, 31), date(1970, 1, 1)),
        (None, date(2026, 1, 1)),
        (date(1970, 1, 1), date(9999, 12, 31)),
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="cannot be listed"):
            listed(alice, US, first, last)
