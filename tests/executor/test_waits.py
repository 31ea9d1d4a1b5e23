"""A handler's `retry_after` of any type: what is a number of seconds counts, and the cause stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from fractions import Fraction
from typing import Any

import pytest

from lf_sql import Executor, RateLimited, Run, RunFailed
from lf_sql.executor.failures import seconds_of, verdict_of
from tests.executor.conftest import Place

DAY = 86_400
# What a handler gives; how many seconds that is.
WAITS: list[tuple[Any, float | None]] = [
    (5, 5), (5.5, 5.5), (Decimal("5.5"), 5.5), (Fraction(11, 2), 5.5), (timedelta(minutes=2), 120),
    ("120", 120), (" 120 ", 120), ("5.5", 5.5), (10**400, DAY), (Decimal("1e400"), DAY),
    (Fraction(10**400), DAY), (timedelta.max, DAY), ("9" * 200, DAY), (1e9, DAY),
    (0, None), (-5, None), (-(10**400), None), (timedelta(-1), None), ("0", None), ("-5", None),
    (True, None), (False, None), (float("nan"), None), (float("inf"), None),
    (Decimal("NaN"), None), (Decimal("sNaN"), None), (Decimal("Infinity"), None), ("nan", None),
    ("inf", None), ("1e3", None), ("soon", None), ("", None), ("9" * 9000, DAY), (b"5", None),
    (None, None), ([5], None), ({}, None), (5j, None), (object(), None), (datetime.now(UTC), None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("wait", "seconds"), WAITS, ids=[f"{n}-{type(w).__name__}" for n, (w, _) in enumerate(WAITS)]
)
def test_what_a_wait_is_in_seconds(wait: Any, seconds: float | None) -> None:
    found = seconds_of(wait)
    assert found == seconds and type(found) in (float, type(None))
    verdict = verdict_of(RateLimited(wait), Decimal(0))
    assert (verdict.cause, verdict.text, verdict.retry_after) == ("rate_limit", "rate limited", seconds)  # fmt: skip


class Bare(RunFailed):
    cause = "out_of_paper"

    def __init__(self, printer: str) -> None:
        self.printer = printer


class Patient(Bare):
    retry_after = timedelta(hours=2)
    retry = False


class Mute(RateLimited):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_a_subclass_keeps_what_its_class_says() -> None:
    verdict = verdict_of(Bare("laser"), Decimal(0))
    assert (verdict.cause, verdict.text) == ("out_of_paper", "laser")
    assert (verdict.retry_after, verdict.is_final) == (None, False)
    verdict = verdict_of(Patient("laser"), Decimal(0))
    assert (verdict.cause, verdict.retry_after, verdict.is_final) == ("out_of_paper", 7200, True)
    verdict = verdict_of(Mute(60), Decimal(0))
    assert (verdict.cause, verdict.retry_after) == ("rate_limit", 60)
    assert "cannot be told: ValueError" in verdict.text


# What is raised; whether the next attempt waits for at least an hour.
RAISED: dict[str, tuple[Callable[[], RunFailed], bool]] = {
    "header": (lambda: RateLimited("3600"), True),
    "date": (lambda: RateLimited(_in_two_hours()), True),
    "fraction": (lambda: RateLimited(Fraction(7201, 2)), True),
    "decimal": (lambda: RateLimited(Decimal(3600)), True),
    "timedelta": (lambda: RateLimited(timedelta(hours=1)), True),
    "bool": (lambda: RateLimited(True), False),
    "words": (lambda: RateLimited("soon"), False),
    "endless": (lambda: RateLimited(float("inf")), False),
    "object": (lambda: RateLimited(object()), False),  # type: ignore[arg-type]
}


def _in_two_hours() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)


def test_whatever_the_wait_the_policy_knows_the_cause(place: Place) -> None:
    """And the executor goes on."""
    executor = Executor()

    @executor.default
    def handle(run: Run) -> None:
        raise RAISED[run.inputs][0]()

    policy = {"maxRetries": 1, "retryOn": ["rate_limit"], "backoffMs": 600_000}
    runs = {name: place.start(name, inputs=name, **policy)[0] for name in RAISED}
    before = datetime.now(UTC)
    outcomes = place.all(executor)
    assert {outcome.verdict.cause for outcome in outcomes} == {"rate_limit"}
    rows = {name: place.row(run) for name, run in runs.items()}
    assert {name: row.status for name, row in rows.items()} == dict.fromkeys(RAISED, "pending")
    hour = timedelta(hours=1)
    waits = {name: row.available_at - before >= hour for name, row in rows.items()}
    assert waits == {name: is_long for name, (_, is_long) in RAISED.items()}
