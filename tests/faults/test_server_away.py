"""The server is read-only, full, restarted, or another one: executors and workers wait, and go on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.faults.plant import Plant
from tests.faults.rig import Rig, end_sessions, is_quiet, losses
from tests.faults.test_failover import STREAMING, caught_up, promoted
from tests.support.database import Database, Tenant, connect, wait_until
from tests.support.processes import running
from tests.support.server import TestServer
from tests.support.servers import standby_of
from tests.support.work import due_in, make_schedule, make_workflow


@contextlib.contextmanager
def read_only(db: Database) -> Iterator[None]:
    """As an operator does it before a switch: for new sessions, and the old ones ended."""
    db.execute(f'alter database "{db.dbname}" set default_transaction_read_only = on')
    end_sessions(db)
    try:
        yield
    finally:
        db.execute(f'alter database "{db.dbname}" reset default_transaction_read_only')


def test_an_executor_waits_while_the_database_is_read_only(db: Database, rig: Rig) -> None:
    run = rig.start()
    with rig.work("--lease", "1m") as process:
        rig.begun(run)
        with read_only(db):
            rig.open()
            wait_until(lambda: rig.notes("end", run))
            process.says("read-only")
        rig.completed(run)
        process.says("the server is back")
        assert process.stop() == 0
        assert losses(process) == 1 and is_quiet(process), process.output


def test_leader_and_spare_wait_while_the_database_is_read_only(
    db: Database, tenant: Callable[..., Tenant]
) -> None:
    schedule = make_schedule(db, make_workflow(db, tenant()))
    env = {"TICK_MS": "50"}
    with running(db.dsn, "worker", env=env) as first, running(db.dsn, "worker", env=env) as second:
        wait_until(lambda: "leading" in first.output + second.output)
        wait_until(lambda: "is connected" in first.output and "is connected" in second.output)
        with read_only(db):
            first.says("read-only")
            second.says("read-only")
        due_in(db, schedule, 0)
        wait_until(lambda: db.value("select count(*) from lenses.workflow_runs") == 1)
        for worker in (first, second):
            worker.says("the server is back")
            assert losses(worker) == 1 and is_quiet(worker), worker.output
            assert worker.stop() == 0


@pytest.mark.parametrize("command", ["worker", "work"])
def test_a_start_while_the_database_is_read_only_waits(
    db: Database, rig: Rig, command: str
) -> None:
    rig.open()
    with read_only(db):
        start = rig.work() if command == "work" else running(rig.dsn, "worker")
        process = start.__enter__()
        process.says("waiting for the server")
    with contextlib.closing(contextlib.ExitStack()) as stack:
        stack.push(start)
        process.says("the server is back")
        process.says("leading" if command == "worker" else "waiting for runs")
        assert process.stop() == 0
        assert losses(process) == 1, process.output


def test_no_connection_is_left(db: Database, rig: Rig) -> None:
    """53300, at the start and later: somebody else has them all."""
    role = "a_crowded_executor"
    db.execute(f"create role {role} login connection limit 4; grant service_role to {role}")
    run = rig.start()
    dsn = f"{rig.dsn} user={role}"
    try:
        crowd = [connect(dsn) for _ in range(4)]
        with rig.work("--lease", "1m", dsn=dsn) as process:
            process.says("waiting for the server")
            for one in crowd:
                one.close()
            rig.begun(run)
            process.says("the server is back")
            with contextlib.ExitStack() as stack:
                taken = 0
                while taken < 4:
                    end_sessions(db, f"usename = '{role}' and application_name like 'lf-sql%%'")
                    with contextlib.suppress(Exception):
                        stack.enter_context(connect(dsn))
                        taken += 1
                rig.open()
                wait_until(lambda: rig.notes("end", run))
                assert rig.row(run).status == "running"
            rig.completed(run)
            assert process.stop() == 0
            assert is_quiet(process), process.output
    finally:
        db.execute(f"drop role {role}")


@pytest.fixture(scope="module")
def own_server() -> Iterator[TestServer]:
    server = TestServer({**STREAMING, "synchronous_commit": "on"})
    with product_db.connect(server.dsn()) as conn:
        apply.install(conn, bundle.load())
    yield server
    server.stop()


def test_sessions_that_become_read_only_are_dropped(own_server: TestServer, tmp_path: Path) -> None:
    """Nobody ends them: each statement is refused with 25006, and another session might not be."""
    rig = Rig(own_server.dsn(), tmp_path)
    run = rig.start()
    ours = "select array_agg(pid order by pid) from pg_stat_activity where application_name = %s"
    with rig.connect() as db, rig.work("--lease", "1m", "--concurrency", "2") as process:
        rig.begun(run)
        before = db.value(ours, ["lf-sql runs work"])
        db.execute("alter system set default_transaction_read_only = on")
        db.execute("select pg_reload_conf()")
        try:
            process.says("connection lost")
            process.says("the server is read-only")
            rig.open()
            wait_until(lambda: rig.notes("end", run))
        finally:
            db.execute("alter system reset default_transaction_read_only")
            db.execute("select pg_reload_conf()")
        rig.completed(run)
        process.says("the server is back")
        wait_until(lambda: not set(db.value(ours, ["lf-sql runs work"]) or before) <= set(before))
        assert process.stop() == 0
        assert is_quiet(process), process.output


def stop_at_once(server: TestServer) -> None:
    os.kill(int((server.folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
    wait_until(lambda: not server.is_alive)


def test_an_immediate_shutdown_within_the_lease(own_server: TestServer, tmp_path: Path) -> None:
    rig = Rig(own_server.dsn(), tmp_path)
    run = rig.start()
    with rig.work("--lease", "5m") as process, running(rig.dsn, "worker") as worker:
        rig.begun(run)
        worker.says("leading")
        stop_at_once(own_server)
        process.says("connection lost")
        worker.says("connection lost")
        rig.open()
        wait_until(lambda: rig.notes("end", run))
        own_server.restart()
        rig.completed(run)
        worker.says("the server is back")
        assert process.stop() == 0 and worker.stop() == 0
        assert is_quiet(process) and is_quiet(worker), process.output + worker.output


def test_an_immediate_shutdown_longer_than_the_lease(
    own_server: TestServer, tmp_path: Path
) -> None:
    """The same process claims its own lost run again: its old command has ended by then."""
    rig = Rig(own_server.dsn(), tmp_path)
    run = rig.start()
    with rig.work("--concurrency", "2", "--lease", "3s") as process:
        rig.begun(run)
        stop_at_once(own_server)
        process.says("lease is lost", 30.0)
        own_server.restart()
        rig.begun(run, 2)
        rig.open()
        rig.completed(run, 2)
        assert process.stop() == 0
        assert is_quiet(process), process.output


@pytest.mark.parametrize("attrs", ["", "primary", "any"])
def test_failover_to_a_standby_that_is_named_first(attrs: str, tmp_path: Path) -> None:
    server = TestServer({**STREAMING, "synchronous_commit": "on"})
    place = Plant(server)
    try:
        with standby_of(server) as standby_dsn:
            rig = Rig(server.dsn(), tmp_path)
            run = rig.start()
            a, b = conninfo_to_dict(standby_dsn), conninfo_to_dict(server.dsn())
            hosts = {"host": f"{a['host']},{b['host']}", "port": f"{a['port']},{b['port']}"}
            extra = {"target_session_attrs": attrs} if attrs else {}
            dsn = make_conninfo(server.dsn(), **hosts, **extra)
            with (
                rig.work("--lease", "5m", dsn=dsn) as process,
                running(dsn, "worker") as worker,
                running(dsn, "worker") as spare,
                rig.work(dsn=standby_dsn) as waiting,
            ):
                rig.begun(run)
                waiting.says("waiting for the server")
                with rig.connect() as primary, connect(standby_dsn) as standby:
                    wait_until(lambda: "leading" in worker.output + spare.output)
                    wait_until(lambda: caught_up(primary, standby))
                place.lose(postmaster=True)
                process.says("connection lost")
                rig.open()
                wait_until(lambda: rig.notes("end", run))
                with promoted(standby_dsn):
                    rig.dsn = standby_dsn
                    rig.completed(run)
                    later = rig.start()
                    rig.completed(later)
                    for each in (process, worker, spare, waiting):
                        each.says("the server is back", 30.0)
                        assert is_quiet(each), each.output
                        assert each.stop() == 0
    finally:
        with contextlib.suppress(subprocess.SubprocessError, OSError, RuntimeError):
            server.stop()
