"""Dumps and restores: the data is there, verify is red where it must be, install makes it green."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import Database, as_user, connect, make_tenant
from tests.support.server import TestServer, build
from tests.support.servers import standby_of
from tests.support.state import State

TABLES = (
    "lensers.profiles",
    "lenses.workflows",
    "lenses.workflow_versions",
    "lenses.workflow_schedules",
    "lenses.schedule_calendars",
    "lenses.workflow_runs",
    "lenses.workflow_run_events",
    "agents.action_logs",
    "lenses.dispatch_ticks",
)


def tool(name: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(build().bindir / name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def counts(db: Database) -> dict[str, int]:
    return {table: db.value(f"select count(*) from {table}") for table in TABLES}


def one_more(db: Database) -> None:
    """Identities and triggers go on where they were: a tenant, a schedule, a tick."""
    tenant = make_tenant(db)
    with as_user(db, tenant):
        workflow = db.value(
            "select (public.fn_upsert_workflow(p_title => 'w', "
            'p_definition => \'{"nodes": [{"id": "a"}], "edges": []}\')).id'
        )
        db.execute(
            "select public.fn_upsert_workflow_schedule(%s, p_cron_expr => '*/5 * * * *')",
            [workflow],
        )
    newest = "select max(next_run_at) from lenses.workflow_schedules where is_active"
    assert db.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [db.value(newest)]) >= 1


@pytest.fixture
def lived_in(db: Database) -> Database:
    for _ in range(3):
        one_more(db)
    return db


@pytest.fixture
def dump(lived_in: Database, tmp_path: Path) -> Path:
    path = tmp_path / "dump"
    tool("pg_dump", "-Fc", "-d", lived_in.dsn, "-f", str(path))
    return path


@pytest.fixture
def elsewhere() -> Iterator[Database]:
    """An empty database on a server that knows none of our roles."""
    server = TestServer()
    try:
        with connect(server.dsn()) as conn:
            conn.execute("create role plain login createdb")
            conn.execute(
                "grant create on database postgres to plain; grant create on schema public to plain"
            )
            yield conn
    finally:
        server.stop()


def test_on_the_same_server(lived_in: Database, dump: Path, state: State) -> None:
    """Everything is an object like any other: no error, nothing to mend."""
    name = state.fresh(installed=False)
    with connect(state.server.dsn(name)) as restored:
        tool("pg_restore", "--exit-on-error", "-d", restored.dsn, str(dump))
        assert counts(restored) == counts(lived_in)
        succeeded(lf_sql("verify", dsn=restored.dsn))
        assert "nothing to do" in succeeded(lf_sql("install", dsn=restored.dsn))
        one_more(restored)
    state.drop(name)


def test_where_the_roles_are_missing(lived_in: Database, dump: Path, elsewhere: Database) -> None:
    tool("pg_restore", "-d", elsewhere.dsn, str(dump), check=False)  # complains of the roles
    assert counts(elsewhere) == counts(lived_in)
    assert lf_sql("verify", dsn=elsewhere.dsn).returncode == 1
    assert "mended" in succeeded(lf_sql("install", dsn=elsewhere.dsn))
    succeeded(lf_sql("verify", dsn=elsewhere.dsn))
    assert counts(elsewhere) == counts(lived_in)
    one_more(elsewhere)


def test_without_owner_and_privileges(lived_in: Database, dump: Path, state: State) -> None:
    name = state.fresh(installed=False)
    with connect(state.server.dsn(name)) as restored:
        tool("pg_restore", "-x", "-O", "--exit-on-error", "-d", restored.dsn, str(dump))
        run = lf_sql("verify", dsn=restored.dsn)
        assert run.returncode == 1
        assert "owner is postgres, should be lf_sql_owner" in run.stdout
        assert "acl lacks" in run.stdout
        assert "PUBLIC:EXECUTE" in run.stdout
        succeeded(lf_sql("install", dsn=restored.dsn))
        succeeded(lf_sql("verify", dsn=restored.dsn))
        assert counts(restored) == counts(lived_in)
        one_more(restored)
    state.drop(name)


def test_as_a_plain_owner(lived_in: Database, dump: Path, elsewhere: Database) -> None:
    """No superuser anywhere: forced row security hides the ledger from its own owner at first."""
    with connect(f"{elsewhere.dsn} user=plain") as plain:
        tool("pg_restore", "-x", "-O", "-d", plain.dsn, str(dump), check=False)
        assert lf_sql("verify", dsn=plain.dsn).returncode == 1
        said = succeeded(lf_sql("install", dsn=plain.dsn))
        assert "weaker: tables and definer functions belong to plain" in said
        succeeded(lf_sql("verify", dsn=plain.dsn))
        assert counts(plain) == counts(lived_in)


def test_data_alone_with_triggers_disabled(dump: Path, state: State) -> None:
    """pg_restore leaves the guards ordinary: a replica's session would slip through."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as restored:
        tool("pg_restore", "-a", "--disable-triggers", "-d", restored.dsn, str(dump), check=False)
        run = lf_sql("verify", dsn=restored.dsn)
        assert run.returncode == 1
        assert "enabled is O, should be A" in run.stdout
        assert "mended" in succeeded(lf_sql("install", dsn=restored.dsn))
        succeeded(lf_sql("verify", dsn=restored.dsn))
        one_more(restored)
    state.drop(name)


def test_a_standby(state: State, db: Database) -> None:
    with standby_of(state.server) as dsn:
        there = dsn.replace("dbname=postgres", f"dbname={db.dbname}")
        refused(lf_sql("install", dsn=there), "read-only standby", "primary")
        succeeded(lf_sql("verify", dsn=there))
        succeeded(lf_sql("status", dsn=there))
