"""gt and lt on strings: instants, or nothing. The same under every session setting."""

from __future__ import annotations

from decimal import Decimal

import psycopg
import pytest

from tests.validation.ask import passes

BASE = "2026-06-01T12:00:00Z"
# the seconds by which each is later than BASE
INSTANTS: dict[str, str] = {
    BASE: "0",
    "2026-06-01T12:00Z": "0",
    "2026-06-01t12:00:00z": "0",
    "2026-06-01T12:00:00+00:00": "0",
    "2026-06-01T12:00:00-00:00": "0",
    "2026-06-01T12:00:00+0000": "0",
    "2026-06-01T12:00:00+00": "0",
    "2026-06-01T15:00:00+03:00": "0",
    "2026-06-01T17:45:00+05:45": "0",
    "2026-06-01T08:30:00-0330": "0",
    "2026-06-02T02:00:00+14": "0",
    "2026-06-01T12:00:00.000Z": "0",
    "2026-06-01T12:00:00,5Z": "0.5",
    "2026-06-01T12:00:00.1+00:00": "0.1",
    "2026-06-01T12:00:00.123456789Z": "0.123456789",
    "2026-06-01T12:00:00.123456788Z": "0.123456788",
    "2026-06-01T12:00:00.1234567890123456789012345678901234567890Z": "0."
    "1234567890123456789012345678901234567890",
    "2026-06-01T12:00:01Z": "1",
    "2026-06-01T11:59:60Z": "0",
    "2026-06-01T11:59:60.25Z": "0.25",
    "2026-06-01T12:00:00+01:00": "-3600",
    "2026-06-01T12:00:00-01:00": "3600",
    "2026-06-02T00:00:00Z": "43200",
    "2026-05-31T23:59:59Z": "-43201",
    "2026-01-06T12:00:00Z": str(-146 * 86400),
    "2024-02-29T12:00:00Z": str(-823 * 86400),
    "2027-01-01T00:00:00Z": str(214 * 86400 - 43200),
    "2000-02-29T12:00:00Z": str(-9589 * 86400),
}
NONE_AT_ALL = [
    "",
    "2026-06-01",
    "2026-06-01T12:00:00",
    "2026-06-01 12:00:00",
    "2026-06-01 12:00:00Z",
    "2026-06-01T12:00:00 Z",
    " 2026-06-01T12:00:00Z",
    "2026-06-01T12:00:00Z ",
    "2026-06-01T12:00:00Z\n",
    "\n2026-06-01T12:00:00Z",
    "2026-06-01T12Z",
    "2026-06-01T12:0Z",
    "2026-06-01T12:00:0Z",
    "2026-06-01T12:00:00.Z",
    "2026-06-01T12:00.5Z",
    "2026-06-01T12:00:00ZZ",
    "2026-06-01T12:00:00+3",
    "2026-06-01T12:00:00+030",
    "2026-06-01T12:00:00+03:0",
    "2026-06-01T12:00:00+03:00:00",
    "2026-06-01T12:00:00+24:00",
    "2026-06-01T12:00:00+03:60",
    "2026-06-01T12:00:00−03:00",
    "2026-06-01T12:00:00 UTC",
    "2026-06-01T12:00:00UTC",
    "2026-06-01T12:00:00Europe/Paris",
    "2026-06-01T12:00:00Z[UTC]",
    "2026-6-1T12:00:00Z",
    "26-06-01T12:00:00Z",
    "+2026-06-01T12:00:00Z",
    "-2026-06-01T12:00:00Z",
    "12026-06-01T12:00:00Z",
    "0000-06-01T12:00:00Z",
    "20260601T120000Z",
    "2026-152T12:00:00Z",
    "2026-W23-1T12:00:00Z",
    "01/06/2026T12:00:00Z",
    "2026-00-01T12:00:00Z",
    "2026-13-01T12:00:00Z",
    "2026-13-45T99:99:99Z",
    "2026-06-00T12:00:00Z",
    "2026-06-31T12:00:00Z",
    "2026-02-29T12:00:00Z",
    "2100-02-29T12:00:00Z",
    "2024-02-30T12:00:00Z",
    "2026-01-32T12:00:00Z",
    "2026-06-01T24:00:00Z",
    "2026-06-01T25:00:00Z",
    "2026-06-01T12:60:00Z",
    "2026-06-01T12:00:61Z",
    "２０２６-06-01T12:00:00Z",
    "2026-06-01T12:00:00.12345678901234567890123456789012345678901234567890Z",
    "infinity",
    "-infinity",
    "now",
    "today",
    "epoch",
    "allballs",
    "tomorrow",
    "9" * 100000,
    "2026-06-01T12:00:00." + "9" * 100000 + "Z",
]
SESSIONS = [
    ("UTC", "ISO, MDY"),
    ("America/New_York", "SQL, DMY"),
    ("Asia/Kathmandu", "German, DMY"),
    ("Pacific/Apia", "Postgres, YMD"),
    ("Europe/Istanbul", "ISO, DMY"),
]


@pytest.mark.parametrize(("zone", "style"), SESSIONS)
def test_order_under_session_settings(shared_db: psycopg.Connection, zone: str, style: str) -> None:
    with shared_db.transaction():
        for name, setting in (("TimeZone", zone), ("DateStyle", style)):
            shared_db.execute("select set_config(%s, %s, true)", (name, setting))
        for left, left_at in INSTANTS.items():
            for right in (BASE, "2026-06-01T12:00:00.123456789Z", "2026-06-02T02:00:00+14"):
                found = (
                    passes(shared_db, {"/v": {"gt": right}}, {"v": left}),
                    passes(shared_db, {"/v": {"lt": right}}, {"v": left}),
                )
                order = Decimal(left_at) - Decimal(INSTANTS[right])
                assert found == (order > 0, order < 0), (left, right)
        for word in NONE_AT_ALL:
            for operator in ("gt", "lt"):
                assert not passes(shared_db, {"/v": {operator: BASE}}, {"v": word}), word[:60]
                if len(word) < 1000:
                    assert not passes(shared_db, {"/v": {operator: word}}, {"v": BASE}), word


def test_every_day_of_four_centuries(shared_db: psycopg.Connection) -> None:
    """Against PostgreSQL's own calendar, through its own parser, from 1900 to 2300."""
    wrong = shared_db.execute(
        """
        select d.day from (
          select date '1900-01-01' + n as day from generate_series(0, 146097) n
        ) d
        where automation.fn_instant(to_char(d.day, 'YYYY-MM-DD') || 'T05:06:07+02:30')
          is distinct from extract(epoch from d.day::timestamp at time zone 'UTC') + 9367
        limit 5
        """
    ).fetchall()
    assert wrong == []
    # and each date that does not exist
    row = shared_db.execute(
        """
        select count(*) from generate_series(1, 9999) y, generate_series(1, 12) m,
          generate_series(29, 31) d
        where y in (1, 4, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999)
          and (automation.fn_instant(
            to_char(y, 'FM0000') || to_char(m, 'FM"-"00') || to_char(d, 'FM"-"00') || 'T00:00Z'
          ) is not null) <> (d <= extract(day from make_date(y, m, 1) + interval '1 month - 1 day'))
        """
    ).fetchone()
    assert row == (0,)


def test_what_to_jsonb_writes_is_read(shared_db: psycopg.Connection) -> None:
    """The form in which our own context would hold a time."""
    row = shared_db.execute(
        """
        select automation.fn_eval_filter(
          jsonb_build_object('/t', jsonb_build_object('gt', t, 'lt', t + interval '2 microseconds')),
          jsonb_build_object('t', t + interval '1 microsecond')
        )
        from (values (timestamptz '2026-03-29 01:59:59.999999+02')) v (t)
        """
    ).fetchone()
    assert row == (True,)
