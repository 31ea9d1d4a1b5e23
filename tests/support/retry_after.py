"""What a Retry-After header asks for: one list for the two that read it, which must agree."""

from __future__ import annotations

from datetime import UTC, datetime

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)  # a Saturday
DAY = 86_400
# The header; seconds from NOW on, or None where it says nothing.
ASKS: dict[str, float | None] = {
    "120": 120, " 7 ": 7, "\t7": 7, "0": 0, "999999999999": DAY, "9" * 5000: DAY,
    "0" * 30 + "5": 5,
    "-5": None, "1.5": None, "+5": None, "1e3": None, "soon": None, "": None, "\u0663": None,
    "5, 5": None, "7\n": None,
    # the form of today
    "Sat, 28 Nov 2026 12:01:40 GMT": 100,
    "Sat, 28 Nov 2026 11:00:00 GMT": 0,
    "Mon, 01 Jan 2029 00:00:00 GMT": DAY,
    "Sun, 29 Nov 2026 00:00:00 GMT": DAY / 2,
    "Sat, 28 Nov 2026 23:59:60 GMT": DAY / 2,
    "Sun, 28 Nov 2026 12:01:40 GMT": 100,  # no such day, but the date says enough
    # that of RFC 850; the year is one that is no more than 50 years ahead
    "Saturday, 28-Nov-26 12:01:40 GMT": 100,
    "Sunday, 29-Nov-26 00:00:00 GMT": DAY / 2,
    "Sunday, 06-Nov-94 08:49:37 GMT": 0,
    "Wednesday, 01-Jan-70 00:00:00 GMT": DAY,
    "Friday, 01-Jan-77 00:00:00 GMT": 0,
    # that of asctime
    "Sat Nov 28 12:01:40 2026": 100,
    "Sun Dec  6 08:49:37 2026": DAY,
    "Sun Nov  1 08:49:37 2026": 0,
    "Sun Nov 01 08:49:37 2026": 0,
    # none of the three
    "Sat, 28 Nov 2026 12:01:40 +0000": None,
    "Sat, 28 Nov 2026 12:01:40": None,
    "Sat, 28 Nov 2026 12:01:40 UTC": None,
    "Sat, 28 Nov 2026 12:01:40 EST": None,
    "sat, 28 nov 2026 12:01:40 gmt": None,
    "Sat, 28 Nov 2026 12:01 GMT": None,
    "Sat, 8 Nov 2026 12:01:40 GMT": None,
    "28 Nov 2026 12:01:40 GMT": None,
    "Sat, 28-Nov-26 12:01:40 GMT": None,
    "Saturday, 28-Nov-2026 12:01:40 GMT": None,
    "Sat Nov 28 12:01:40 2026 GMT": None,
    "Sat Nov 28 12:01:40 26": None,
    "2026-11-28T12:01:40Z": None,
    # no such day, month or hour
    "Fri, 99 Nov 2026 12:01:40 GMT": None,
    "Sat, 31 Feb 2026 12:01:40 GMT": None,
    "Sat, 00 Nov 2026 12:01:40 GMT": None,
    "Sat, 28 Nov 0000 12:01:40 GMT": None,
    "Sat, 28 Nox 2026 12:01:40 GMT": None,
    "Xyz, 28 Nov 2026 12:01:40 GMT": None,
    "Sat, 28 Nov 2026 24:00:00 GMT": None,
    "Sat, 28 Nov 2026 12:60:00 GMT": None,
    "Sat Feb 30 12:01:40 2026": None,
}  # fmt: skip
