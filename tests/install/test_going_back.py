"""A release's own programs on a newer database: each works, or says in one line why not and changes nothing."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lf_sql import apply, bundle, verify
from lf_sql import db as product_db
from tests.install.releases import RELEASES, SOME, Release
from tests.support.cli import environment
from tests.support.database import Database, connect, make_tenant, wait_until
from tests.support.pages import MANUAL, sections
from tests.support.processes import running
from tests.support.server import TestServer, build
from tests.support.snapshot import snapshot
from tests.support.tenants import ALICE, BOB, populate
from tests.support.work import due_in, make_schedule, make_workflow

HEAD = bundle.load()
# The release's commands in a process of its own: a line is the arguments, its answer the exit code and what was said.
DRIVER = """
import contextlib, io, json, sys
from lf_sql.cli import run
answers = sys.stdout
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), file=answers, flush=True)
"""
TREE = """
import click, json
from lf_sql.cli import cli
def names(command, path=()):
    if not isinstance(command, click.Group):
        return [" ".join(path)]
    context = click.Context(command)
    return [n for c in command.list_commands(context) for n in names(command.get_command(context, c), (*path, c))]
print(json.dumps(names(cli)))
"""
NEWER = f"error: the database is newer: it has lf-sql {HEAD.version}, this is "
REFUSED = ("install", "upgrade", "install --dry-run", "status", "verify")
# Each works, in this order; `{kind}` is the id of ALICE's row of that kind.
WORK = """
metrics
workflow list
workflow create Numbers
workflow status {workflow} active
schedule list
schedule create {workflow} --cron "0,30 9 * * *" --no-approval
schedule show {schedule}
schedule inspect {schedule}
schedule history {schedule}
schedule preview {schedule}
schedule describe "0 9 * * *"
schedule pause {schedule} --note holidays
schedule resume {schedule}
schedule run-now {schedule}
schedule backfill {schedule} --since 2d --dry-run
schedule backfill {schedule} --since 2d
schedule calendar list
schedule calendar create closed --dates 2030-01-01
schedule calendar import --country DE --years 2030 --name holidays
schedule calendar attach {schedule} {spare_calendar}
schedule calendar detach {schedule}
schedule condition set {schedule} {{}}
schedule condition test {schedule}
schedule condition clear {schedule}
schedule rotation set {schedule} '[{{"a": 1}}]'
schedule rotation clear {schedule}
runs list
runs show {run}
runs approve {run}
runs work --once -- true
gateway list
gateway create eu
gateway cron list {gateway}
gateway cron add {gateway} probe "0 * * * *"
gateway cron update {gateway_cron} --cron "5 * * * *"
gateway cron run {gateway_cron}
gateway runs {gateway}
gateway cron remove {gateway_cron}
gateway delete {gateway} --force
schedule delete {schedule} --force
export --supabase {folder}
"""
# In tests of their own, or below; `demo` brings its own server.
ELSEWHERE = (
    "runs cancel",
    "runs reject",
    "schedule health",
    "console",
    "demo",
    "worker",
    "uninstall",
)


@dataclass
class Place:
    """A server on which the release was installed and this version followed, and the release's commands."""

    release: Release
    folder: Path
    server: TestServer
    driver: subprocess.Popen[str]

    @property
    def dsn(self) -> str:
        return self.server.dsn()

    def connect(self) -> Database:
        return connect(self.dsn)

    def env(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.folder / "installer"), "TICK_MS": "100"}

    def lf(self, line: str, **more: str) -> tuple[int, str, str]:
        assert self.driver.stdin
        assert self.driver.stdout
        arguments = [word.format(**ALICE.ids, **more) for word in shlex.split(line)]
        self.driver.stdin.write(json.dumps(["--as", ALICE.user, *arguments]) + "\n")
        self.driver.stdin.flush()
        code, out, err = json.loads(self.driver.stdout.readline())
        return code, out, err


@pytest.fixture(scope="module", params=SOME, ids=str)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    release: Release = request.param
    folder = release.unpack(tmp_path_factory.mktemp(release.tag))
    server = TestServer()
    try:
        assert release.install(folder, server.dsn()).returncode == 0
        with product_db.connect(server.dsn()) as conn:
            apply.install(conn, HEAD)
        with connect(server.dsn()) as conn:
            populate(conn)
        env = {**environment(), "PYTHONPATH": str(folder / "installer"), "LF_SQL_DSN": server.dsn()}
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER], env=env, cwd="/", text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        with driver:
            yield Place(release, folder, server, driver)
            driver.kill()
    finally:
        server.stop()


def everything(conn: Database) -> dict[str, Any]:
    """The catalogue, and a digest of each table's rows."""
    tables = conn.column(
        "select c.oid::regclass::text from pg_class as c where c.relkind = 'r' and "
        "c.relnamespace::regnamespace::text in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')"
    )
    digest = "select md5(string_agg(t::text, ' ' order by t::text)) from {} as t"
    rows = {table: conn.value(digest.format(table)) for table in tables}
    return {"objects": snapshot(conn, roles=False), **rows}


@pytest.mark.parametrize("line", REFUSED)
def test_what_would_change_the_database_itself_is_refused(place: Place, line: str) -> None:
    with place.connect() as conn:
        before = everything(conn)
        code, out, err = place.lf(line)
        assert (code, out) == (1, "")
        first, hint = err.splitlines()
        assert first == f"{NEWER}{place.release.version}"
        assert hint == f"hint: upgrade the command: pip install --upgrade 'lf-sql>={HEAD.version}'"
        assert everything(conn) == before


def test_exported_sql_of_the_release_is_refused(place: Place, tmp_path: Path) -> None:
    code, out, err = place.lf("export --supabase {folder}", folder=str(tmp_path))
    assert code == 0, err
    with place.connect() as conn:
        before = everything(conn)
        with pytest.raises(psycopg.Error, match="newer") as refusal:
            conn.execute(Path(out.strip()).read_bytes())
        assert refusal.value.sqlstate == "P0001"
        conn.execute("rollback")
        assert everything(conn) == before


def test_every_other_command_works(place: Place, tmp_path: Path) -> None:
    lines = WORK.strip().splitlines()
    for line in lines:
        code, out, err = place.lf(line, folder=str(tmp_path))
        assert code == 0, f"{line}: exit {code}\n{out}\n{err}"
    for line in ("schedule health", "schedule health --server"):
        code, out, err = place.lf(line)
        assert (code, err) == (1, "")
        assert out.startswith("worker: silent\t")
    with place.connect() as conn:
        status = conn.value("select status from lenses.workflow_runs where id = %s", [ALICE.run])
        assert status == "completed"
        waiting = conn.column(
            "select id from lenses.workflow_runs where status = 'pending_approval' and lenser_id = %s limit 2",
            [ALICE.lenser],
        )
        for word, one in zip(("cancel", "reject"), waiting, strict=True):
            assert place.lf(f"runs {word} {one}")[0] == 0
    with product_db.connect(place.dsn) as conn:
        assert verify.verify(conn, HEAD).findings == []
    env = {**environment(), "PYTHONPATH": str(place.folder / "installer")}
    tree = subprocess.run(
        [sys.executable, "-c", TREE], env=env, cwd="/", capture_output=True, text=True, check=True
    )
    tried = [*lines, *REFUSED, *ELSEWHERE]
    for name in json.loads(tree.stdout):
        assert any(f"{line} ".startswith(f"{name} ") for line in tried), name


def test_worker_and_executor_start_and_work(place: Place) -> None:
    work = ("runs", "work", "--poll", "1s", "--lease", "6s", "--", "sleep", "8")
    with (
        place.connect() as conn,
        running(place.dsn, "worker", env=place.env()) as worker,
        running(place.dsn, *work, env=place.env()) as executor,
    ):
        worker.says("leading")
        conn.execute(
            "update lenses.workflow_schedules set approval_policy = '{\"requiresApproval\": false}', "
            "workflow_assignment_id = null where id = %s",
            [BOB.schedule],
        )
        due_in(conn, BOB.schedule, -1)
        done = "select count(*) from lenses.workflow_runs where schedule_id = %s and status = 'completed'"
        beaten = "select count(*) from lenses.workflow_runs where lease_expires_at > started_at + interval '6 seconds'"
        wait_until(lambda: conn.value(beaten) > 0)
        wait_until(lambda: conn.value(done, [BOB.schedule]) == 1)
        for process in (worker, executor):
            assert process.stop() == 0
            assert "Traceback" not in process.output


def test_its_page_opens(place: Place) -> None:
    with running(place.dsn, "--as", BOB.user, "console", "--port", "0", env=place.env()) as console:
        console.says("http://")
        address = re.search(r"http://\S+", console.output)
        assert address
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = opener.open(address[0]).read().decode()
        assert BOB.secret in page
        assert console.stop() in (0, 130, -15)


def test_its_uninstall_takes_all_away(place: Place) -> None:
    code, out, err = place.lf("uninstall --yes")
    assert code == 0, out + err
    with place.connect() as conn:
        left = "select nspname from pg_namespace where nspname in ('lf_sql', 'lensers', 'lenses', 'agents', 'automation')"
        assert conn.column(left) == []
        ours = "select count(*) from pg_proc where pronamespace = 'public'::regnamespace and proname ~ '^fn_'"
        assert conn.value(ours) == 0


def test_the_database_goes_back_by_the_manuals_commands(tmp_path: Path) -> None:
    """From a dump of before the upgrade, with the older release's own installer."""
    release = RELEASES[-1]
    folder = release.unpack(tmp_path / "release")
    programs = tmp_path / "bin"
    programs.mkdir()
    command = programs / "lf-sql"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m lf_sql "$@"\n')
    command.chmod(0o755)
    dump, restore = (block.text for block in sections(MANUAL)["Going back"])
    server = TestServer()
    try:
        with connect(server.dsn()) as admin:
            admin.execute("create database app")
        dsn = server.dsn("app")
        env = environment({
            "PATH": f"{programs}:{build().bindir}:{os.environ['PATH']}",
            "PYTHONPATH": str(folder / "installer"), "LF_SQL_DSN": dsn,
            "PGHOST": f"{server.folder}/tmp", "PGPORT": str(server.port), "PGUSER": "postgres", "PGDATABASE": "app",
        })  # fmt: skip

        def shell(text: str) -> None:
            done = subprocess.run(
                ["bash", "-ec", text],
                cwd=tmp_path,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr

        assert release.install(folder, dsn).returncode == 0
        with connect(dsn) as conn:
            schedule = make_schedule(conn, make_workflow(conn, make_tenant(conn)))
            due_in(conn, schedule, -10)  # slots of one second are one slot
            assert conn.value("select lenses.fn_dispatch_scheduled_workflows()") == 1
            before = everything(conn)
            slots = "select id, scheduled_for from lenses.workflow_runs order by 2"
            runs = conn.rows(slots)
        shell(dump)
        with product_db.connect(dsn) as product:
            apply.install(product, HEAD)
        with connect(dsn) as conn:
            due_in(conn, schedule, -1)
            lost = conn.value("select next_run_at from lenses.workflow_schedules")
            assert conn.value("select lenses.fn_dispatch_scheduled_workflows()") == 1
            afterwards = dict(conn.rows("select scheduled_for, id from lenses.workflow_runs"))
        shell(restore)
        with connect(dsn) as conn:
            assert everything(conn) == before
            assert conn.rows(slots) == runs
            conn.execute("update lenses.workflow_schedules set next_run_at = %s", [lost])
            conn.value("select lenses.fn_dispatch_scheduled_workflows()")
            again = dict(conn.rows("select scheduled_for, id from lenses.workflow_runs"))
            assert again[lost] == afterwards[lost]
    finally:
        server.stop()
