"""A slow, obvious second opinion on cron slots: every minute of a window is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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


@dataclass(frozen=True)
class Schedule:
    """The sets of an expression and its two rules, read without the product."""

    fields: tuple[frozenset[int], ...]
    is_real_time: bool
    needs_both_days: bool

    @classmethod
    def parse(cls, expr: str) -> Schedule:
        """Read a valid expression."""
        parts = expr.split()
        stars = [part.startswith("*") for part in parts]
        sets = tuple(values(part, field) for field, part in enumerate(parts))
        return cls(sets, stars[0] or stars[1], stars[2] or stars[4])

    def matches(self, wall: datetime) -> bool:
        """Whether a wall-clock minute is one of the expression's."""
        minutes, hours, days, months, weekdays = self.fields
        if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
            return False
        by_day, by_weekday = wall.day in days, wall.isoweekday() % 7 in weekdays
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
