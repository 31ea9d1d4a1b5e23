"""What the pictures show, worked out here so that the templates only draw."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

OUTCOMES = {
    "SUCCESS": "good",
    "STARTED": "busy",
    "ENQUEUED": "wait",
    "DEFERRED": "wait",
    "SKIPPED": "skip",
    "FAILED": "bad",
}


@dataclass(frozen=True)
class Mark:
    """Something at a place along a line, in percent of its length."""

    at: float
    row: Mapping[str, Any]


def timeline(ticks: Sequence[Mapping[str, Any]], now: datetime) -> list[Mark]:
    """The next ticks along a line that begins now and ends with the last of them."""
    if not ticks:
        return []
    reach = max((ticks[-1]["tick_at"] - now).total_seconds(), 1.0)
    return [
        Mark(2 + 96 * max((tick["tick_at"] - now).total_seconds(), 0) / reach, tick)
        for tick in ticks
    ]


@dataclass(frozen=True)
class Drift:
    """How late runs came: run minus slot, in seconds, oldest first."""

    bars: list[Mark]
    median: float
    p95: float
    worst: float
    top: float


def drift(slots: Iterable[Mapping[str, Any]]) -> Drift | None:
    """Bars for the slots that got a run, each with its place; None where there is none."""
    lags = [
        (place, (slot["created_at"] - slot["run_at"]).total_seconds(), slot)
        for place, slot in enumerate(slots)
        if slot["run_id"] is not None and slot["run_at"] is not None
    ]
    if not lags:
        return None
    ordered = sorted(lag for _, lag, _ in lags)
    top = max(ordered[-1], 1.0)
    bars = [
        Mark(max(100 * max(lag, 0) / top, 2), {**slot, "lag": lag, "place": place})
        for place, lag, slot in lags
    ]
    return Drift(bars, _quantile(ordered, 0.5), _quantile(ordered, 0.95), ordered[-1], top)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


@dataclass(frozen=True)
class Day:
    """A day of a drawn year."""

    day: date
    is_listed: bool
    is_today: bool
    is_due: bool


@dataclass(frozen=True)
class Month:
    name: str
    lead: int  # blank days before the first, weeks beginning on Monday
    days: list[Day]


def year(number: int, listed: Iterable[date], due: Iterable[date], today: date) -> list[Month]:
    """A calendar's year, month by month."""
    dates, slots = set(listed), set(due)
    months = []
    for month in range(1, 13):
        lead, length = calendar.monthrange(number, month)
        days = [date(number, month, day) for day in range(1, length + 1)]
        months.append(
            Month(
                calendar.month_abbr[month],
                lead,
                [Day(day, day in dates, day == today, day in slots) for day in days],
            )
        )
    return months


def years_of(dates: Iterable[date], today: date) -> list[int]:
    """The years of a calendar, the current one first where it is among them."""
    found = sorted({day.year for day in dates})
    return sorted(found, key=lambda number: (number < today.year, number)) or [today.year]


@dataclass(frozen=True)
class Heat:
    """A week of hours: how many slots, and how hot that is from 0 to 8."""

    days: list[tuple[date, list[Mapping[str, Any]]]]
    top: int
    total: int
    busiest: Mapping[str, Any] | None


def heat(cells: Sequence[Mapping[str, Any]]) -> Heat:
    """Days by hours; shades run up to the busiest hour, from the quietest or half of it.

    Hours that have nearly the same number of slots have nearly the same shade.
    """
    top = max((cell["slots"] for cell in cells), default=0)
    low = min([top // 2, *(cell["slots"] for cell in cells)])
    days: dict[date, list[Mapping[str, Any]]] = {}
    for cell in cells:
        share = ((cell["slots"] - low) / (top - low)) ** 0.7 if top > low else 0.3
        shade = 1 + round(share * 7) if cell["slots"] else 0
        days.setdefault(cell["local_day"], []).append({**cell, "shade": shade})
    busiest = max(cells, key=lambda cell: cell["slots"], default=None) if top else None
    return Heat(list(days.items()), top, sum(cell["slots"] for cell in cells), busiest)


def interval_words(milliseconds: int) -> str:
    """A period as lenses.fn_interval_describe says it: "Every 1 hour 30 minutes"."""
    sizes = {"day": 86400000, "hour": 3600000, "minute": 60000, "second": 1000, "millisecond": 1}
    parts: list[tuple[int, str]] = []
    for unit, size in sizes.items():
        count, milliseconds = divmod(milliseconds, size)
        if count:
            parts.append((count, unit))
    if len(parts) == 1 and parts[0][0] == 1:
        return f"Every {parts[0][1]}"
    return "Every " + " ".join(f"{n} {unit}{'' if n == 1 else 's'}" for n, unit in parts)


# What a cell of the timeline shows where it holds several slots: the first of these that is there.
RANKS = ("bad", "skip", "wait", "busy", "good", "quiet", "ahead")
SAID = {
    "bad": "failed",
    "skip": "skipped",
    "wait": "waiting",
    "busy": "running",
    "good": "ran",
    "quiet": "will be skipped",
    "ahead": "will run",
}


@dataclass(frozen=True)
class Cell:
    """Slots that are close together on a line: where, how many, and the most common outcome."""

    place: int
    width: int
    tone: str
    slots: int
    at: datetime
    said: str


def cells(
    was: Iterable[Mapping[str, Any]],
    comes: Iterable[Mapping[str, Any]],
    start: datetime,
    end: datetime,
    count: int,
) -> list[Cell]:
    """The cells of a row, `count` from start to end, that hold a slot."""
    size = (end - start) / count

    def place(at: datetime) -> int:
        return min(max(int((at - start) / size), 0), count - 1)

    held: dict[int, list[tuple[str, int, datetime, int]]] = {}
    for each in was:
        first, last = place(each["at"]), place(each["until"])
        tone = OUTCOMES.get(each["status"], "skip")
        held.setdefault(first, []).append((tone, each["slots"], each["at"], last - first + 1))
    for each in comes:
        tone = "ahead" if each["decision"] in ("dispatch", "defer") else "quiet"
        held.setdefault(place(each["at"]), []).append((tone, 1, each["at"], 1))
    found = []
    for at, slots in sorted(held.items()):
        tones = [tone for tone, *_ in slots]
        said = [
            f"{sum(n for each, n, *_ in slots if each == tone)} {SAID[tone]}"
            for tone in RANKS
            if tone in tones
        ]
        found.append(
            Cell(
                at,
                min(max(width for *_, width in slots), count - at),
                next(tone for tone in RANKS if tone in tones),
                sum(n for _, n, *_ in slots),
                min(when for _, _, when, _ in slots),
                ", ".join(said),
            )
        )
    return found
