"""Expressions, zones and instants for the properties; instants crowd around changes of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

ZONES = (
    "UTC",
    "America/New_York",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/Istanbul",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
    "Pacific/Apia",
    "Antarctica/Troll",
    "America/Sao_Paulo",
    "America/Havana",
    "America/St_Johns",
    "Africa/Casablanca",
    "Africa/Cairo",
    "Asia/Pyongyang",
    "Asia/Tehran",
    "Asia/Gaza",
    "Asia/Dhaka",
)
START = datetime(2000, 1, 1, tzinfo=UTC)


@cache
def changes(zone: str) -> tuple[datetime, ...]:
    """The minutes from 2000 to 2030 at which a zone's offset changes."""
    tz, step = ZoneInfo(zone), timedelta(days=1)
    found = []
    day = START
    while day.year < 2030:
        low, high = day, day + step
        if low.astimezone(tz).utcoffset() != high.astimezone(tz).utcoffset():
            while high - low > timedelta(minutes=1):
                middle = low + timedelta(minutes=(high - low) // timedelta(minutes=2))
                if middle.astimezone(tz).utcoffset() == day.astimezone(tz).utcoffset():
                    low = middle
                else:
                    high = middle
            found.append(high)
        day += step
    return tuple(found)


@st.composite
def fields(draw: st.DrawFn, low: int, high: int) -> str:
    """One field: mostly plain values, stars and steps, sometimes lists and ranges."""
    value = st.integers(low, high)
    kind = draw(st.sampled_from(["star", "step", "value", "value", "range", "stepped", "list"]))
    if kind == "star":
        return "*"
    if kind == "step":
        return f"*/{draw(st.integers(1, high))}"
    first, last = sorted((draw(value), draw(value)))
    return {
        "value": f"{first}",
        "range": f"{first}-{last}",
        "stepped": f"{first}-{last}/{draw(st.integers(1, high))}",
        "list": f"{first},{last}",
    }[kind]


@st.composite
def expressions(draw: st.DrawFn, *, rare: bool = False) -> str:
    """A valid expression; unless rare, one that fires within days."""
    minute = draw(fields(0, 59))
    hour = draw(st.one_of(fields(0, 23), st.sampled_from(["*", "*/2", "0", "1", "2", "3", "23"])))
    weekday = draw(st.one_of(st.just("*"), fields(0, 7)))
    if rare:
        return f"{minute} {hour} {draw(fields(1, 28))} {draw(fields(1, 12))} {weekday}"
    return f"{minute} {hour} {draw(st.sampled_from(['*', '*', '*/2', '1-28', '31']))} * {weekday}"


@st.composite
def moments(draw: st.DrawFn, *, hours: int = 30) -> tuple[str, datetime]:
    """A zone and an instant, often within `hours` of a change of its clock."""
    zone = draw(st.sampled_from(ZONES))
    near = changes(zone)
    if near and draw(st.integers(0, 4)):
        base = draw(st.sampled_from(near))
        return zone, base + timedelta(minutes=draw(st.integers(-60 * hours, 60 * hours)))
    return zone, START + timedelta(minutes=draw(st.integers(0, 60 * 24 * 365 * 29)))
