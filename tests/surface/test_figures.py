"""The manual's figures are those of the measurements, give or take a tenth."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPAN = {"µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "MB": 1.0, "GB": 1000.0}
FIGURE = re.compile(r"([\d,]*\d(?:\.\d+)?) ?(µs|ms|s|MB|GB)?(?![\w,.]*\d)\b")


def figures(text: str) -> list[float]:
    """Every number, times in seconds and sizes in MB."""
    return [float(n.replace(",", "")) * SPAN[unit] for n, unit in FIGURE.findall(text)]


def row(file: str, begin: str) -> list[str]:
    """The cells behind the first, of the first row of a table that begins so."""
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0].startswith(begin):
            return cells[1:]
    raise AssertionError(f"{file} has no row {begin!r}")


@pytest.mark.parametrize(
    ("ours", "place", "theirs", "cell", "number"),
    [
        ("a tick with nothing due", 0, "a tick with nothing due, 100,000 active", 0, 0),
        ("100,000 schedules due in one", 0, "a tick with 100,000 due", 0, 0),
        ("100,000 schedules due in one", 1, "a tick with 100,000 due", 0, 1),
        ("10,000 due of 1,000,000 stored", 0, "1,000,000 schedules stored, 10,000 due", 0, 0),
        ("10,000 due each minute", 0, "lag of a minute with 10,000 schedules", 0, 0),
        ("10,000 due each minute", 3, "lag of a minute with 10,000 schedules", 0, 1),
        ("claims and completions", 0, "claims and completions a second, 1 worker", 0, 0),
        ("claims and completions", 1, "claims and completions a second, 4 workers", 0, 0),
        ("75 played days", 0, "the whole database", 1, 0),
    ],
)
def test_the_manual_has_the_figures_of_the_measurements(
    ours: str, place: int, theirs: str, cell: int, number: int
) -> None:
    said = figures(row("installer/README.md", ours)[0])[place]
    text = re.sub(r"\bp\d+ ", "", row("tests/bench/RESULTS.md", theirs)[cell])
    measured = figures(text)[number]
    assert said == pytest.approx(measured, rel=0.1), (said, measured)
