"""create extension lf_sql on a server where files may be placed; dump and restore of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lf_sql import bundle, extension
from lf_sql import db as product_db
from lf_sql import verify as verifying
from tests.support.database import Database, connect, make_tenant
from tests.support.server import TestServer, build
from tests.support.servers import without_pg_cron
from tests.support.snapshot import snapshot
from tests.support.work import make_schedule, make_workflow

TREE = bundle.load()
COUNTS = """
select c.oid::regclass::text as name, (xpath('/row/n/text()', query_to_xml(
  format('select count(*) as n from %s', c.oid::regclass), false, true, '')))[1]::text as n
from pg_class as c
where c.relkind = 'r' and c.relnamespace::regnamespace::text in ('lenses', 'agents', 'lensers')
order by 1
"""
CONTENT = "select md5(string_agg(r::text, ' ' order by r.id)) from lenses.workflow_runs as r"


@pytest.fixture(scope="module")
def bindir() -> Path:
    return build().bindir


@pytest.fixture(scope="module")
def place(bindir: Path) -> Iterator[TestServer]:
    """A relocated copy of this PostgreSQL, the extension's files in its share folder."""
    major = build().major
    with without_pg_cron() as copy:
        shown = subprocess.run(
            [copy / "pg_config", "--sharedir"], capture_output=True, text=True, check=True
        )
        for path in extension.write(TREE, Path(shown.stdout.strip()) / "extension", ("0.0.1",)):
            path.chmod(0o644)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LF_SQL_TEST_BINDIR", str(copy))
            patch.setenv("LF_SQL_TEST_MAJOR", str(major))
            server = TestServer()
        yield server
        server.stop()


@pytest.fixture
def lf(place: TestServer) -> Iterator[Database]:
    with connect(place.dsn()) as admin:
        admin.execute("create database lf")
        try:
            with connect(place.dsn("lf")) as conn:
                conn.execute("create extension lf_sql")
                yield conn
        finally:
            admin.execute("drop database lf with (force)")


def findings(db: Database) -> list[Any]:
    with product_db.connect(db.dsn) as conn:
        return list(verifying.verify(conn, TREE).findings)


def test_it_is_what_the_installer_installs(lf: Database, db: Database) -> None:
    mine, theirs = (
        {row for row in snapshot(conn, roles=False) if row[0] not in ("database", "extension")}
        for conn in (lf, db)
    )
    only = {
        what for kind, what in mine - theirs if kind in ("routine", "relation", "trigger", "policy")
    }
    assert all("fn_finish_restore" in what for what in only), only
    assert theirs - mine == set()
    assert findings(lf) == []


def test_its_schemas_are_members_and_go_with_it(lf: Database) -> None:
    lf.execute("drop extension lf_sql")
    left = lf.column(
        "select nspname from pg_namespace where nspname in ('lenses', 'agents', 'lf_sql')"
    )
    assert left == []


def test_an_update_replays(lf: Database) -> None:
    """The update's script is the same text: pretend that an older version is installed."""
    lf.execute("update pg_extension set extversion = '0.0.1' where extname = 'lf_sql'")
    lf.execute("alter extension lf_sql update")
    assert lf.value("select extversion from pg_extension where extname = 'lf_sql'") == TREE.version
    assert findings(lf) == []


def test_dump_and_restore(lf: Database, place: TestServer, bindir: Path, tmp_path: Path) -> None:
    workflow = make_workflow(lf, make_tenant(lf))
    for approval in ("true", "false"):
        for _ in range(5):
            make_schedule(
                lf, workflow, cron_expr="* * * * *",
                approval_policy=f'{{"requiresApproval": {approval}}}',
            )  # fmt: skip
    began = lf.value("select date_trunc('minute', now())")
    tick = (
        "select lenses.fn_dispatch_scheduled_workflows(%s::timestamptz + make_interval(mins => %s))"
    )
    for minute in (1, 2, 3):
        assert lf.value(tick, [began, minute]) == 10
    lf.execute("update lenses.dispatch_settings set batch_size = 777")
    lf.execute("select lenses.fn_claim_workflow_runs('w', 3)")
    # Days of events and logs, made at work and so no members, are dumped as tables of their own.
    assert lf.value("select lenses.fn_make_partitions(false)")
    lf.execute(
        "insert into agents.action_logs (lenser_id, action_type, occurred_at) "
        "select p.id, 'note', from_at from lensers.profiles as p, lenses.fn_partitions() "
        "where parent = 'agents.action_logs'::regclass"
    )
    counts, content = lf.rows(COUNTS), lf.value(CONTENT)

    dump = tmp_path / "dump"
    run(bindir / "pg_dump", "-Fc", "-f", dump, lf.dsn)
    with connect(place.dsn()) as admin:
        admin.execute("create database restored")
    try:
        run(bindir / "pg_restore", "--exit-on-error", "-d", place.dsn("restored"), dump)
        with connect(place.dsn("restored")) as conn:
            assert conn.rows(COUNTS) == counts
            assert conn.value(CONTENT) == content
            assert findings(conn) != []
            conn.execute("select lf_sql.fn_finish_restore()")
            assert findings(conn) == []
            assert conn.rows("select * from lenses.fn_invariant_violations()") == []
            assert conn.value("select batch_size from lenses.dispatch_settings") == 777
            assert conn.value(tick, [began, 4]) == 10
    finally:
        with connect(place.dsn()) as admin:
            admin.execute("drop database restored with (force)")


def run(*command: object) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_files(tmp_path: Path) -> None:
    written = extension.write(TREE, tmp_path / "new")
    assert [path.name for path in written] == ["lf_sql.control", f"lf_sql--{TREE.version}.sql"]
    assert f"default_version = '{TREE.version}'" in written[0].read_text()
