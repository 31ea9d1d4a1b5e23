"""A queue of notifications that is full stops nothing: nobody depends on being told."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.faults.rig import Rig, is_quiet
from tests.support import matrix
from tests.support.database import Database, connect, wait_until
from tests.support.processes import running
from tests.support.server import TestServer
from tests.support.work import due_in

FILL = "select pg_notify('filler', repeat('x', 7000) || n) from generate_series(1, 20) as n"


@pytest.fixture
def small_queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestServer]:
    """PostgreSQL 17, the first whose queue may be small; on 15 it takes 8 GB to fill."""
    with tempfile.TemporaryDirectory(prefix="lf-pg-") as name:
        bindir = matrix.unpacked(17, Path(name))
        monkeypatch.setenv("LF_SQL_TEST_BINDIR", str(bindir))
        monkeypatch.setenv("LF_SQL_TEST_MAJOR", "17")
        server = TestServer(
            {"max_notify_queue_pages": "64"}, {"LD_LIBRARY_PATH": str(bindir.parent / "lib")}
        )
        yield server
        server.stop()


def fill(dsn: str) -> Database:
    """Full: one who listens and never reads keeps all that was sent. Close it to empty the queue."""
    sleeper = connect(dsn)
    sleeper.execute("listen filler")
    sleeper.autocommit = False
    sleeper.execute("select 1")
    with connect(dsn) as db:
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            for _ in range(1000):
                db.execute(FILL)
        while db.value("select pg_notification_queue_usage()") < 0.98:
            try:
                db.execute("select pg_notify('filler', repeat('x', 1000))")
            except psycopg.errors.ProgramLimitExceeded:
                break
    return sleeper


@pytest.mark.slow
def test_a_full_queue_stops_neither_ticks_nor_owners_nor_executors(
    small_queue: TestServer, tmp_path: Path
) -> None:
    assert os.environ["LF_SQL_TEST_MAJOR"] == "17"
    with product_db.connect(small_queue.dsn()) as conn:
        apply.install(conn, bundle.load())
        conn.execute("create database elsewhere")
    rig = Rig(small_queue.dsn(), tmp_path)
    with fill(small_queue.dsn("elsewhere")), rig.connect() as db:
        before = rig.start()
        with db.transaction():
            db.execute("select lenses.fn_fail_attempt(r, 'x', 'y', 'failed', now()) from "
                       "lenses.fn_claim_workflow_runs('w') as c "
                       "join lenses.workflow_runs as r on r.id = c.id")  # fmt: skip
        with running(rig.dsn, "worker", env={"TICK_MS": "100"}) as worker:
            worker.says("leading")
            due_in(db, rig.schedule, 0)
            slots = "select count(*) from lenses.workflow_runs where trigger_mode = 'schedule'"
            wait_until(lambda: db.value(slots) == 1)
            db.execute("call lenses.sp_dispatch_tick()")
            with rig.work("--lease", "1m") as process:
                rig.open()
                ended = "select count(*) from lenses.workflow_runs where status = 'completed'"
                wait_until(lambda: db.value(ended) == 2)
                assert process.stop() == 0 and is_quiet(process)
            assert worker.stop() == 0
            assert "failed" not in worker.output, worker.output
        assert rig.row(before).status == "completed"
