"""A slow, obvious second opinion on cron slots: every minute of a window is looked at."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
LOWEST = (0, 0, 1, 1, 0)
HIGHEST = (59, 23, 31, 12, 6)
NAMES = (
    (),
    (),
    (),
    ("", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"),
    ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"),
)


def value(text: str, field: int) -> int:
    """A number or a name of a field."""
    return int(text) if text.isdigit() else NAMES[field].index(text.upper())


def values(text: str, field: int) -> frozenset[int]:
    """What one field of a valid expression allows."""
    found: set[int] = set()
    for item in text.split(","):
        span, _, step = item.partition("/")
        first, dash, last = span.partition("-")
        if first == "*":
            low, high = LOWEST[field], HIGHEST[field]
        else:
            low = value(first, field)
            high = value(last, field) if dash else (HIGHEST[field] if step else low)
            if field == 4 and last.upper() == "SUN" and first.upper() != "SUN":
                high = 7
        found.update(range(low, max(low, high) + 1, int(step or 1)))
    return frozenset(v % 7 for v in found) if field == 4 else frozenset(found)


def plain(text: str) -> str:
    """A day field without its day items."""
    return ",".join(item for item in text.split(",") if not re.search(r"[LW#]", item_word(item)))


def item_word(item: str) -> str:
    """An item in capitals, WED without its W."""
    return item.upper().replace("WED", "3")


def day_items(text: str) -> tuple[str, ...]:
    """The items L, L-n, nW, LW, d#k and dL of a day field."""
    return tuple(item_word(i) for i in text.split(",") if re.search(r"[LW#]", item_word(i)))


def is_named(item: str, day: date) -> bool:
    """Whether an item names a day."""
    return day == named_day(item, day.year, day.month)


@cache
def named_day(item: str, year: int, month: int) -> date | None:
    """The day of a month that an item names, looked up in the month's sheet."""
    sheet = [date(year, month, n) for n in range(1, monthrange(year, month)[1] + 1)]
    working = [d for d in sheet if d.weekday() < 5]
    if item == "LW":
        return working[-1]
    if item.startswith("L"):
        back = int(item[2:] or 0)
        return sheet[-1 - back] if back < len(sheet) else None
    if item.endswith("W"):
        nth = int(item[:-1])
        return min(working, key=lambda d: abs(d.day - nth)) if nth <= len(sheet) else None
    weekday = value(item[:-1] if item.endswith("L") else item.split("#")[0], 4) % 7
    such = [d for d in sheet if d.isoweekday() % 7 == weekday]
    if item.endswith("L"):
        return such[-1]
    nth = int(item.split("#")[1])
    return such[nth - 1] if nth <= len(such) else None


@dataclass(frozen=True)
class Schedule:
    """The sets of an expression and its two rules, read without the product."""

    fields: tuple[frozenset[int], ...]
    is_real_time: bool
    needs_both_days: bool
    day_items: tuple[str, ...] = ()
    weekday_items: tuple[str, ...] = ()

    @classmethod
    def parse(cls, expr: str) -> Schedule:
        """Read a valid expression."""
        parts = expr.split()
        stars = [part.startswith("*") for part in parts]
        items = [day_items(parts[2]), day_items(parts[4])]
        parts[2], parts[4] = plain(parts[2]), plain(parts[4])
        sets = tuple(
            values(part, field) if part else frozenset() for field, part in enumerate(parts)
        )
        return cls(sets, stars[0] or stars[1], stars[2] or stars[4], *items)

    def matches(self, wall: datetime) -> bool:
        """Whether a wall-clock minute is one of the expression's."""
        minutes, hours, days, months, weekdays = self.fields
        if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
            return False
        by_day = wall.day in days or any(is_named(i, wall.date()) for i in self.day_items)
        by_weekday = wall.isoweekday() % 7 in weekdays or any(
            is_named(i, wall.date()) for i in self.weekday_items
        )
        return (by_day and by_weekday) if self.needs_both_days else (by_day or by_weekday)


def slots(expr: str, zone: str, after: datetime, until: datetime) -> Iterator[datetime]:
    """Every slot in (after, until], both whole minutes in UTC, by a walk over the minutes."""
    schedule, tz = Schedule.parse(expr), ZoneInfo(zone)
    now = after - timedelta(days=2)
    seen = now.astimezone(tz).replace(tzinfo=None, second=0)
    while now < until:
        now += MINUTE
        wall = now.astimezone(tz).replace(tzinfo=None, second=0, fold=0)
        if schedule.is_real_time:
            fires = now > after and schedule.matches(wall)
        else:
            fires = False
            while seen < wall:
                seen += MINUTE
                fires = schedule.matches(seen) or fires
        if fires and now > after:
            yield now.astimezone(UTC)
