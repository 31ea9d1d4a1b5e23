"""What nobody can mean is one line that names it and the way out, never an internal error."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from lf_sql.cli.params import Duration
from lf_sql.durations import duration
from lf_sql.wake import Wake
from tests.support.command import Command
from tests.support.database import Database, Tenant

EVENT = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//
BEGIN:VEVENT
UID:1
SUMMARY:Closed
{}
END:VEVENT
END:VCALENDAR
"""
DAY = "DTSTART;VALUE=DATE:20261224\n"
IMPORT = ("schedule", "calendar", "import")


def test_a_duration_beyond_all_is_the_longest_there_is() -> None:
    assert duration("99999999999999d") == timedelta.max
    assert duration("9" * 400 + "ms") == timedelta.max
    assert Duration().convert("10y", None, None) == 10 * 366 * 86_400_000


@pytest.mark.parametrize(
    ("args", "most"),
    [
        (["schedule", "create", "W", "--every", "99999999999999d"], "at most 10y"),
        (["schedule", "create", "W", "--every", "30000000000h"], "at most 10y"),
        (["schedule", "create", "W", "--every", "6h", "--jitter", "99999999999d"], "at most 1d"),
        (["runs", "work", "--lease", "99999999999d", "--", "true"], "at most 10y"),
        (["runs", "work", "--poll", "99999999999d", "--", "true"], "at most 10y"),
    ],
)
def test_a_duration_that_is_too_long(lf: Command, args: list[str], most: str) -> None:
    value = next(arg for arg in args if arg.startswith(("9", "3")))
    said = lf(*args, code=2).err
    assert f"{value} is too long: {most}" in said
    assert "internal error" not in said


@pytest.mark.parametrize("lease", ["2d", "24h1s", "10y", "999ms", "0s"])
def test_a_lease_that_no_executor_may_have(lf: Command, lease: str) -> None:
    said = lf("runs", "work", "--lease", lease, "--", "true", code=2).err
    assert "--lease must be 1s to 1d, not " in said


def test_a_poll_that_is_longer_than_a_selector_takes() -> None:
    wake = Wake()
    wake.set()
    wake.wait(Duration().convert("10y", None, None) / 1000)
    wake.close()


@pytest.mark.parametrize(
    "args",
    [
        ["schedule", "create", "W", "--every", "6h", "--start", "99999999d"],
        ["schedule", "create", "W", "--every", "6h", "--end", "99999999999999d"],
        ["schedule", "pause", "S", "--until", "99999999999d"],
        ["schedule", "backfill", "S", "--since", "9999999d"],
        ["schedule", "backfill", "S", "--since", "1d", "--until", "9999999d"],
        ["runs", "list", "--since", "99999999999d"],
    ],
    ids=" ".join,
)
def test_a_time_that_no_calendar_reaches(lf: Command, args: list[str]) -> None:
    said = lf(*args, code=2).err
    assert f"{args[-1]} is too far from now: write a shorter one, or a time" in said
    assert args[-2] in said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("DTSTART;VALUE=DATE:2026xx01", "DTSTART '2026xx01' cannot be read"),
        ("DTSTART;VALUE=DATE:20261345", "DTSTART '20261345' cannot be read"),
        ("DTSTART:", "DTSTART '' cannot be read"),
        (f"{DAY}DTEND;VALUE=DATE:xx", "DTEND 'xx' cannot be read"),
        (f"{DAY}DURATION:junk", "DURATION 'junk' cannot be read"),
        (f"{DAY}RRULE:FREQ=DAILY\nDURATION:junk", "DURATION 'junk' cannot be read"),
        (f"{DAY}RRULE:FREQ=DAILY;UNTIL=xx", "RRULE 'FREQ=DAILY;UNTIL=xx' cannot be read"),
        (f"{DAY}DURATION:P99999999D", "DURATION:P99999999D cannot be read as days"),
        (f"{DAY}DTEND:20261225T000000Z", "DTEND:20261225T000000Z cannot be read as days"),
        (f"{DAY}DTSTART;VALUE=DATE:20261225", "DATE:20261224, DTSTART;VALUE=DATE:20261225"),
        ("DTSTART:20261224T000000Z\nDTEND:20261225T000000", "DTEND:20261225T000000 cannot"),
        ("DTSTART;VALUE=DATE:99991231", "DTSTART;VALUE=DATE:99991231 cannot be read as days"),
        ("RRULE:FREQ=DAILY", "the recurring events cannot be expanded"),
    ],
)
def test_an_event_whose_days_cannot_be_read(
    lf: Command, tmp_path: Path, lines: str, said: str
) -> None:
    file = tmp_path / "closing.ics"
    file.write_text(EVENT.format(lines))
    error, hint = lf(*IMPORT, file, "--years", "2026", "--dry-run", code=1).err.splitlines()
    assert error.startswith(f"error: {file}: ")
    assert said in error
    assert hint.startswith("hint: mend the file: DTSTART;VALUE=DATE:20261224")


def test_what_is_broken_beside_the_days_does_not_matter(lf: Command, tmp_path: Path) -> None:
    file = tmp_path / "closing.ics"
    file.write_text(EVENT.format(f"{DAY}SEQUENCE:xx\nDTSTAMP:xx"))
    (row,) = lf(*IMPORT, file, "--years", "2026", "--dry-run").rows
    assert row["date"] == "2026-12-24"


@pytest.mark.parametrize("file", ["/missing.ics", "/", "/etc/hostname"])
def test_a_file_that_is_none_comes_with_a_hint(lf: Command, file: str) -> None:
    error, hint = lf(*IMPORT, file, code=1).err.splitlines()
    assert error.startswith(f"error: {file}")
    assert hint.startswith("hint: give")
    assert ".ics file" in hint


@pytest.mark.parametrize("name", ["", " ", "x" * 201], ids=["empty", "blank", "long"])
@pytest.mark.parametrize(
    "args",
    [
        ["tenant", "create"],
        ["tenant", "create", "shop", "--display-name"],
        ["agent", "create"],
        ["team", "create"],
        ["cells", "place", "3f0c6f0e-6f0f-4c3e-9d5b-0c9a4a1f7a11", "--handle"],
    ],
    ids=" ".join,
)
def test_a_name_that_no_table_takes(
    lf: Command, db: Database, owner: Tenant, args: list[str], name: str
) -> None:
    said = lf(*args, name, code=2).err
    count = len(name) if name.strip() else "none"
    assert f"it has 1 to 200 characters, not {count}" in said
    assert "constraint" not in said
    assert db.value("select count(*) from lensers.profiles") == 1


@pytest.mark.parametrize(
    ("args", "name"),
    [
        (["schedule", "describe", "\udcff"], "EXPRESSION"),
        (["schedule", "describe", "0 9 * * *", "--tz", "\udcff"], "--tz"),
        (["schedule", "create", "W", "--cron", "\udcff"], "--cron"),
        (["schedule", "create", "\udcff", "--every", "6h"], "WORKFLOW"),
        (["schedule", "create", "W", "--every", "6h", "--description", "\udcff"], "--description"),
        (["schedule", "create", "W", "--every", "6h", "--inputs", '"\udcff"'], "--inputs"),
        (["schedule", "pause", "S", "--note", "\udcff"], "--note"),
        (["schedule", "calendar", "create", "\udcff", "--dates", "2026-01-01"], "NAME"),
        (["schedule", "list", "--as", "\udcff"], "--as"),
        (["--as", "\udcff", "schedule", "list"], "--as"),
        (["workflow", "create", "\udcff"], "TITLE"),
    ],
    ids=ascii,
)
def test_text_that_is_not_utf_8_is_wrong_usage(lf: Command, args: list[str], name: str) -> None:
    said = lf(*args, code=2).err
    assert f"Invalid value for '{name}" in said or f"/ '{name}" in said
    assert r"\udcff" in said
    assert "is not UTF-8: write it in UTF-8" in said


def test_a_dsn_that_is_not_utf_8_keeps_its_password(
    lf: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = "postgresql://me:secret\udcff@localhost/x"
    said = lf("schedule", "list", "--dsn", dsn, code=2).err
    assert "'--dsn': it is not UTF-8" in said
    assert "secret" not in said
    monkeypatch.setenv("LF_SQL_DSN", dsn)
    error, hint = lf("schedule", "list", code=1).err.splitlines()
    assert error == "error: the connection string is not UTF-8"
    assert "LF_SQL_DSN" in hint
    assert "secret" not in error + hint


def shell(db: Database, *args: str | bytes | Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "lf_sql", *args],
        env={**os.environ, "LF_SQL_DSN": db.dsn, "PYTHONUTF8": "1"},
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_bytes_that_a_shell_passes(db: Database) -> None:
    for args in (["schedule", "describe", b"\xff"], [b"\xff"], ["schedule", "list", b"--\xff"]):
        done = shell(db, *args)
        assert done.returncode == 2, done.stderr
        assert rb"\udcff" in done.stderr
        assert b"internal error" not in done.stderr


def test_a_file_may_have_any_name(db: Database, tmp_path: Path) -> None:
    file = tmp_path / "\udcff.ics"  # the byte FF, as Python spells it
    file.write_text(EVENT.format(DAY))
    options = ("--years", "2026", "--dry-run")
    unnamed = shell(db, *IMPORT, file, *options)
    assert unnamed.returncode == 2
    assert rb"'\udcff.ics' is not UTF-8: name the calendar with --name" in unnamed.stderr
    named = shell(db, *IMPORT, file, *options, "--name", "closing")
    assert named.returncode == 0, named.stderr
    assert b"2026-12-24" in named.stdout
