"""Times without an offset stand on the schedule's clock, whatever the zone of the caller's machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.support.command import Command
from tests.support.database import Database

EVENING = datetime(2030, 12, 1, 17, tzinfo=UTC)  # 18:00 in Berlin


@pytest.fixture(autouse=True)
def abroad(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The caller's machine is in Honolulu."""
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Pacific/Honolulu")
        time.tzset()
        yield
    time.tzset()


def stored(db: Database) -> tuple[datetime | None, ...]:
    return tuple(db.row("select run_at, start_at, end_at from lenses.workflow_schedules"))


@pytest.mark.parametrize(
    ("written", "tz", "meant"),
    [
        ("2030-12-01T18:00", ["--tz", "Europe/Berlin"], EVENING),
        ("2030-12-01 18:00", ["--tz", "Europe/Berlin"], EVENING),
        ("2030-12-01T18:00+03:00", ["--tz", "Europe/Berlin"], EVENING.replace(hour=15)),
        ("2030-12-01T18:00Z", ["--tz", "Europe/Berlin"], EVENING.replace(hour=18)),
        ("2030-12-01T18:00", [], EVENING.replace(hour=18)),
    ],
)
def test_a_time_of_create_is_in_the_zone_given(
    lf: Command, db: Database, workflow: str, written: str, tz: list[str], meant: datetime
) -> None:
    lf("schedule", "create", workflow, "--at", written, *tz)
    assert stored(db)[0] == meant


def test_a_window_is_in_the_zone_given(lf: Command, db: Database, workflow: str) -> None:
    window = ("--start", "2030-12-01", "--end", "2030-12-01T18:00")
    lf("schedule", "create", workflow, "--every", "6h", "--tz", "Europe/Berlin", *window)
    assert stored(db)[1:] == (datetime(2030, 11, 30, 23, tzinfo=UTC), EVENING)


def test_update_reads_times_in_the_zone_that_the_schedule_has_or_gets(
    lf: Command, db: Database, workflow: str
) -> None:
    lf("schedule", "create", workflow, "--name", "a", "--at", "2030-01-01", "--tz", "Europe/Berlin")
    lf("schedule", "update", "a", "--at", "2030-12-01T18:00", "--end", "2030-12-01T18:00")
    assert stored(db) == (EVENING, None, EVENING)
    lf("schedule", "update", "a", "--at", "2030-12-01T20:00", "--tz", "Europe/Istanbul")
    assert stored(db)[0] == EVENING
    lf("schedule", "update", "a", "--at", "2030-12-01T20:00Z", "--end", "2030-12-01T21:00")
    assert stored(db) == (EVENING.replace(hour=20), None, EVENING.replace(hour=18))
    lf("schedule", "update", "a", "--clear", "timezone", "--at", "2030-12-01T17:00")
    assert stored(db)[0] == EVENING


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "2030-03-31T02:30",
            "2030-03-31T02:30 does not exist on the clock of Europe/Berlin: write it with its "
            "offset, 2030-03-31T02:30+02:00 or 2030-03-31T02:30+01:00",
        ),
        (
            "2030-10-27T02:30",
            "2030-10-27T02:30 stands twice on the clock of Europe/Berlin: write it with its "
            "offset, 2030-10-27T02:30+02:00 or 2030-10-27T02:30+01:00",
        ),
    ],
)
def test_a_time_that_the_clock_shows_never_or_twice_is_refused(
    lf: Command, db: Database, workflow: str, written: str, said: str
) -> None:
    zone = ("--tz", "Europe/Berlin")
    answer = lf("schedule", "create", workflow, *zone, "--at", written, code=2)
    assert "--at" in answer.err and said in answer.err
    answer = lf(*("schedule", "create", workflow, *zone, "--every", "6h", "--end", written), code=2)
    assert "--end" in answer.err and said in answer.err
    assert db.value("select count(*) from lenses.workflow_schedules") == 0


def test_offsets_west_of_utc_are_named(lf: Command, workflow: str) -> None:
    args = ("schedule", "create", workflow, "--tz", "America/St_Johns")
    answer = lf(*args, "--at", "2030-11-03T01:30", code=2)
    assert "2030-11-03T01:30-02:30 or 2030-11-03T01:30-03:30" in answer.err


def test_an_unknown_zone_is_named(lf: Command, workflow: str) -> None:
    args = ("schedule", "create", workflow, "--at", "2030-01-01T09:00", "--tz", "Mars/Olympus")
    answer = lf(*args, code=2)
    assert "--tz" in answer.err and "Mars/Olympus" in answer.err


@pytest.mark.parametrize(
    "when",
    [
        ("--at", "2020-01-01T09:00Z"),
        ("--cron", "0 9 * * *", "--end", "2020-01-01"),
        ("--every", "6h", "--end", "2020-01-01"),
    ],
)
def test_a_schedule_without_a_slot_is_taken_and_told(
    lf: Command, db: Database, workflow: str, when: tuple[str, ...]
) -> None:
    said = "  next: no slot is left\n"
    assert said in lf("schedule", "create", workflow, "--name", "a", *when).err
    assert said in lf("schedule", "update", "a", *when).err
    assert "no slot is left" in lf("schedule", "resume", "a").out
    assert "no slot" not in lf("schedule", "update", "a", *when, "--disable").err
    lf("schedule", "delete", "a", "--yes")
    made = lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--end", "2999-01-01")
    assert "no slot" not in made.err


def test_pause_ends_by_the_clock_of_each_schedule(lf: Command, db: Database, workflow: str) -> None:
    for name, zone in (("a", "Europe/Berlin"), ("b", "Europe/Istanbul")):
        args = ("schedule", "create", workflow, "--name", name, "--cron", "0 9 * * *")
        lf(*args, "--tz", zone)
    lf("schedule", "pause", "a", "b", "--until", "2030-12-01T18:00")
    rows = db.rows("select paused_until from lenses.workflow_schedules order by name")
    assert [row.paused_until for row in rows] == [EVENING, EVENING.replace(hour=15)]


def test_backfill_reads_times_in_the_schedules_zone(
    lf: Command, db: Database, workflow: str
) -> None:
    args = ("schedule", "create", workflow, "--name", "a", "--cron", "0 * * * *", "--no-approval")
    lf(*args, "--tz", "Asia/Tokyo")
    day = db.value(
        "select to_char(now() at time zone 'Asia/Tokyo' - interval '2 days', 'YYYY-MM-DD')"
    )
    args = ("schedule", "backfill", "a", "--dry-run", "--json")
    written = lf(*args, "--since", f"{day}T09:00", "--until", f"{day}T11:00").json
    assert len(written["slots"]) == 3
    assert written == lf(*args, "--since", f"{day}T00:00Z", "--until", f"{day}T02:00Z").json
