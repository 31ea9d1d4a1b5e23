"""Times, spans and ids in the words of a person."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

STEPS = (  # up to how many seconds, what one is, its word
    (100, 1, "s"),
    (100 * 60, 60, "min"),
    (48 * 3600, 3600, "h"),
    (100 * 86_400, 86_400, "d"),
    (730 * 86_400, 30 * 86_400, "mo"),
)


def now() -> datetime:
    """The viewer's clock."""
    return datetime.now(UTC)


def zone_of(name: str | None) -> tzinfo | None:
    """A zone that this machine knows; None, which is its own, where it does not."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def distance(at: datetime) -> str:
    """`in 2 d`, `5 min ago`."""
    seconds = (at - now()).total_seconds()
    size = abs(seconds)
    if size < 1:
        return "now"
    _, one, word = next((s for s in STEPS if size < s[0]), (0, 365 * 86_400, "y"))
    text = f"{int(size / one)} {word}"
    return f"in {text}" if seconds > 0 else f"{text} ago"


def clock(at: datetime, zone: tzinfo | None = None) -> str:
    """`Mon 09:00 +03` within six days, `7 Dec 09:00 +03` within the year, then `7 Dec 2028`."""
    with suppress(OverflowError):  # at the end of what Python can hold
        at = at.astimezone(zone)
    away = abs(at - now())
    if away < timedelta(days=6):
        day = f"{at:%a}"
    elif away < timedelta(days=300):
        day = f"{at.day} {at:%b}"
    else:
        return f"{at.day} {at:%b} {at.year:04}"
    return f"{day} {at:%H:%M} {at:%Z}".rstrip()


def when(at: datetime, zone: tzinfo | None = None) -> str:
    """`Mon 09:00 +03, in 2 d`."""
    return f"{clock(at, zone)}, {distance(at)}"


def digits_needed(ids: Iterable[UUID], least: int = 8) -> int:
    """How many characters of these ids tell each from the others."""
    texts = {str(one) for one in ids}
    return next((n for n in range(least, 36) if len({t[:n] for t in texts}) == len(texts)), 36)
