"""What lint advises mends what it is about, and every field and window is looked at."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import pytest

from tests.support.scenario import Scenario


def lint(scenario: Scenario, schedule: UUID) -> list[Any]:
    return scenario.db.rows("select * from lenses.fn_lint_schedule(%s)", [schedule])


def clock_changes(scenario: Scenario, expr: str) -> list[Any]:
    schedule = scenario.make_schedule(expr, timezone="America/New_York", next_run_at=None)
    return [row for row in lint(scenario, schedule) if row.code == "clock_change"]


@pytest.mark.parametrize(
    ("expr", "advice", "instead"),
    [
        ("*/15 2 * * *", "the minute as 0-59/15", "0-59/15 2 * * *"),
        ("0 */2 * * *", "the hour as 0-23/2", "0 0-23/2 * * *"),
        ("* 1-2 * * *", "the minute as 0-59", "0-59 1-2 * * *"),
        ("*/20,7 * * * *", "the minute as 0-59/20,7 and the hour as 0-23", "0-59/20,7 0-23 * * *"),
        (" 0\t* * * * ", "the hour as 0-23", "0 0-23 * * *"),
    ],
)
def test_the_field_that_begins_with_a_star_is_named(
    scenario: Scenario, expr: str, advice: str, instead: str
) -> None:
    bad = [row for row in clock_changes(scenario, expr) if row.severity == "warning"]
    assert bad
    assert {row.hint for row in bad} == {f"Write {advice}, without a leading *, or choose UTC."}
    assert {row.severity for row in clock_changes(scenario, instead)} <= {"info"}


STEPS = [
    ("*/7 * * * *", "minute", 4, 7),
    ("3/7 * * * *", "minute", 4, 7),
    ("50/7 * * * *", "minute", 53, 7),
    ("0 0 */2 * *", "day-of-month", 1, 2),
    ("0 0 1 */5 *", "month", 2, 5),
    ("0 0 1 FEB/5 *", "month", 2, 5),
    ("0 0 * * */2", "day-of-week", 1, 2),
    ("0 0 * * 1/2", "day-of-week", 3, 2),
    ("0 0 * * MON/2", "day-of-week", 3, 2),
]


@pytest.mark.parametrize(("expr", "field", "last", "step"), STEPS)
def test_steps_of_every_field(
    scenario: Scenario, expr: str, field: str, last: int, step: int
) -> None:
    [row] = [
        row
        for row in lint(scenario, scenario.make_schedule(expr, next_run_at=None))
        if row.code == "uneven_step"
    ]
    assert f" in the {field} field does not divide " in row.message
    assert row.message.endswith(f" is {last}, not {step}")
    units = {"minute": "hour", "month": "year", "day-of-month": "month", "day-of-week": "week"}
    assert f"each {units[field]} " in row.message


@pytest.mark.parametrize("expr", ["0 0 1 */4 *", "0 0 1 */6 *", "0 0 * * 1-5/2", "0 0 * * */1"])
def test_even_steps(scenario: Scenario, expr: str) -> None:
    assert lint(scenario, scenario.make_schedule(expr, next_run_at=None)) == []


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"cron": "0 9 29 2 *", "start_at": "2029-01-01Z", "end_at": "2031-12-31Z"}, True),
        ({"cron": "0 9 29 2 *", "start_at": "2029-01-01Z", "end_at": "2032-12-31Z"}, False),
        ({"cron": "0 9 * * 1", "start_at": "2029-01-02Z", "end_at": "2029-01-07Z"}, True),
        ({"cron": None, "run_at": "2029-02-01Z", "end_at": "2029-01-01Z"}, True),
        ({"cron": None, "interval_ms": 86_400_000, "start_at": "2029-01-01Z",
          "end_at": "2029-01-01Z"}, False),
    ],
)  # fmt: skip
def test_a_window_without_a_slot(scenario: Scenario, columns: dict[str, Any], found: bool) -> None:
    columns = {"next_run_at": None, **columns}
    schedule = scenario.make_schedule(columns.pop("cron"), **columns)
    rows = [row for row in lint(scenario, schedule) if row.code == "rare"]
    assert [row.severity for row in rows] == ["error"] * found
    assert all(re.search(r"no slot from 20.* until its end at 20.*never fires", r.message)
               for r in rows)  # fmt: skip


def test_a_window_that_is_over_after_a_run_is_fine(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 29 2 *", next_run_at=None, end_at="2028-03-01Z")
    scenario.tick(scenario.schedule(schedule).next_run_at)
    assert scenario.schedule(schedule).next_run_at is None
    assert lint(scenario, schedule) == []
