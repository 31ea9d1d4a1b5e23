"""lf-sql schedule calendar, condition, rotation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.database import Database

ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//
BEGIN:VEVENT
UID:1
DTSTART;VALUE=DATE:20261224
DTEND;VALUE=DATE:20261227
SUMMARY:Closed
END:VEVENT
BEGIN:VEVENT
UID:2
DTSTART:20260105T230000Z
DTEND:20260106T000000Z
RRULE:FREQ=WEEKLY;COUNT=3
EXDATE:20260112T230000Z
SUMMARY:Stocktaking
END:VEVENT
BEGIN:VEVENT
UID:3
DTSTART;VALUE=DATE:20260401
STATUS:CANCELLED
SUMMARY:Cancelled
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def schedule(lf: Command, workflow: str) -> str:
    return lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--no-approval").first


def test_calendar_create_attach_list_detach(lf: Command, db: Database, schedule: str) -> None:
    made = lf(
        *("schedule", "calendar", "create", "closing", "--dates", "2026-12-24, 2026-12-31"),
        *("--tz", "Europe/Rome"),
    )
    attached = "select calendar_id::text from lenses.workflow_schedules"
    lf("schedule", "calendar", "attach", schedule[:8], "closing")
    assert db.value(attached) == made.first
    rows = {row["name"]: row for row in lf("schedule", "calendar", "list").rows}
    assert rows["closing"]["dates"] == "2"
    assert rows["closing"]["schedules"] == "1"
    assert rows["us-federal-holidays-2026"]["is_seed"] == "yes"
    dates = lf("schedule", "calendar", "list", "--dates", "closing").rows
    assert [row["date"] for row in dates] == ["2026-12-24", "2026-12-31"]
    lf("schedule", "calendar", "detach", schedule)
    assert db.value(attached) is None


def test_calendar_clone(lf: Command, db: Database, workflow: str) -> None:
    lf("schedule", "calendar", "create", "mine", "--clone", "us-federal-holidays-2026")
    dates = "select cardinality(dates) from lenses.schedule_calendars where name = 'mine'"
    assert db.value(dates) == 11


def test_import_of_an_ics_file(lf: Command, db: Database, workflow: str, tmp_path: Path) -> None:
    file = tmp_path / "closing days.ics"
    file.write_text(ICS)
    dry = lf("schedule", "calendar", "import", file, "--years", "2026", "--dry-run")
    expected = ["2026-01-05", "2026-01-19", "2026-12-24", "2026-12-25", "2026-12-26"]
    assert [row["date"] for row in dry.rows] == expected
    count = "select count(*) from lenses.schedule_calendars where not is_seed"
    assert db.value(count) == 0
    lf("schedule", "calendar", "import", file, "--years", "2026")
    stored = "select dates::text[] from lenses.schedule_calendars where name = 'closing days'"
    assert db.value(stored) == expected
    berlin = ("--years", "2026", "--tz", "Europe/Berlin")
    lf("schedule", "calendar", "import", file, *berlin)
    assert db.value(count) == 1, "the calendar of that name got the dates"
    assert db.value(stored)[0] == "2026-01-06", "23:00 UTC is the next day in Berlin"


def test_import_of_public_holidays(lf: Command, db: Database, workflow: str) -> None:
    us = ("schedule", "calendar", "import", "--country", "US", "--years", "2026", "--dry-run")
    actual = {row["date"]: row["name"] for row in lf(*us).rows}
    observed = {row["date"]: row["name"] for row in lf(*us, "--observed").rows}
    assert actual["2026-07-04"] == "Independence Day"
    assert set(observed) - set(actual) == {"2026-07-03"}
    turkey = lf(
        *("schedule", "calendar", "import", "--country", "tr", "--years", "2026"),
        *("--tz", "Europe/Istanbul", "--json"),
    ).json
    assert [row["date"] for row in turkey][1:4] == ["2026-03-20", "2026-03-21", "2026-03-22"]
    seed = "select dates from lenses.schedule_calendars where name = 'tr-public-holidays-2026'"
    mine = "select dates from lenses.schedule_calendars where name = 'holidays-tr-2026-2026'"
    assert db.value(mine) == db.value(seed)


def test_the_language_does_not_depend_on_the_machine(
    lf: Command, workflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("schedule", "calendar", "import", "--country", "TR", "--years", "2026", "--dry-run")
    plain = lf(*command).out
    monkeypatch.setenv("LANGUAGE", "tr_TR")
    monkeypatch.setenv("LANG", "tr_TR.UTF-8")
    assert lf(*command).out == plain
    assert "New Year's Day" in plain
    assert "Yılbaşı" in lf(*command, "--language", "tr").out


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ([], 2, "either FILE.ics or --country"),
        (["--country", "ZZ"], 1, "no public holidays are known"),
        (["--country", "US", "--subdivision", "XX"], 1, "XX"),
        (["--country", "US", "--years", "next"], 1, "write 2026"),
        (["/nowhere.ics"], 1, "No such file"),
        (["/etc/hostname"], 1, "no iCalendar file"),
    ],
)
def test_what_cannot_be_imported(
    lf: Command, workflow: str, args: list[str], code: int, said: str
) -> None:
    assert said in lf("schedule", "calendar", "import", *args, code=code).err


def test_condition_set_test_clear(lf: Command, db: Database, schedule: str) -> None:
    quiet = '{"/last_24h_stats/failed": {"lt": 1}}'
    lf("schedule", "condition", "set", schedule, quiet)
    answer = lf("schedule", "condition", "test", schedule)
    assert "passes\tyes" in answer.out
    no = lf("schedule", "condition", "test", schedule, '{"/nothing": {"eq": 1}}', code=1)
    assert "passes\tno" in no.out
    assert no.out.splitlines()[1:] == ["path\twants\tis\tmet", "/nothing\teq 1\tnull\tno"]
    bad = lf("schedule", "condition", "set", schedule, '{"/a": {"equals": 1}}', code=2)
    assert "equals" in bad.err
    lf("schedule", "condition", "clear", schedule)
    assert db.value("select pre_dispatch_condition from lenses.workflow_schedules") is None


def test_rotation_set_and_clear(lf: Command, db: Database, schedule: str) -> None:
    lf("schedule", "rotation", "set", schedule, '[{"tone": "dry"}, {"tone": "warm"}]')
    rows = lf("schedule", "preview", schedule, "--next", 3, "--json").json
    assert [row["inputs"]["tone"] for row in rows] == ["dry", "warm", "dry"]
    lf("schedule", "rotation", "clear", schedule)
    assert db.value("select inputs_rotation from lenses.workflow_schedules") is None
