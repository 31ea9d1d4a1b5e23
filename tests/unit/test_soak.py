"""What the soak calls growth, and who writes which part of the results."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import report, soak_report

MB = 2.0**20
DAYS = 60
DROP = 32


def samples(**series: Callable[[int], float]) -> list[dict[str, float]]:
    """All series level, but those given; the first partitions go on day 32."""
    flat = dict.fromkeys(soak_report.SERIES, 100 * MB)
    flat["yardstick"] = 0.01
    return [
        {**flat, "partitions": min(n, DROP), **{key: of(n) for key, of in series.items()}}
        for n in range(DAYS)
    ]


def growing(found: list[soak_report.Verdict]) -> list[str]:
    return [v.key for v in found if v.grows]


def test_growth_until_the_first_drop_is_none() -> None:
    found = soak_report.judge(samples(runs=lambda n: min(n, DROP) * MB))
    assert growing(found) == []
    assert {v.first for v in found} == {DROP + 1 + soak_report.SETTLE}


def test_growth_that_goes_on() -> None:
    assert growing(soak_report.judge(samples(events=lambda n: (200 + n) * MB))) == ["events"]


def test_what_only_wavers() -> None:
    dice = random.Random(4)
    found = soak_report.judge(samples(**{"dead runs": lambda n: dice.randrange(20_000)}))
    assert growing(found) == []


def test_a_slower_machine_is_no_growth() -> None:
    slower = samples(purge=lambda n: 1 + n / 20, yardstick=lambda n: 0.01 * (1 + n / 20))
    for day in slower:
        for key, (_, limits) in soak_report.SERIES.items():
            if limits is soak_report.SECONDS:
                day[key] = day["yardstick"] * 10
    assert growing(soak_report.judge(slower)) == []


def test_slower_work_is_growth() -> None:
    assert growing(soak_report.judge(samples(purge=lambda n: 1 + n / 20))) == ["purge"]


def test_too_few_days() -> None:
    with pytest.raises(RuntimeError, match="no steady days"):
        soak_report.judge(samples()[: DROP + 3])


def test_each_keeps_the_part_of_the_other(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    report.keep("# How fast\n", None, file)
    assert file.read_text() == "# How fast\n"
    report.keep(None, "# What grows\n", file)
    report.keep("# How fast now\n", None, file)
    both = f"# How fast now\n\n{report.SOAK}# What grows\n"
    assert file.read_text() == both
    report.keep(None, "# What grows now\n", file)
    assert file.read_text() == both.replace("grows", "grows now")


def test_the_plot_has_every_series() -> None:
    plot = soak_report.plot(soak_report.judge(samples()))
    for name, _ in soak_report.SERIES.values():
        assert name.replace("'", "&#x27;") in plot
