"""The server's clock is set while it runs (libfaketime): no slot doubled, none on time lost."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.plant import Plant, plant
from tests.support.database import Database, wait_until

SHIM = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
RUNS = "select count(*) from lenses.workflow_runs"


class Clock:
    """How far the server's clock is from ours."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set(timedelta())

    def set(self, offset: timedelta) -> None:
        self.path.write_text(f"{offset.total_seconds():+.0f}s\n")


@pytest.fixture
def clock() -> Iterator[Clock]:
    """In a folder that the server's own user may look into."""
    with tempfile.TemporaryDirectory(prefix="lf-clock-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield Clock(folder / "clock")


@pytest.fixture
def place(clock: Clock) -> Iterator[Plant]:
    assert SHIM, "this test needs Debian's libfaketime"
    shim = {
        "LD_PRELOAD": str(SHIM),
        "FAKETIME_TIMESTAMP_FILE": str(clock.path),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    with plant(environment=shim) as place:
        yield place


def fill(place: Plant, **columns: str) -> None:
    place.fill(50, **columns)
    with place.connect() as conn:
        # From the minute that begins now on, by the server's clock.
        conn.execute(
            "update lenses.workflow_schedules set start_at = null, "
            "next_run_at = date_trunc('minute', now())"
        )


def tick(conn: Database) -> int:
    before = conn.value(RUNS)
    conn.execute("call lenses.sp_dispatch_tick()")
    return conn.value(RUNS) - before


def skew(conn: Database) -> float:
    return (conn.value("select clock_timestamp()") - datetime.now(UTC)).total_seconds()


def settle(conn: Database, clock: Clock, offset: timedelta) -> None:
    clock.set(offset)
    wait_until(lambda: abs(skew(conn) - offset.total_seconds()) < 2)


def slots(conn: Database) -> set[tuple[object, datetime]]:
    rows = conn.rows("select schedule_id, scheduled_for from lenses.workflow_runs")
    assert len(rows) == len(set(rows))
    return {tuple(row) for row in rows}


@pytest.mark.parametrize(
    "back",
    [
        timedelta(minutes=3),
        pytest.param(timedelta(seconds=1), marks=pytest.mark.slow),
        pytest.param(timedelta(hours=1), marks=pytest.mark.slow),
        pytest.param(timedelta(days=1), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_set_back(place: Plant, clock: Clock, back: timedelta) -> None:
    fill(place)
    with place.connect() as conn:
        assert tick(conn) == 50
        seen = slots(conn)
        marks = dict(conn.rows("select id, next_run_at from lenses.workflow_schedules"))
        settle(conn, clock, -back)
        for _ in range(3):
            tick(conn)
        assert slots(conn) >= seen
        after = dict(conn.rows("select id, next_run_at from lenses.workflow_schedules"))
        assert all(after[schedule] >= mark for schedule, mark in marks.items())
        # Right again: every minute since the first has its run.
        settle(conn, clock, timedelta(minutes=1))
        tick(conn)
        per = conn.row(
            "select count(*) as n, count(distinct scheduled_for) as slots, "
            "max(scheduled_for) - min(scheduled_for) as span from lenses.workflow_runs"
        )
        assert per.span == (per.slots - 1) * timedelta(minutes=1)
        assert per.n == per.slots * 50
    assert place.violations() == []


@pytest.mark.parametrize(
    "ahead",
    [
        timedelta(minutes=20),
        pytest.param(timedelta(minutes=4), marks=pytest.mark.slow),
        pytest.param(timedelta(hours=5), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_set_forward_and_back(place: Plant, clock: Clock, ahead: timedelta) -> None:
    """What the false future has dispatched is not dispatched again, and nothing between is lost."""
    fill(place, policy='{"onMissed": "backfill", "maxBackfill": 1000}')
    with place.connect() as conn:
        assert tick(conn) == 50
        settle(conn, clock, ahead)
        while tick(conn):
            pass
        future = slots(conn)
        assert len(future) >= 50 * ahead // timedelta(minutes=1)
        settle(conn, clock, timedelta())
        assert tick(conn) == 0
        settle(conn, clock, ahead + timedelta(minutes=2))
        while tick(conn):
            pass
        found = conn.row(
            "select count(*) as n, count(distinct scheduled_for) as slots, "
            "max(scheduled_for) - min(scheduled_for) as span from lenses.workflow_runs"
        )
        assert slots(conn) > future
        assert found.span == (found.slots - 1) * timedelta(minutes=1)
        assert found.n == found.slots * 50
    assert place.violations() == []


def test_one_tick_ahead_parks_nothing(place: Plant, clock: Clock) -> None:
    """Three hours ahead for a single tick: the minutes between are fired on time, each once."""
    fill(place)
    with place.connect() as conn:
        assert tick(conn) == 50
        settle(conn, clock, timedelta(hours=3))
        assert tick(conn) >= 50
        ahead = conn.value(
            "select max(scheduled_for) - interval '1 hour' from lenses.workflow_runs"
        )
        dropped = "select count(*) from agents.action_logs where payload ->> 'reason' = 'missed'"
        assert conn.value(dropped) == 50
        settle(conn, clock, timedelta())
        tick(conn)
        for minutes in (1, 2, 3):
            settle(conn, clock, timedelta(minutes=minutes))
            tick(conn)
        per = conn.row(
            "select count(*) as n, count(distinct scheduled_for) as slots, "
            "max(scheduled_for) - min(scheduled_for) as span, "
            "count(*) filter (where metadata ? 'missed') as late "
            "from lenses.workflow_runs where scheduled_for < %s",
            [ahead],
        )
        assert per.slots >= 4
        assert per.span == (per.slots - 1) * timedelta(minutes=1)
        assert (per.n, per.late) == (per.slots * 50, 0)
        assert conn.value(dropped) == 50
    assert place.violations() == []
