"""What the soak has found: a verdict for each series, as a table and as a plot."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from tests.bench import report

PLOT = Path(__file__).with_name("soak.svg")
SETTLE = 5  # days after the first drop of partitions until space is used again as it will be
# Growth over the steady days that is none: a share of the level, and how much at least.
BYTES, MEMORY, ROWS, SECONDS = (0.05, 2**21), (0.05, 2**20), (0.5, 1000.0), (0.25, 0.001)
SERIES = {
    "runs": ("runs, with indexes", BYTES),
    "events": ("events, with indexes", BYTES),
    "logs": ("logs, with indexes", BYTES),
    "default partitions": ("default partitions of events and logs", BYTES),
    "schedules": ("schedules", BYTES),
    "due times": ("due times", BYTES),
    "counts": ("counts of runs", BYTES),
    "ticks": ("ticks", BYTES),
    "outbox": ("outbox", BYTES),
    "catalogue": ("PostgreSQL's catalogue", BYTES),
    "database": ("the whole database", BYTES),
    "dead runs": ("dead rows of runs", ROWS),
    "dead schedules": ("dead rows of schedules and due times", ROWS),
    "dead counts": ("dead rows of counts, ticks, outbox", ROWS),
    "dead catalogue": ("dead rows of the catalogue", ROWS),
    "driver": ("memory of the driver's backend", MEMORY),
    "executor": ("memory of the largest executor's backend", MEMORY),
    "full tick": ("slowest full tick of a day", SECONDS),
    "idle tick": ("a tick with nothing due", SECONDS),
    "claim p50": ("claim of 200, p50", SECONDS),
    "claim p99": ("claim of 200, p99", SECONDS),
    "completion p50": ("completion of 200, p50", SECONDS),
    "completion p99": ("completion of 200, p99", SECONDS),
    "purge": ("the purge of a day", SECONDS),
}


@dataclass(frozen=True)
class Verdict:
    """`growth`: of the fitted line, over all steady days."""

    key: str
    values: Sequence[float]  # of all days
    first: int  # the first steady day
    level: float
    growth: float
    grows: bool

    @property
    def name(self) -> str:
        return SERIES[self.key][0]

    def said(self, value: float) -> str:
        limits = SERIES[self.key][1]
        if limits is SECONDS:
            return report.ms(value)
        if limits is ROWS:
            return f"{value:,.0f}"
        return f"{value / 2**20:,.1f} MB"


def verdict(key: str, values: Sequence[float], first: int) -> Verdict:
    """It grows where the fitted line rises by more than its limits, and by more than chance explains."""
    steady = list(values[first:])
    days = range(len(steady))
    slope, start = statistics.linear_regression(days, steady)
    level = statistics.fmean(steady)
    left = sum((y - start - slope * x) ** 2 for x, y in zip(days, steady, strict=True))
    spread = sum((x - statistics.fmean(days)) ** 2 for x in days)
    error = (left / max(len(steady) - 2, 1) / spread) ** 0.5
    growth = slope * (len(steady) - 1)
    share, least = SERIES[key][1]
    grows = growth > max(share * level, least) and slope > 3 * error
    return Verdict(key, values, first, level, growth, grows)


def first_drop(partitions: Sequence[float]) -> int:
    """The day in whose night the first partitions went: from then on their number stays."""
    return next(
        (n for n in range(1, len(partitions)) if partitions[n] <= partitions[n - 1]),
        len(partitions),
    )


def judge(samples: Sequence[Mapping[str, float]]) -> list[Verdict]:
    first = first_drop([s["partitions"] for s in samples]) + SETTLE
    if len(samples) - first < 3:
        raise RuntimeError(f"no steady days: they would begin with day {first + 1}")
    usual = statistics.fmean(s["yardstick"] for s in samples[first:])
    found = []
    for key, (_, limits) in SERIES.items():
        values = [s[key] for s in samples]
        if limits is SECONDS:  # what the machine is slower at that day, all is
            values = [s[key] / s["yardstick"] * usual for s in samples]
        found.append(verdict(key, values, first))
    return found


def table(found: Sequence[Verdict]) -> str:
    first = found[0].first
    lines = [
        ("what", f"day {first + 1}", f"day {len(found[0].values)}", "level", "trend", "grows"),
        *(
            (
                v.name,
                v.said(v.values[first]),
                v.said(v.values[-1]),
                v.said(v.level),
                f"{v.growth / v.level:+.1%}" if v.level else "0",
                "**YES**" if v.grows else "no",
            )
            for v in found
        ),
    ]
    return report.lines_of(lines)


def write(
    found: Sequence[Verdict],
    samples: Sequence[Mapping[str, float]],
    server: str,
    seconds: float,
    runs: int,
) -> None:
    first = found[0].first
    text = (
        "# What grows\n\n"
        f"{datetime.now(UTC):%Y-%m-%d}; {server}; {report.machine()}; the soak took "
        f"{seconds / 60:.0f} minutes.\n\n"
        f"{len(samples)} played days of {runs:,} runs, 10,000 a full minute: the tick beside 4 executors that claim\n"
        "and complete 200 at a time, autovacuum, the nightly purge, a retention of 31 days. The first\n"
        f"partitions went on day {first - SETTLE + 1}; days {first + 1} to {len(samples)} are steady. Level: their mean. Trend: what a line fitted\n"
        "to them (least squares) rises from the first to the last of them, as a share of the level. It grows where that\n"
        "is more than 5 % of bytes (and 2 MB, of memory 1 MB), half of dead rows (and 1,000) or a quarter of times (and\n"
        "1 ms), and more than three standard errors. Times are put right by a yardstick, a sum of 100,000 numbers that\n"
        "the driver's connection asks for every hour: other work on the machine slows both.\n\n"
        + table(found)
        + "\n![Each series, day by day](soak.svg)\n"
    )
    report.keep(None, text)
    PLOT.write_text(plot(found))


WIDE, HIGH, ACROSS = 250, 110, 4


def plot(found: Sequence[Verdict]) -> str:
    """A small picture a series, from zero up: all days, the fitted line, where the steady days begin."""
    rows = -(-len(found) // ACROSS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE * ACROSS} {HIGH * rows}" '
        'font-family="sans-serif" font-size="10">',
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for n, v in enumerate(found):
        parts.append(f'<g transform="translate({n % ACROSS * WIDE} {n // ACROSS * HIGH})">')
        parts += panel(v)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def panel(v: Verdict) -> list[str]:
    left, top, wide, high = 10, 30, WIDE - 24, HIGH - 44
    most = max(*v.values, 1e-9)
    last = len(v.values) - 1

    def at(day: float, value: float) -> str:
        return f"{left + day / last * wide:.1f},{top + high - max(value, 0) / most * high:.1f}"

    line = " ".join(at(day, value) for day, value in enumerate(v.values))
    ends = f"{at(v.first, v.level - v.growth / 2)} {at(last, v.level + v.growth / 2)}"
    begins = left + v.first / last * wide
    color = "#c00" if v.grows else "#282"
    return [
        f'<text x="{left}" y="13" font-weight="bold">{escape(v.name)}</text>',
        f'<text x="{left}" y="25" fill="{color}">{v.said(v.level)}, '
        f"{'grows' if v.grows else 'does not grow'}; at most {v.said(most)}</text>",
        f'<path d="M{left} {top}V{top + high}H{left + wide}" fill="none" stroke="#999"/>',
        f'<path d="M{begins:.1f} {top}V{top + high}" stroke="#999" stroke-dasharray="2 2"/>',
        f'<polyline points="{line}" fill="none" stroke="#36c"/>',
        f'<polyline points="{ends}" fill="none" stroke="{color}" stroke-dasharray="5 3"/>',
    ]
