"""The blocks of the manual's "Backup and restore", where pg_cron is in the dumped database: by a superuser, and by a role that installed without being one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.rpcs import snapshot
from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, connect
from tests.support.pages import MANUAL, sections
from tests.support.server import TestServer, build, preload
from tests.support.setups import add_roles
from tests.support.tenants import ALICE, BOB, populate

pytestmark = pytest.mark.pg_cron

BLOCKS = [b.text for b in sections(MANUAL)["Backup and restore"] if "pg_dump" in b.text]
BY_SUPERUSER, BY_INSTALLER = BLOCKS
ROLES = ("postgres", "deploy")


@pytest.fixture(scope="module")
def server() -> Iterator[TestServer]:
    assert preload("pg_cron"), "this build has no pg_cron"
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "app",
            "cron.use_background_workers": "on",
            "cron.launch_active_jobs": "off",
        }
    )
    with connect(server.dsn()) as admin:
        admin.execute("create role deploy login createrole createdb")
        admin.execute("create database app owner deploy")
    with connect(server.dsn("app")) as admin:
        admin.execute("create extension pg_cron; grant usage on schema cron to deploy")
    succeeded(lf_sql("install", dsn=server.dsn("app", "deploy")))
    with connect(server.dsn("app")) as admin:
        add_roles(admin)
        populate(admin)
    yield server
    server.stop()


def shell(
    server: TestServer, role: str, text: str, folder: Path
) -> subprocess.CompletedProcess[str]:
    """As a user runs it: without -e, line by line."""
    bindir = f"{Path(sys.executable).parent}:{build().bindir}"
    return subprocess.run(
        ["bash", "-c", text], cwd=folder, capture_output=True, text=True, check=False,
        env={
            "PATH": f"{bindir}:{os.environ['PATH']}",
            "HOME": str(folder),
            "PGHOST": f"{server.folder}/tmp",
            "PGPORT": str(server.port),
            "PGUSER": role,
            "PGDATABASE": "app",
            "LF_SQL_DSN": server.dsn("app", role),
        },
    )  # fmt: skip


def everything(conn: Database) -> tuple[str, str, list[object], object]:
    seeds = conn.column("select to_jsonb(c)::text from lenses.schedule_calendars as c order by 1")
    settings = conn.value("select to_jsonb(s) from lenses.dispatch_settings as s")
    return snapshot(conn, ALICE), snapshot(conn, BOB), seeds, settings


@pytest.mark.parametrize(
    ("role", "block"), [("postgres", BY_SUPERUSER), ("deploy", BY_INSTALLER)], ids=ROLES
)
def test_the_block_brings_all_back(
    role: str, block: str, server: TestServer, tmp_path: Path
) -> None:
    with connect(server.dsn("app")) as conn:
        before = everything(conn)
    kept = "\n".join(line for line in block.splitlines() if not line.startswith("dropdb"))
    assert kept != block.strip()
    done = shell(server, role, f"set -e\n{kept}", tmp_path)
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        succeeded(lf_sql("verify", dsn=server.dsn("lf_restored", role)))
        with connect(server.dsn("lf_restored")) as conn:
            assert everything(conn) == before
    finally:
        dropped = shell(server, role, "dropdb lf_restored", tmp_path)
    assert dropped.returncode == 0, dropped.stderr


def test_a_dump_that_row_security_emptied_is_no_success(server: TestServer, tmp_path: Path) -> None:
    """Taken as the owner alone: no tenant's row is in it, and nobody says so but we."""
    block = BY_INSTALLER.replace("pg_dump ", "pg_dump --role lf_sql_owner ")
    lines = [line for line in block.splitlines() if not line.startswith("dropdb")]
    done = shell(server, "deploy", "\n".join(lines), tmp_path)
    try:
        assert "rows lensers.profiles: missing" in done.stderr
        for command, words in (
            ("install", "rows lensers.profiles: missing"),
            ("verify", "rows\tlensers.profiles\tmissing"),
        ):
            run = lf_sql(command, dsn=server.dsn("lf_restored", "deploy"))
            assert run.returncode == 1
            assert words in run.stdout + run.stderr
    finally:
        shell(server, "deploy", "dropdb lf_restored", tmp_path)


def test_a_restore_that_failed_is_no_success(server: TestServer, tmp_path: Path) -> None:
    """All is rolled back, and no install of an empty lf-sql covers it up."""
    lines = [line for line in BY_SUPERUSER.splitlines() if not line.startswith("dropdb")]
    text = "\n".join(lines).replace("-e plpgsql ", "")
    done = shell(server, "postgres", text, tmp_path)
    try:
        assert "can only create extension in database app" in done.stderr
        with connect(server.dsn("lf_restored")) as conn:
            assert conn.value("select to_regnamespace('lf_sql')") is None
    finally:
        shell(server, "postgres", "dropdb lf_restored", tmp_path)
