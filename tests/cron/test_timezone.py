"""Which zone names are taken, and that the well-known ones cost nothing."""

from __future__ import annotations

import re
import time
from pathlib import Path
from zoneinfo import available_timezones

import pytest

from tests.cron.vectors import SETTINGS, refusal, session
from tests.support.database import Database

CHECK = "select lenses.fn_check_timezone(%s)"

REFUSED = [
    ("PST", "America/Los_Angeles"),
    ("EDT", "America/New_York"),
    ("IST", "Asia/Kolkata"),
    ("CEST", "Europe/Berlin"),
    ("UTC+8", "Etc/GMT-8"),
    ("GMT-5", "Etc/GMT+5"),
    ("+02:00", "Etc/GMT-2"),
    ("-0300", "Etc/GMT+3"),
    ("+5:30", ""),
    ("Z", "UTC"),
    ("utc", "UTC"),
    ("america/new_york", "America/New_York"),
    ("America/New_york", "America/New_York"),
    ("America/New_Yrok", "America/New_York"),
    ("Europe/London/", "Europe/London"),
    ("/Europe/London", "Europe/London"),
    (" Europe/London", "Europe/London"),
    ("Berlin", "Europe/Berlin"),
    ("new york", "America/New_York"),
    ("posix/Europe/Berlin", "Europe/Berlin"),
    ("right/Europe/Berlin", "Europe/Berlin"),
    ("localtime", ""),
    ("posixrules", ""),
    ("Factory", ""),
    ("foo0", ""),
    ("EST5EDT,M3.2.0,M11.1.0", ""),
    ("120", ""),
    ("0", "UTC"),
    ("", ""),
    ("../Europe/Berlin", "Europe/Berlin"),
    ("Europe/Ber\u00adlin", ""),
    ("x" * 100_000, ""),
]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize(("zone", "likely"), REFUSED, ids=[ascii(z)[:40] for z, _ in REFUSED])
def test_refused(shared_db: Database, zone: str, likely: str, setting: str) -> None:
    with session(shared_db, setting):
        error = refusal(shared_db, CHECK, (zone,))
    assert error is not None, "taken"
    assert error.sqlstate == "22023"
    assert zone[:90] in str(error.diag.message_primary)
    assert len(str(error)) < 1000
    assert likely in str(error.diag.message_hint)


def test_null_is_refused(shared_db: Database) -> None:
    error = refusal(shared_db, CHECK, (None,))
    assert error is not None
    assert error.sqlstate == "22023"


def test_every_iana_name_of_the_server_is_taken(shared_db: Database) -> None:
    names = shared_db.column("select name from pg_timezone_names")
    names = [n for n in names if not re.match("posix/|right/", n)]
    names = [n for n in names if n not in ("localtime", "posixrules", "Factory")]
    assert len(names) > 400
    shared_db.execute("select lenses.fn_check_timezone(n) from unnest(%s::text[]) as n", (names,))


def test_all_functions_that_take_a_zone_check_it(shared_db: Database) -> None:
    for query in (
        "select lenses.fn_cron_next_after('* * * * *', %s, now())",
        "select lenses.fn_cron_next('* * * * *', %s, now(), 1)",
        "select lenses.fn_cron_matches_now('* * * * *', now(), %s)",
        "select public.fn_cron_preview('* * * * *', %s)",
    ):
        for zone in ("UTC+8", "PST", "posix/UTC", None):
            error = refusal(shared_db, query, (zone,))
            assert error is not None, (query, zone)
            assert error.sqlstate == "22023"


def test_unknown_zone_on_the_hot_path(shared_db: Database) -> None:
    error = refusal(
        shared_db,
        "select lenses.fn_cron_next_after_spec(lenses.fn_cron_parse('0 9 * * *'), %s, now())",
        ("Mars/Olympus",),
    )
    assert error is not None
    assert error.sqlstate == "22023"


def test_names_that_are_abbreviations_too_keep_their_summer_time(shared_db: Database) -> None:
    """Postgres itself reads CET as a fixed offset, and hangs EST on a setting of the session."""
    query = """select to_char(lenses.fn_cron_next_after('0 9 * * *', %s, '2026-07-01 00:00+00')
        at time zone 'UTC', 'HH24:MI')"""
    expected = {
        "CET": "07:00",
        "MET": "07:00",
        "EET": "06:00",
        "WET": "08:00",
        "EST": "14:00",
        "MST": "16:00",
        "HST": "19:00",
        "GMT": "09:00",
        "UCT": "09:00",
        "EST5EDT": "13:00",
    }
    known = set(shared_db.column("select name from pg_timezone_names"))
    for zone, time_of_day in expected.items():
        if zone in known:
            assert shared_db.value(query, (zone,)) == time_of_day, zone


def test_list_of_names_is_iana(shared_db: Database) -> None:
    source = Path(__file__).parents[2] / "sql/lenses/functions/timezones/fn_is_iana_timezone.sql"
    names = re.findall(r"[A-Za-z_]+/[A-Za-z0-9_+/-]+", source.read_text().split("$$")[1])
    assert len(names) > 500
    assert set(names) <= available_timezones() | set(
        shared_db.column("select name from pg_timezone_names")
    )


def test_known_names_are_cheap(shared_db: Database) -> None:
    best = 1.0
    for _ in range(20):
        start = time.perf_counter()
        shared_db.execute(CHECK, ("Europe/Berlin",))
        best = min(best, time.perf_counter() - start)
    assert best < 0.1
