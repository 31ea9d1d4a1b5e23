"""What holds for every expression, zone and instant; a walk over the minutes and cronsim as judges."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.cron.oracle import MINUTE, slots
from tests.cron.strategies import expressions, fields, moments
from tests.support.database import Database

quick = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SPEC = "lenses.fn_cron_parse(%(expr)s)"
NEXT = "select array(select s from lenses.fn_cron_next(%(expr)s, %(zone)s, %(at)s, %(n)s) as s)"


@quick
@given(expr=expressions(), moment=moments())
def test_agrees_with_a_walk_over_the_minutes(
    shared_db: Database, expr: str, moment: tuple[str, datetime]
) -> None:
    zone, after = moment
    until = after + timedelta(hours=50)
    expected = list(slots(expr, zone, after, until))
    given_ = {"expr": expr, "zone": zone, "at": after, "n": len(expected) + 1, "until": until}
    found = shared_db.value(NEXT, given_)
    assert found[: len(expected)] == expected
    assert all(slot > until for slot in found[len(expected) :])
    count = f"select lenses.fn_cron_count({SPEC}, %(zone)s, %(at)s, %(until)s)"
    assert shared_db.value(count, given_) == len(expected)


@quick
@given(expr=expressions(rare=True), moment=moments(hours=3))
def test_next_increases(shared_db: Database, expr: str, moment: tuple[str, datetime]) -> None:
    zone, after = moment
    found = shared_db.value(NEXT, {"expr": expr, "zone": zone, "at": after, "n": 20})
    assert all(a < b for a, b in zip([after, *found], found, strict=False))
    assert len(found) == 20 or not found


@quick
@given(expr=expressions(), moment=moments(hours=3), seconds=st.integers(0, 59))
def test_matches_is_next_of_the_minute_before(
    shared_db: Database, expr: str, moment: tuple[str, datetime], seconds: int
) -> None:
    zone, at = moment
    found = shared_db.row(
        "select lenses.fn_cron_matches_now(%(expr)s, %(late)s, %(zone)s) as matches, "
        "lenses.fn_cron_next_after(%(expr)s, %(zone)s, %(before)s) as next",
        {
            "expr": expr,
            "zone": zone,
            "late": at + timedelta(seconds=seconds),
            "before": at - MINUTE,
        },
    )
    assert found.matches is (found.next == at)


@quick
@given(expr=expressions(rare=True), moment=moments(), n=st.integers(1, 400))
def test_count_and_nth_agree_with_next(
    shared_db: Database, expr: str, moment: tuple[str, datetime], n: int
) -> None:
    zone, after = moment
    given_ = {"expr": expr, "zone": zone, "at": after, "n": n}
    found = shared_db.value(NEXT, given_)
    nth = shared_db.value(
        f"select lenses.fn_cron_nth_after({SPEC}, %(zone)s, %(at)s, %(n)s)", given_
    )
    assert nth == (found[-1] if found else None)
    if found:
        count = f"select lenses.fn_cron_count({SPEC}, %(zone)s, %(at)s, %(until)s)"
        assert shared_db.value(count, {**given_, "until": found[-1]}) == n
        assert shared_db.value(count, {**given_, "until": found[-1] - MINUTE}) == n - 1


@quick
@given(expr=expressions(rare=True), moment=moments())
def test_short_way_and_full_rule_agree(
    shared_db: Database, expr: str, moment: tuple[str, datetime]
) -> None:
    found = shared_db.row(
        f"select lenses.fn_cron_next_after_spec({SPEC}, %(zone)s, %(at)s) as short, "
        f"lenses.fn_cron_next_after_transition({SPEC}, %(zone)s, %(at)s) as full",
        {"expr": expr, "zone": moment[0], "at": moment[1]},
    )
    assert found.short == found.full


@quick
@given(
    minute=fields(0, 59),
    hour=fields(0, 23),
    day=fields(1, 28),
    month=fields(1, 12),
    weekday=st.sampled_from(["*", "0", "3", "1-5", "2,4", "7", "6,0"]),
    zone=st.sampled_from(["UTC", "America/New_York", "Europe/Berlin"]),
    after=st.datetimes(datetime(2005, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),
)
def test_agrees_with_cronsim(
    shared_db: Database,
    minute: str,
    hour: str,
    day: str,
    month: str,
    weekday: str,
    zone: str,
    after: datetime,
) -> None:
    """Its faults lie elsewhere: a-a/n, names in ranges, steps on weekdays, other zones' gaps."""
    expr = f"{minute} {hour} {day} {month} {weekday}"
    assume(not re.search(r"\b(\d+)-\1/", expr))
    after = after.replace(microsecond=0)
    search = CronSim(expr, after.astimezone(UTC if zone == "UTC" else ZoneInfo(zone)))
    expected = [next(search).astimezone(UTC) for _ in range(5)]
    assert shared_db.value(NEXT, {"expr": expr, "zone": zone, "at": after, "n": 5}) == expected
