"""Dumped and restored in every way that people do it: verify says what is off, install mends it, nothing is lost."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.security.rpcs import call_as, snapshot
from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, connect
from tests.support.server import TestServer, build, preload
from tests.support.setups import Setup, acting
from tests.support.tenants import ALICE, BOB


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(build().bindir / tool), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


def wrong(dsn: str) -> list[str]:
    """What verify finds, one line each."""
    rows = [line.split("\t") for line in lf_sql("verify", dsn=dsn).stdout.splitlines()[1:]]
    return [f"{row[1]} {row[2]}: {row[3]}" for row in rows if row[0] == "wrong"]


def everything(conn: Database) -> tuple[str, str, list[object]]:
    seeds = conn.column("select to_jsonb(c)::text from lenses.schedule_calendars as c order by 1")
    return snapshot(conn, ALICE), snapshot(conn, BOB), seeds


def works(conn: Database, schedule: str) -> None:
    """Guards, tenants, the tick and the sequences, as in the database that was dumped."""
    for table in ("agents.action_logs", "lenses.workflow_run_events", "agents.agent_run_events"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(f"delete from {table}")
    with acting(conn, "service_role"):
        conn.execute("set local client_min_messages = error")
        conn.execute("update lenses.workflow_runs set status = 'pending'")
        assert conn.column("select distinct status from lenses.workflow_runs") == [
            "pending_approval"
        ]
    with pytest.raises(psycopg.errors.InsufficientPrivilege), acting(conn, "anon"):
        conn.execute("select public.fn_get_workflows()")
    for one in (ALICE, BOB):
        assert [w["title"] for w in call_as(conn, one, "fn_get_workflows")] == [one.secret]
    conn.execute(
        "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) where id = %s",
        [schedule],
    )
    assert conn.value("select public.fn_dispatch_tick()") == 1


@pytest.fixture
def target(setup: Setup, own_two_tenants: Database) -> Iterator[str]:
    """The name of an empty database on the same server, as its owner gets it from the platform."""
    name = f"{own_two_tenants.dbname}_back"
    with connect(setup.dsn("postgres")) as admin:
        admin.execute(f"create database {name} owner {setup.installer} template template0")
        yield name
        admin.execute(f"drop database {name} with (force)")


def test_full(own_two_tenants: Database, target: str, setup: Setup, tmp_path: Path) -> None:
    """By a superuser: it is all there, privileges and guards too."""
    before = everything(own_two_tenants)
    dump = str(tmp_path / "full")
    assert run("pg_dump", "-Fc", "-f", dump, setup.dsn(own_two_tenants.dbname)).returncode == 0
    restored = run("pg_restore", "-d", setup.dsn(target), dump)
    assert restored.returncode == 0, restored.stderr
    with connect(setup.dsn(target)) as conn:
        assert everything(conn) == before
        assert wrong(setup.dsn(target, setup.installer)) == []
        assert "nothing to do" in succeeded(
            lf_sql("install", dsn=setup.dsn(target, setup.installer))
        )
        works(conn, ALICE.schedule)


def test_by_the_installing_role(
    own_two_tenants: Database, target: str, setup: Setup, tmp_path: Path
) -> None:
    """On a service there is no superuser: what a restore could not hand over, install does."""
    before = everything(own_two_tenants)
    dump = str(tmp_path / "full")
    dsn = setup.dsn(target, setup.installer)
    assert run("pg_dump", "-Fc", "-n", "l*", "-n", "agents", "-n", "automation", "-n", "public", "-f", dump,
               setup.dsn(own_two_tenants.dbname, setup.installer)).returncode == 0  # fmt: skip
    run("pg_restore", "-d", dsn, dump)
    succeeded(lf_sql("install", dsn=dsn))
    assert wrong(dsn) == []
    with connect(setup.dsn(target)) as conn:
        assert everything(conn) == before
        works(conn, ALICE.schedule)


def test_without_owners_and_privileges(
    own_two_tenants: Database, target: str, setup: Setup, tmp_path: Path
) -> None:
    """Pg_restore -x -O hands all to the restoring role, and every function to PUBLIC."""
    before = everything(own_two_tenants)
    dump = str(tmp_path / "bare")
    dsn = setup.dsn(target, setup.installer)
    assert run("pg_dump", "-Fc", "-f", dump, setup.dsn(own_two_tenants.dbname)).returncode == 0
    run("pg_restore", "-x", "-O", "-n", "lf_sql", "-n", "lensers", "-n", "lenses", "-n", "agents",
        "-n", "automation", "-n", "public", "-d", dsn, dump)  # fmt: skip
    run("pg_restore", "-x", "-O", "-d", dsn, dump)
    found = "\n".join(wrong(dsn))
    assert "PUBLIC:EXECUTE" in found
    assert "acl lacks authenticated" in found
    assert f"owner is {setup.installer}, should be lf_sql_owner" in found
    succeeded(lf_sql("install", dsn=dsn))
    assert wrong(dsn) == []
    with connect(setup.dsn(target)) as conn:
        assert everything(conn) == before
        works(conn, ALICE.schedule)


def test_data_alone(own_two_tenants: Database, target: str, setup: Setup, tmp_path: Path) -> None:
    """--disable-triggers turns ALWAYS into ordinary, for a superuser only; install turns it back."""
    before = everything(own_two_tenants)
    dsn = setup.dsn(target)
    for part in ("--schema-only", "--data-only"):
        dump = str(tmp_path / part)
        assert (
            run("pg_dump", "-Fc", part, "-f", dump, setup.dsn(own_two_tenants.dbname)).returncode
            == 0
        )
        options = ["--disable-triggers"] if part == "--data-only" else []
        restored = run("pg_restore", *options, "-d", dsn, dump)
        assert restored.returncode == 0, restored.stderr
    found = "\n".join(wrong(setup.dsn(target, setup.installer)))
    assert (
        "agents.action_logs_default.action_logs_refuse_delete: enabled is O, should be A" in found
    )
    assert "lenses.workflow_runs.workflow_runs_admit: enabled is O, should be A" in found
    assert "lenses.schedule_calendars.schedule_calendars_seed: enabled is O, should be A" in found
    succeeded(lf_sql("install", dsn=setup.dsn(target, setup.installer)))
    assert wrong(setup.dsn(target, setup.installer)) == []
    with connect(dsn) as conn:
        assert everything(conn) == before
        works(conn, ALICE.schedule)


@pytest.fixture
def other_server() -> Iterator[TestServer]:
    """Another cluster, without our roles."""
    server = TestServer()
    yield server
    server.stop()


def test_where_the_roles_are_missing(
    own_two_tenants: Database, setup: Setup, other_server: TestServer, tmp_path: Path
) -> None:
    """Dumps hold no roles; a restore that goes on past them is mended."""
    before = everything(own_two_tenants)
    dump = str(tmp_path / "full")
    dsn = other_server.dsn()
    with connect(dsn) as conn:
        if setup.name == "supabase":  # the platform's own roles come from the platform
            conn.execute("create role anon; create role authenticated; create role service_role")
    assert run("pg_dump", "-Fc", "-f", dump, setup.dsn(own_two_tenants.dbname)).returncode == 0
    restored = run("pg_restore", "-d", dsn, dump)
    assert 'role "lf_sql_owner" does not exist' in restored.stderr
    assert lf_sql("verify", dsn=dsn).returncode == 1
    succeeded(lf_sql("install", dsn=dsn))
    assert wrong(dsn) == []
    with connect(dsn) as conn:
        assert everything(conn) == before
        works(conn, ALICE.schedule)


@pytest.fixture
def cron_servers() -> Iterator[list[TestServer]]:
    assert preload("pg_cron"), "this build has no pg_cron"
    settings = {
        "shared_preload_libraries": "pg_cron",
        "cron.database_name": "postgres",
        "cron.use_background_workers": "on",
    }
    servers = [TestServer(settings), TestServer(settings)]
    yield servers
    for server in servers:
        server.stop()


@pytest.mark.pg_cron
@pytest.mark.parametrize("with_jobs", [True, False])
def test_the_job_is_back_exactly_once(
    with_jobs: bool, cron_servers: list[TestServer], tmp_path: Path
) -> None:
    """pg_cron's jobs are dumped with their extension; without them verify is red, and install registers anew."""
    jobs = "select jobname, command, active from cron.job order by jobname"
    here, there = (server.dsn() for server in cron_servers)
    dump = str(tmp_path / "full")
    with connect(here) as conn:
        conn.execute("create extension pg_cron")
        succeeded(lf_sql("install", dsn=here))
        expected = conn.rows(jobs)
    assert [job.jobname for job in expected].count("dispatch-scheduled-workflows") == 1
    options = [] if with_jobs else ["-n", "l*", "-n", "agents", "-n", "automation", "-n", "public"]
    assert run("pg_dump", "-Fc", *options, "-f", dump, here).returncode == 0
    with connect(there) as conn:
        for role in ("lf_sql_owner", "lf_sql_engine", "anon", "authenticated", "service_role"):
            conn.execute(f"create role {role} nologin noinherit")
        if not with_jobs:
            conn.execute("create extension pg_cron")
        run("pg_restore", "-d", there, dump)
        if not with_jobs:
            assert any("job" in line for line in wrong(there))
        succeeded(lf_sql("install", dsn=there))
        succeeded(lf_sql("verify", dsn=there))
        assert conn.rows(jobs) == expected
