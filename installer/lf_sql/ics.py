"""Dates from an .ics file, recurring events expanded."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lf_sql.errors import LfSqlError

MOST_BYTES = 10 * 1024 * 1024
EXTRA = "pip install 'lf-sql[calendars]'"
WHEN = ("DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID")
MEND = "mend the file: DTSTART;VALUE=DATE:20261224, DTSTART:20261224T090000Z, DURATION:P1D"


def dates(file: Path, years: list[int], timezone: str) -> dict[date, str]:
    """Each day on which an event takes place, in `timezone`, within `years`, with its summary."""
    try:
        import icalendar
    except ImportError:
        raise LfSqlError("reading .ics files needs the extra package icalendar", EXTRA) from None
    try:
        if file.stat().st_size > MOST_BYTES:
            raise LfSqlError(f"{file} is larger than {MOST_BYTES // 2**20} MB")
        calendar = icalendar.Calendar.from_ical(file.read_bytes())
    except OSError as error:
        raise LfSqlError(
            f"{file}: {error.strerror}", "give the path of an .ics file, or --country US"
        ) from None
    except (ValueError, KeyError, IndexError) as error:
        raise LfSqlError(
            f"{file} is no iCalendar file: {error}", "give an .ics file: it has BEGIN:VCALENDAR"
        ) from None
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        raise LfSqlError(f"unknown time zone {timezone!r}", "write one like Europe/Rome") from None
    found: dict[date, str] = {}
    first, last = date(years[0], 1, 1), date(years[-1], 12, 31)
    for event in _events(file, calendar, first, last):
        summary = str(event.get("SUMMARY", "")) or "event"
        try:
            days = _days(event, zone)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            raise LfSqlError(f"{file}: {_written(event)} cannot be read as days", MEND) from None
        for day in days:
            if day.year in years:
                found.setdefault(day, summary)
    if not found:
        raise LfSqlError(
            f"{file} has no event from {first} to {last}", "say which years: --years 2026-2030"
        )
    return dict(sorted(found.items()))


def _events(file: Path, calendar: Any, first: date, last: date) -> list[Any]:
    events = [e for e in calendar.walk("VEVENT") if str(e.get("STATUS", "")) != "CANCELLED"]
    for event in events:
        for name, reason in event.errors:
            if name in WHEN:
                value = str(event.get(name, reason))[:80]  # icalendar 6 keeps the reason alone
                raise LfSqlError(f"{file}: {name} {value!r} cannot be read", MEND)
    if not any(key in event for event in events for key in ("RRULE", "RDATE", "RECURRENCE-ID")):
        return [event for event in events if "DTSTART" in event]
    try:
        import recurring_ical_events
    except ImportError:
        raise LfSqlError(
            "this file has recurring events: expanding them needs recurring-ical-events (LGPL)",
            "pip install 'lf-sql[recurring]'",
        ) from None
    try:
        expanded = recurring_ical_events.of(calendar).between(first, last + timedelta(days=1))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise LfSqlError(
            f"{file}: the recurring events cannot be expanded: {error}", MEND
        ) from None
    return [e for e in expanded if str(e.get("STATUS", "")) != "CANCELLED"]


def _written(event: Any) -> str:
    """When it takes place, as the file has it."""
    items = event.property_items(recursive=False, sorted=False)
    lines = [str(event.content_line(name, value)) for name, value in items if name in WHEN]
    return ", ".join(line[:80] for line in lines) or "an event without DTSTART"


def _days(event: Any, zone: ZoneInfo) -> list[date]:
    """The days that an event touches; its end is not part of it."""
    start = event["DTSTART"].dt
    if "DTEND" in event:
        end = event["DTEND"].dt
    elif "DURATION" in event:
        end = start + event["DURATION"].dt
    else:
        end = start + timedelta(days=0 if isinstance(start, datetime) else 1)
    if isinstance(start, datetime):
        start = start.astimezone(zone) if start.tzinfo else start
        end = end.astimezone(zone) if end.tzinfo else end
        last = (max(end - timedelta(microseconds=1), start)).date()
        start = start.date()
    else:
        last = max(end - timedelta(days=1), start)
    return [start + timedelta(days=n) for n in range(min((last - start).days, 366) + 1)]
