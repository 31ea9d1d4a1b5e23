"""pg_cron in another database than ours, jobs of another server, and roles that may not log in."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.cli import Run, lf_sql, refused, succeeded
from tests.support.database import Database, connect, wait_until
from tests.support.server import TestServer, preload

pytestmark = pytest.mark.pg_cron

NAMES = [
    "dispatch-scheduled-workflows-app",
    "purge-lf-sql-history-app",
    "purge-lf-sql-job-log-app",
]
ROWS = "select jobname, database, username, active from cron.job order by jobname, jobid"


@pytest.fixture(scope="module")
def hosted() -> Iterator[TestServer]:
    """pg_cron lives in `postgres`, as on hosted servers; ours is `app`."""
    assert preload("pg_cron"), "this build has no pg_cron"
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "postgres",
            "cron.use_background_workers": "on",
        }
    )
    with connect(server.dsn()) as admin:
        admin.execute("create extension pg_cron")
        admin.execute("create database app")
    succeeded(lf_sql("install", dsn=server.dsn("app")))
    yield server
    server.stop()


@pytest.fixture
def cron(hosted: TestServer) -> Iterator[Database]:
    with connect(hosted.dsn()) as conn:
        yield conn
        conn.execute("select cron.unschedule(jobid) from cron.job")


def app(hosted: TestServer, *arguments: str) -> Run:
    return lf_sql(*arguments, "--cron-dsn", hosted.dsn(), dsn=hosted.dsn("app"))


def pg_cron_line(run: Run) -> dict[str, str]:
    (line,) = [row for row in json.loads(run.stdout) if row["check_name"] == "pg_cron"]
    return line


def test_all_three_are_registered_and_watched(hosted: TestServer, cron: Database) -> None:
    assert "in database postgres" in succeeded(lf_sql("install", dsn=hosted.dsn("app")))
    assert cron.rows(ROWS) == []
    assert f"pg_cron: {', '.join(NAMES)} registered" in succeeded(app(hosted, "install"))
    databases = ["app", "app", "postgres"]
    good = [(n, d, "postgres", True) for n, d in zip(NAMES, databases, strict=True)]
    assert cron.rows(ROWS) == good
    assert "nothing to do" in succeeded(app(hosted, "install"))
    assert cron.rows(ROWS) == good
    succeeded(app(hosted, "verify"))
    assert NAMES[0] in succeeded(app(hosted, "status"))
    line = pg_cron_line(app(hosted, "schedule", "health", "--server", "--json"))
    assert (line["state"], line["label"]) == ("ok", "registered")


@pytest.mark.clock
def test_it_ticks(hosted: TestServer, cron: Database) -> None:
    succeeded(app(hosted, "install"))
    with connect(hosted.dsn("app")) as conn:
        ticks = "select count(*) from lenses.dispatch_ticks where driver = 'pg_cron'"
        wait_until(lambda: conn.value(ticks) > 0, 130, what="the job's first tick")


def test_its_log_is_purged_in_its_own_database(hosted: TestServer, cron: Database) -> None:
    succeeded(app(hosted, "install"))
    cron.execute(
        "insert into cron.job_run_details (jobid, runid, database, username, command, status, "
        "start_time, end_time) select j.jobid, 1000000 + j.jobid, 'app', 'postgres', '', "
        "'succeeded', now() - interval '1 year', now() - interval '1 year' from cron.job as j"
    )
    old = "select count(*) from cron.job_run_details where runid > 1000000"
    assert cron.value(old) == 3
    cron.execute(cron.value("select command from cron.job where jobname = %s", [NAMES[2]]))
    assert cron.value(old) == 0


@pytest.mark.parametrize(
    ("damage", "seen", "label"),
    [
        ("update cron.job set command = 'select 1'", "command is select 1", "job altered"),
        ("update cron.job set schedule = '0 0 1 1 *'", "schedule is 0 0 1 1 *", "job altered"),
        ("update cron.job set active = false", "not active", "job inactive"),
        ("update cron.job set username = 'gone'", "there is no such role", "owner gone"),
        ("update cron.job set username = 'sleeper'", "it may not log in", "not permitted"),
        ("update cron.job set database = 'template1'", "database is template1", "job altered"),
        ("select cron.unschedule(jobid) from cron.job", "not registered", "job missing"),
    ],
)
def test_what_is_off_is_seen_and_mended(
    damage: str, seen: str, label: str, hosted: TestServer, cron: Database
) -> None:
    succeeded(app(hosted, "install"))
    good = cron.rows(ROWS)
    cron.execute("create role sleeper superuser nologin")
    try:
        cron.execute(damage)
        verified = app(hosted, "verify")
        assert verified.returncode == 1
        assert seen in verified.stdout
        health = app(hosted, "schedule", "health", "--server", "--json")
        assert pg_cron_line(health)["label"] == label
        succeeded(app(hosted, "install"))
        assert cron.rows(ROWS) == good
        succeeded(app(hosted, "verify"))
    finally:
        cron.execute("drop role sleeper")


def test_two_databases_do_not_meet(hosted: TestServer, cron: Database) -> None:
    cron.execute("create database second")
    try:
        for name in ("app", "second"):
            run = lf_sql("install", "--cron-dsn", hosted.dsn(), dsn=hosted.dsn(name))
            succeeded(run)
        assert len(cron.rows(ROWS)) == 6
        succeeded(app(hosted, "verify"))
        run = lf_sql("uninstall", "--yes", "--cron-dsn", hosted.dsn(), dsn=hosted.dsn("second"))
        assert "job dispatch-scheduled-workflows-second" in succeeded(run)
        assert cron.column("select jobname from cron.job order by 1") == NAMES
    finally:
        cron.execute("drop database second with (force)")


def test_uninstall_without_a_way_to_the_jobs_says_that_they_stay(
    hosted: TestServer, cron: Database
) -> None:
    cron.execute("create database third")
    try:
        dsn = hosted.dsn("third")
        succeeded(lf_sql("install", "--cron-dsn", hosted.dsn(), dsn=dsn))
        run = lf_sql("uninstall", "--yes", dsn=dsn)
        assert "pg_cron lives in database postgres" in run.stderr
        assert "purge-lf-sql-job-log-third" in run.stderr
        succeeded(run)
        assert cron.value("select count(*) from cron.job where database = 'third'") == 2
    finally:
        cron.execute("drop database third with (force)")


def test_a_job_made_by_hand_is_taken_over(hosted: TestServer, cron: Database) -> None:
    cron.execute(
        "select cron.schedule_in_database('dispatch-scheduled-workflows', '* * * * *', "
        "'call lenses.sp_dispatch_tick()', 'app')"
    )
    succeeded(app(hosted, "install"))
    assert cron.column("select jobname from cron.job order by 1") == NAMES


def test_one_grant_of_two_is_enough(hosted: TestServer, cron: Database) -> None:
    """The one that install asks for, or the one that Amazon RDS gives."""
    cron.execute("create role deploy login in role service_role")
    cron.execute("grant usage on schema cron to deploy")
    options = ["--cron-dsn", hosted.dsn(user="deploy")]
    good = [(name, "deploy") for name in NAMES]
    rows = "select jobname, username from cron.job order by jobname"
    try:
        said = succeeded(lf_sql("install", *options, dsn=hosted.dsn("app")))
        assert "permission denied for function schedule_in_database" in said
        assert cron.rows(rows) == []
        (asked,) = [line.strip() for line in said.splitlines() if "grant execute" in line]
        for grant in (asked, "grant update on cron.job to deploy"):
            cron.execute(grant)
            succeeded(lf_sql("install", *options, dsn=hosted.dsn("app")))
            assert cron.rows(rows) == good
            succeeded(lf_sql("verify", *options, dsn=hosted.dsn("app")))
            cron.execute("select cron.unschedule(jobid) from cron.job")
            cron.execute("drop owned by deploy; grant usage on schema cron to deploy")
    finally:
        cron.execute("select cron.unschedule(jobid) from cron.job")
        cron.execute("drop owned by deploy; drop role deploy")


def test_another_server_is_refused(hosted: TestServer) -> None:
    other = TestServer()
    try:
        refused(
            lf_sql("install", "--cron-dsn", other.dsn(), dsn=hosted.dsn("app")), "another server"
        )
    finally:
        other.stop()


@pytest.fixture(scope="module")
def connecting() -> Iterator[TestServer]:
    """pg_cron without background workers: it connects to what a job names."""
    assert preload("pg_cron"), "this build has no pg_cron"
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "postgres",
            "cron.host": "127.0.0.1",
        }
    )
    succeeded(lf_sql("install", dsn=server.dsn()))
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("damage", "seen"),
    [
        ("nodeport = 1", "port is 1, should be"),
        ("nodename = 'old.example.org'", "host is old.example.org, should be 127.0.0.1"),
    ],
)
def test_a_job_of_another_server(damage: str, seen: str, connecting: TestServer) -> None:
    dsn = connecting.dsn()
    with connect(dsn) as conn:
        conn.execute(f"update cron.job set {damage}")
        verified = lf_sql("verify", dsn=dsn)
        assert verified.returncode == 1
        assert seen in verified.stdout
        line = pg_cron_line(lf_sql("schedule", "health", "--server", "--json", dsn=dsn))
        assert line["label"] == "job altered"
        assert "the job connects to" in line["detail"]
        succeeded(lf_sql("install", dsn=dsn))
        succeeded(lf_sql("verify", dsn=dsn))
        assert conn.rows("select distinct nodename, nodeport from cron.job") == [
            ("127.0.0.1", connecting.port)
        ]


def test_a_job_of_a_role_that_may_not_log_in(connecting: TestServer) -> None:
    """Registered as who logged in, where he can run it; else a refusal with the way out, no circle."""
    dsn = connecting.dsn()
    acting = {"PGOPTIONS": "-c role=lenses_owner"}
    with connect(dsn) as conn:
        conn.execute("create role lenses_owner superuser nologin")
        try:
            conn.execute("update cron.job set username = 'lenses_owner'")
            line = pg_cron_line(lf_sql("schedule", "health", "--server", "--json", dsn=dsn))
            assert line["label"] == "not permitted"
            assert "may not log in" in line["detail"]
            succeeded(lf_sql("install", dsn=dsn, env=acting))
            assert conn.column("select distinct username from cron.job") == ["postgres"]
            succeeded(lf_sql("verify", dsn=dsn, env=acting))
        finally:
            conn.execute("drop role lenses_owner")


def test_where_nobody_could_run_it_the_way_out_is_named(connecting: TestServer) -> None:
    dsn = connecting.dsn()
    with connect(dsn) as conn:
        conn.execute(
            "create role lenses_owner nologin noinherit; create role deploy login noinherit;"
            "grant lf_sql_owner, lf_sql_engine, lenses_owner to deploy;"
            "grant lf_sql_owner, lf_sql_engine to lenses_owner; alter role lenses_owner inherit;"
            "grant create on database postgres to lenses_owner; grant usage on schema cron to lenses_owner;"
            "grant create on schema public to lenses_owner with grant option"
        )
        try:
            conn.execute("select cron.unschedule(jobid) from cron.job")
            env = {"PGOPTIONS": "-c role=lenses_owner"}
            said = succeeded(lf_sql("install", dsn=f"{dsn} user=deploy", env=env))
            assert "role lenses_owner may not log in" in said
            assert "alter role lenses_owner login" in said
            assert conn.value("select count(*) from cron.job") == 0
            conn.execute("alter role lenses_owner login")
            succeeded(lf_sql("install", dsn=f"{dsn} user=deploy", env=env))
            assert conn.column("select distinct username from cron.job") == ["lenses_owner"]
        finally:
            conn.execute("select cron.unschedule(jobid) from cron.job")
            conn.execute("drop owned by lenses_owner, deploy; drop role lenses_owner, deploy")
            succeeded(lf_sql("install", dsn=dsn))


def test_a_job_a_lane_elsewhere(hosted: TestServer, cron: Database) -> None:
    succeeded(app(hosted, "install"))
    succeeded(app(hosted, "settings", "set", "dispatch_lanes", "2"))
    lanes = "select jobname from cron.job where jobname like 'dispatch%' order by jobname"
    assert cron.column(lanes) == [
        "dispatch-scheduled-workflows-2-app",
        "dispatch-scheduled-workflows-app",
    ]
    health = app(hosted, "schedule", "health", "--server", "--json")
    states = {row["check_name"]: row["label"] for row in json.loads(health.stdout)}
    assert states["lane 2"] in ("new", "ok")
    succeeded(app(hosted, "settings", "set", "dispatch_lanes", "1"))
    assert cron.column(lanes) == ["dispatch-scheduled-workflows-app"]
