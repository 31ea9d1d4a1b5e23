"""Everything but the worker through PgBouncer in transaction mode, with one server connection for all."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from tests.support import cli
from tests.support.database import Database, as_user, connect, make_tenant
from tests.support.server import TestServer
from tests.support.work import make_schedule, make_workflow
from tests.worker.test_pooler import pgbouncer


@pytest.fixture(params=[1, 5], ids=["pool of one", "pool of five"])
def port(request: pytest.FixtureRequest, server: TestServer, tmp_path: Path) -> Iterator[int]:
    with pgbouncer(server, tmp_path, "transaction", request.param) as port:
        yield port


def through(port: int, db: Database) -> str:
    return f"host=127.0.0.1 port={port} user=postgres dbname={db.dbname}"


def test_four_installs_at_once(port: int, empty_db: Database) -> None:
    dsn = through(port, empty_db)
    started = [cli.start("install", dsn=dsn) for _ in range(4)]
    ended = [(run.communicate(timeout=120), run.returncode) for run in started]
    assert [code for _, code in ended] == [0] * 4, ended
    versions = empty_db.column("select version from lf_sql.migrations order by version")
    assert versions == sorted(set(versions))
    assert empty_db.value("select count(*) from lf_sql.installs") == 1
    for command in (["status"], ["verify"], ["upgrade"], ["schedule", "list"]):
        assert cli.process(*command, dsn=dsn).returncode == 0, command


def test_an_install_killed_behind_the_pooler_leaves_no_lock(port: int, empty_db: Database) -> None:
    dsn = through(port, empty_db)
    run = cli.start("install", dsn=dsn)
    with pytest.raises(subprocess.TimeoutExpired):
        run.wait(0.4)
    run.kill()
    run.communicate(timeout=120)
    cli.succeeded(cli.process("install", "--wait", "20", dsn=dsn))


def test_ticks_beside_a_client_that_sets_things(port: int, db: Database) -> None:
    tenant = make_tenant(db)
    workflow = make_workflow(db, tenant)
    for _ in range(20):
        make_schedule(db, workflow, cron_expr="* * * * *")
    db.execute("create schema evil")
    db.execute("create table evil.workflow_runs ()")
    over = threading.Event()

    def disturb() -> None:
        while not over.is_set():
            with connect(through(port, db)) as conn:
                conn.execute("set search_path = evil, pg_temp")
                conn.execute("set timezone = 'Asia/Kathmandu'")
                conn.execute("set datestyle = 'german, dmy'")

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        with connect(through(port, db)) as conn:
            began = conn.value("select date_trunc('minute', now())")
            for minute in range(1, 101):
                conn.execute(
                    "select lenses.fn_dispatch_scheduled_workflows(%s)",
                    [began + timedelta(minutes=minute)],
                )
                conn.execute("call lenses.sp_dispatch_tick()")
    finally:
        over.set()
        thread.join(30)
    per = db.rows("select count(*) as n from lenses.workflow_runs group by schedule_id")
    assert [row.n for row in per] == [100] * 20
    assert db.rows("select * from lenses.fn_invariant_violations()") == []


def test_two_tenants_on_one_server_connection(port: int, db: Database) -> None:
    """Claims are the transaction's own: what one leaves behind the other does not find."""
    tenants = [make_tenant(db) for _ in range(2)]
    schedules = [make_schedule(db, make_workflow(db, tenant)) for tenant in tenants]
    conns = [connect(through(port, db)) for _ in tenants]
    for _ in range(25):
        for conn, tenant, schedule in zip(conns, tenants, schedules, strict=True):
            with as_user(conn, tenant):
                seen = conn.column("select id from public.fn_workflow_get_schedules()")
            assert seen == [schedule]
            assert conn.value("select lensers.get_auth_lenser_id()") is None
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute("select public.fn_pause_workflow_schedule(%s)", [schedule])
    for conn in conns:
        conn.close()


def test_an_executor(port: int, db: Database) -> None:
    workflow = make_workflow(db, make_tenant(db))
    make_schedule(db, workflow, cron_expr="* * * * *")
    with connect(through(port, db)) as conn:
        conn.execute(
            "select lenses.fn_dispatch_scheduled_workflows(date_trunc('minute', now()) + interval '1 minute')"
        )
        run = conn.row("select * from lenses.fn_claim_workflow_runs('w', 5)")
        assert conn.value("select lenses.fn_heartbeat_workflow_run(%s, 'w', '1 minute')", [run.id])
        assert conn.value(
            "select lenses.fn_complete_workflow_run(%s, 'w', %s)", [run.id, json.dumps({"ok": 1})]
        )
