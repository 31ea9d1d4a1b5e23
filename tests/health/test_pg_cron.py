"""The minute job on real servers: each thing that can be off, made so, and recognised."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from lf_sql import apply, bundle, jobs
from lf_sql import db as product_db
from tests.health.conftest import asker
from tests.support.cli import lf_sql, succeeded
from tests.support.command import commander
from tests.support.database import Database, connect, wait_until
from tests.support.server import TestServer
from tests.support.servers import standby_of, without_pg_cron
from tests.support.work import unguarded

TICK = next(job.command for job in bundle.load().jobs if job.name == "dispatch-scheduled-workflows")

pytestmark = pytest.mark.pg_cron

Ask = Callable[[str], Callable[..., object]]


def installed(dsn: str) -> None:
    tree = bundle.load()
    with product_db.connect(dsn) as conn:
        apply.install(conn, tree)
        jobs.register(conn, tree)


@pytest.fixture
def ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Callable[..., object]]:
    """`ask(dsn)(code=1)`: health of any database."""
    return lambda dsn: asker(commander(capsys, monkeypatch, dsn))


@pytest.fixture(scope="module")
def cron() -> Iterator[Database]:
    """A server whose pg_cron drives database `app`."""
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "app",
            "cron.use_background_workers": "on",
        }
    )
    with connect(server.dsn()) as conn:
        conn.execute("create database app")
        conn.execute("create database other")
    wait_for_launcher(server.dsn())
    installed(server.dsn("app"))
    with connect(server.dsn("app")) as conn:
        conn.server = server  # type: ignore[attr-defined]
        yield conn
    server.stop()


def wait_for_launcher(dsn: str) -> None:
    with connect(dsn) as conn:
        running = "select count(*) from pg_stat_activity where application_name = %s"
        wait_until(lambda: conn.value(running, ["pg_cron scheduler"]) == 1)


def job(conn: Database) -> str:
    return "jobname = 'dispatch-scheduled-workflows'"


@pytest.fixture
def line(cron: Database, ask: Ask) -> Callable[[int], dict]:
    """The line about pg_cron, with the exit code that it brings where nothing ticks."""

    def found(code: int) -> dict:
        cron.execute("delete from lenses.dispatch_ticks")
        return ask(cron.dsn)("--server", code=code).check("pg_cron")  # type: ignore[attr-defined]

    return found


@pytest.fixture
def mended(cron: Database) -> Iterator[None]:
    """Afterwards `install` has registered the job anew."""
    yield
    installed(cron.dsn)


def test_registered_and_well(cron: Database, ask: Ask) -> None:
    cron.execute("delete from lenses.dispatch_ticks")
    cron.execute("update lenses.dispatch_settings set batch_size = batch_size")
    lines = ask(cron.dsn)(code=0)
    assert "worker: ok" in lines.text
    assert "pg_cron: registered" in lines.text


@pytest.mark.parametrize("has_ticked", [False, True])
def test_a_job_that_is_registered_long_after_the_install(
    cron: Database, ask: Ask, mended: None, has_ticked: bool
) -> None:
    """pg_cron was not to be had at the install: the first tick is still to come, nothing is wrong."""
    cron.execute("select cron.unschedule(jobid) from cron.job")
    cron.execute("delete from lenses.dispatch_ticks")
    with unguarded(cron, "lenses.dispatch_settings"):
        cron.execute("update lenses.dispatch_settings set updated_at = now() - interval '1 hour'")
    if has_ticked:
        cron.execute("select lenses.fn_tick_end(lenses.fn_tick_begin('worker'))")
        cron.execute(
            "update lenses.dispatch_ticks set started_at = started_at - interval '5 minutes', "
            "finished_at = finished_at - interval '5 minutes'"
        )
    assert ask(cron.dsn)("--server", code=1).check("worker")["label"] == "silent"  # type: ignore[attr-defined]
    installed(cron.dsn)
    line = ask(cron.dsn)("--server", code=0).check("worker")  # type: ignore[attr-defined]
    assert (line["state"], line["label"]) == ("ok", "ok")


def test_a_worker_elsewhere_takes_the_edge_off(cron: Database, ask: Ask) -> None:
    dsn = cron.dsn.replace("dbname=app", "dbname=other")
    installed(dsn)
    with connect(dsn) as conn:
        bad = ask(dsn)("--server", code=1).check("pg_cron")
        assert (bad["state"], bad["label"]) == ("bad", "in another database")
        assert "schedule_in_database" in bad["advice"]
        conn.execute("select lenses.fn_tick_end(lenses.fn_tick_begin('worker'))")
        conn.execute("select lenses.fn_worker_heartbeat('w', 'h', 1, true, '')")
        assert ask(dsn)("--server", code=0).check("pg_cron")["state"] == "warn"


def test_the_job_of_pg_cron_s_database_is_that_one_s_own(cron: Database, ask: Ask) -> None:
    """Both have an lf-sql; only pg_cron's database has its job. The hint says what is left out."""
    dsn = cron.dsn.replace("dbname=app", "dbname=other")
    installed(dsn)
    elsewhere = ["--cron-dsn", cron.dsn]
    with connect(dsn) as conn:
        conn.execute("delete from lenses.dispatch_ticks; delete from lenses.worker_heartbeats")
    found = ask(dsn)("--server", *elsewhere, code=1).check("pg_cron")  # type: ignore[attr-defined]
    assert found["label"] == "job missing"
    assert "dispatch-scheduled-workflows-other" in found["detail"]
    assert "lf-sql install --cron-dsn with the DSN of database app" in found["advice"]
    succeeded(lf_sql("install", *elsewhere, dsn=dsn))
    try:
        found = ask(dsn)("--server", *elsewhere, code=None).check("pg_cron")  # type: ignore[attr-defined]
        assert found["label"] == "registered"
        cron.execute("update cron.job set active = false where database = 'other'")
        found = ask(dsn)("--server", *elsewhere, code=None).check("pg_cron")  # type: ignore[attr-defined]
        assert found["label"] == "job inactive"
        assert "--cron-dsn with the DSN of database app" in found["advice"]
    finally:
        cron.execute("delete from cron.job where database = 'other' or jobname like '%-other'")


def test_job_missing(cron: Database, line: Callable[[int], dict], mended: None) -> None:
    cron.execute("select cron.unschedule('dispatch-scheduled-workflows')")
    found = line(1)
    assert found["label"] == "job missing"
    assert "lf-sql install" in found["advice"]


def test_job_inactive(cron: Database, line: Callable[[int], dict], mended: None) -> None:
    cron.execute(f"update cron.job set active = false where {job(cron)}")
    assert line(1)["label"] == "job inactive"


@pytest.mark.parametrize(
    "change", ["schedule = '*/5 * * * *'", "command = 'select 1'", "database = 'other'"]
)
def test_job_altered(
    cron: Database, line: Callable[[int], dict], mended: None, change: str
) -> None:
    cron.execute(f"update cron.job set {change} where {job(cron)}")
    found = line(1)
    assert found["label"] == "job altered"
    assert "lf-sql install" in found["advice"]
    cron.execute("delete from cron.job where database = 'other'")


def test_job_of_a_role_that_is_gone(
    cron: Database, line: Callable[[int], dict], mended: None
) -> None:
    cron.execute("select cron.unschedule('dispatch-scheduled-workflows')")
    cron.execute("create role leaver login superuser")
    with cron.another("leaver") as leaver:
        leaver.execute(
            "select cron.schedule('dispatch-scheduled-workflows', '* * * * *', %s)", [TICK]
        )
    cron.execute("drop role leaver")
    found = line(1)
    assert found["label"] == "owner gone"
    assert "leaver" in found["detail"]
    cron.execute("delete from cron.job where username = 'leaver'")


def test_job_of_a_role_that_may_not_tick(
    cron: Database, line: Callable[[int], dict], mended: None
) -> None:
    cron.execute("select cron.unschedule('dispatch-scheduled-workflows')")
    cron.execute("create role clerk login; grant usage on schema cron to clerk")
    with cron.another("clerk") as clerk:
        clerk.execute(
            "select cron.schedule('dispatch-scheduled-workflows', '* * * * *', %s)", [TICK]
        )
    found = line(1)
    assert found["label"] == "not permitted"
    assert "clerk" in found["detail"]
    cron.execute("delete from cron.job where username = 'clerk'")
    cron.execute("revoke usage on schema cron from clerk; drop role clerk")


def test_a_role_that_sees_nothing_of_it(cron: Database, ask: Ask) -> None:
    cron.execute("create role guest login; grant service_role to guest")
    try:
        found = ask(f"{cron.dsn} user=guest")("--server", code=1).check("pg_cron")
        assert found["label"] == "not visible"
    finally:
        cron.execute("drop role guest")


def test_its_log_is_purged_by_our_job(cron: Database) -> None:
    cron.execute(
        "insert into cron.job_run_details (jobid, runid, job_pid, database, username, command, "
        "status, start_time, end_time) "
        "select j.jobid, 1000000 + n, 1, 'app', 'postgres', '', 'succeeded', "
        "now() - make_interval(days => n), now() - make_interval(days => n) "
        f"from cron.job as j, unnest(array[1, 40]) as n where {job(cron)}"
    )
    cron.execute(cron.value("select command from cron.job where jobname = 'purge-lf-sql-job-log'"))
    left = "select count(*) from cron.job_run_details where end_time < now() - interval '14 days'"
    assert cron.value(left) == 0
    assert cron.value("select count(*) from cron.job_run_details where runid = 1000001") == 1
    cron.execute("delete from cron.job_run_details where runid = 1000001")


def test_launcher_dead(cron: Database, line: Callable[[int], dict]) -> None:
    cron.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity "
        "where application_name = 'pg_cron scheduler'"
    )
    gone = "select count(*) from pg_stat_activity where application_name = 'pg_cron scheduler'"
    wait_until(lambda: cron.value(gone) == 0)
    found = line(1)
    assert found["label"] == "launcher dead"
    assert "restart" in found["advice"]
    assert "lf-sql worker" in found["advice"]


@pytest.fixture(scope="module")
def plain() -> Iterator[TestServer]:
    """A server on which pg_cron lies and is not preloaded."""
    server = TestServer()
    installed(server.dsn())
    yield server
    server.stop()


def test_on_the_server_and_not_preloaded(plain: TestServer, ask: Ask) -> None:
    found = ask(plain.dsn())("--server", code=1).check("pg_cron")
    assert found["label"] == "not preloaded"
    assert "shared_preload_libraries" in found["advice"]


def test_a_standby(plain: TestServer, ask: Ask) -> None:
    with connect(plain.dsn()) as primary, standby_of(plain) as dsn, connect(dsn) as standby:
        ticks = "select count(*) from lenses.dispatch_ticks where started_at > now() - %s::interval"
        primary.execute("select lenses.fn_tick_end(lenses.fn_tick_begin('worker'))")
        wait_until(lambda: standby.value(ticks, ["1 min"]) == 1)
        line = ask(dsn)(code=0).check("worker")
        assert line["label"] == "standby"
        assert "ask the primary" in line["advice"]
        primary.execute("update lenses.dispatch_ticks set started_at = now() - interval '1 hour'")
        wait_until(lambda: standby.value(ticks, ["1 min"]) == 0)
        assert "replication" in ask(dsn)(code=1).check("worker")["advice"]


def test_not_on_the_server(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    with without_pg_cron() as bindir:
        monkeypatch.setenv("LF_SQL_TEST_BINDIR", str(bindir))
        monkeypatch.setenv("LF_SQL_TEST_MAJOR", str(bindir.parent.name))
        server = TestServer()
        try:
            installed(server.dsn())
            found = ask(server.dsn())("--server", code=1).check("pg_cron")
            assert found["label"] == "missing"
            assert "lf-sql worker" in found["advice"]
        finally:
            server.stop()


@pytest.mark.slow
def test_it_cannot_connect(ask: Ask) -> None:
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "postgres",
            "cron.host": "/nowhere",
        }
    )
    try:
        installed(server.dsn())
        with connect(server.dsn()) as conn:
            failed = "select count(*) from cron.job_run_details where status = 'failed'"
            wait_until(lambda: conn.value(failed) > 0, 75.0)
        found = ask(server.dsn())("--server", code=1).check("pg_cron")
        assert found["label"] == "connection failed"
        assert "/nowhere" in found["detail"]
        (statement,) = re.findall(r"alter system [^;]+;", found["advice"])
        assert "restart the server" in found["advice"]
        with connect(server.dsn()) as conn:
            conn.execute(statement)
        server.restart()
        with connect(server.dsn()) as conn:
            ran = "select count(*) from cron.job_run_details where status = 'succeeded'"
            wait_until(lambda: conn.value(ran) > 0, 75.0)
        assert ask(server.dsn())("--server", code=None).check("pg_cron")["label"] == "registered"
    finally:
        server.stop()
