"""The server goes and comes back; the worker is still there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.support.database import connect, make_tenant, wait_until
from tests.support.processes import running
from tests.support.server import TestServer
from tests.support.work import make_schedule, make_workflow, run_now


@pytest.fixture(scope="module")
def own_server() -> Iterator[TestServer]:
    server = TestServer()
    with product_db.connect(server.dsn()) as conn:
        apply.install(conn, bundle.load())
    yield server
    server.stop()


def ticks(dsn: str) -> int:
    with connect(dsn) as conn:
        return int(conn.value("select coalesce(max(id), 0) from lenses.dispatch_ticks"))


def test_it_reconnects_after_a_restart_and_after_a_crash(own_server: TestServer) -> None:
    dsn = own_server.dsn()
    with running(dsn, "worker", env={"TICK_MS": "100"}) as worker:
        worker.says("leading")
        own_server.restart()
        before = ticks(dsn)
        wait_until(lambda: ticks(dsn) > before, what=worker.output)
        worker.says("connection lost")
        own_server.kill()
        worker.says("next try")
        own_server.restart()
        before = ticks(dsn)
        wait_until(lambda: ticks(dsn) > before, what=worker.output)
        assert worker.stop() == 0
        assert "Traceback" not in worker.output


def test_an_executor_finishes_its_run_across_a_restart(
    own_server: TestServer, tmp_path: Path
) -> None:
    dsn = own_server.dsn()
    gate = tmp_path / "gate"
    with connect(dsn) as conn:
        owner = make_tenant(conn)
        schedule = make_schedule(conn, make_workflow(conn, owner))
        run = run_now(conn, owner, schedule)
    script = f"touch {tmp_path}/up; while [ ! -e {gate} ]; do sleep 0.05; done; echo 1"
    with running(dsn, "runs", "work", "--", "sh", "-c", script) as process:
        wait_until((tmp_path / "up").exists)
        own_server.restart()
        gate.touch()
        process.says("completed")
        with connect(dsn) as conn:
            query = "select status, attempt from lenses.workflow_runs where id = %s"
            assert conn.row(query, [run]) == ("completed", 1)
            again = run_now(conn, owner, schedule)
            wait_until(lambda: conn.row(query, [again]).status == "completed")
        assert process.stop() == 0
        assert "Traceback" not in process.output
