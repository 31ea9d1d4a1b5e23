"""Time limits, locks of DDL, a full disk: faults of the server's own, that count against no schedule."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.faults.plant import Plant, plant, play
from tests.support.database import Database

FAILURES = (
    "select count(*) from lenses.workflow_schedules where failure_count > 0 "
    "or last_dispatch_status = 'dispatch_failed'"
)


@pytest.fixture
def place() -> Iterator[Plant]:
    with plant({"synchronous_commit": "off"}) as place:
        place.fill(1_000)
        yield place


def make_due(conn: Database) -> None:
    """The driver's own clock is the server's: move the slots to it."""
    conn.execute(
        "update lenses.workflow_schedules set start_at = null, next_run_at = date_trunc('minute', now())"
    )


def test_ticks_get_on_under_any_statement_timeout(place: Plant) -> None:
    with place.connect() as conn:
        make_due(conn)
        count = "select count(*) from lenses.workflow_runs"
        served = "select count(distinct schedule_id) from lenses.workflow_runs"
        for timeout in ("50ms", "100ms", "250ms", "1s"):
            before = conn.value(count)
            with place.connect() as driver:
                driver.execute(f"set statement_timeout = '{timeout}'")
                for _ in range(50):
                    # The call as a whole has the limit: what is committed until then stays.
                    try:
                        driver.execute("call lenses.sp_dispatch_tick()")
                    except psycopg.errors.QueryCanceled:
                        continue
                    if conn.value(count) > before:
                        break
            if conn.value(served) == 1_000:
                break
            assert conn.value(count) > before, timeout
        assert conn.value(FAILURES) == 0
        conn.execute("call lenses.sp_dispatch_tick()")
        assert conn.value(served) == 1_000


@pytest.mark.parametrize(
    "table",
    [
        "workflow_runs",
        "schedule_due",
        pytest.param("workflow_schedules", marks=pytest.mark.slow),
        pytest.param("workflows", marks=pytest.mark.slow),
    ],
)
def test_a_lock_of_ddl_during_ticks_costs_no_schedule_anything(place: Plant, table: str) -> None:
    with place.connect() as conn, place.connect() as ddl, place.connect() as driver:
        make_due(conn)
        driver.execute("set lock_timeout = '50ms'")
        with ddl.transaction():
            ddl.execute(f"lock table lenses.{table} in access exclusive mode")
            for _ in range(6):
                # Raised where the tick could not even begin, else noted on its row.
                with contextlib.suppress(psycopg.errors.LockNotAvailable):
                    driver.execute("call lenses.sp_dispatch_tick()")
        assert conn.value(FAILURES) == 0
        notes = conn.column("select note from lenses.dispatch_ticks")
        assert all("55P03" in note for note in notes), notes
        driver.execute("call lenses.sp_dispatch_tick()")
        assert conn.value("select count(distinct schedule_id) from lenses.workflow_runs") == 1_000


def test_ddl_in_the_middle_of_ticks(place: Plant) -> None:
    """A column more, an index more and a function replaced, while four dispatchers work."""
    changes = [
        "alter table lenses.workflow_runs add column extra_{n} text",
        "create index extra_{n} on lenses.workflow_runs (metadata)",
        "create or replace function lenses.extra() returns int language sql as 'select {n}'",
        "alter table lenses.workflow_schedules add column extra_{n} int default 0",
    ]
    over = threading.Event()
    minute = 0
    errors: list[str] = []

    def work() -> None:
        with place.connect() as conn:
            while not over.is_set():
                try:
                    play(conn, place.at(minute), batch=50)
                except psycopg.Error as error:
                    # A cached plan of rows that have changed their shape.
                    errors.append(f"{error.sqlstate} {error}")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with place.connect() as ddl:
            for n in range(4):
                for change in changes:
                    ddl.execute(change.format(n=n))
                play(ddl, place.at(minute), batch=50)
                minute += 1
    finally:
        over.set()
        for thread in threads:
            thread.join(60)
    place.drain(minute)
    with place.connect() as conn:
        assert conn.value(FAILURES) == 0, conn.rows(
            "select distinct last_error_message from lenses.workflow_schedules"
        )
    assert errors == []
    place.check(minute + 1)


@contextmanager
def small_disk(place: Plant, megabytes: int) -> Iterator[Path]:
    """A tablespace on a file system of that size; only root can make one."""
    folder = place.server.folder / "small"
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True
    )
    try:
        owner = (place.server.folder / "data").stat()
        os.chown(folder, owner.st_uid, owner.st_gid)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.slow
def test_a_full_disk_costs_nothing_but_time(place: Plant) -> None:
    with small_disk(place, 60) as disk, place.connect() as conn:
        conn.execute(f"create tablespace small location '{disk}'")
        for table in ("lenses.workflow_runs", "lenses.workflow_run_events", "agents.action_logs"):
            conn.execute(f"alter table {table} set tablespace small")
        filler = disk / "filler"
        filler.write_bytes(b"\0" * 40_000_000)
        minute = -1
        with pytest.raises(psycopg.errors.DiskFull):
            while minute < 100:
                minute += 1
                play(conn, place.at(minute))
        assert conn.value(FAILURES) == 0
        for _ in range(5):
            with pytest.raises(psycopg.errors.DiskFull):
                play(conn, place.at(minute))
        assert conn.value(FAILURES) == 0
        filler.unlink()
        play(conn, place.at(minute))
        place.check(minute + 1)
        conn.execute("alter table lenses.workflow_runs set tablespace pg_default")
        conn.execute("alter table lenses.workflow_run_events set tablespace pg_default")
        conn.execute("alter table agents.action_logs set tablespace pg_default")
        conn.execute("drop tablespace small")
