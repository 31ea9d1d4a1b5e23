"""What the console's pages spell and shade."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from lf_sql.console import charts
from lf_sql.console.render import span


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0ms"), (0.0174, "17ms"), (4.21, "4.2s"), (59.6, "1m"), (205.0, "3m 25s"),
        (93_784.0, "1d 2h"), (-61.0, "-1m 1s"), (None, "–"), (timedelta(hours=6), "6h"),
    ],
)  # fmt: skip
def test_lengths_of_time(seconds: float | timedelta | None, said: str) -> None:
    assert span(seconds) == said


def shades(*slots: int) -> list[int]:
    day = date(2026, 12, 1)
    cells = [
        {"local_day": day, "local_hour": hour, "slots": n, "schedules": 1}
        for hour, n in enumerate(slots)
    ]
    ((_, row),) = charts.heat(cells).days
    return [cell["shade"] for cell in row]


def test_hours_that_are_nearly_alike_are_shaded_alike() -> None:
    quiet, busy = shades(69, 70)
    assert busy == 8
    assert busy - quiet <= 1
    assert shades(60, 120) == [1, 8]
    assert shades(0, 1, 100)[:2] == [0, 1]
