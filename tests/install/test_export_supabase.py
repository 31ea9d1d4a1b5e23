"""lf-sql export --supabase: one migration that the Supabase CLI pushes, and that may run again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lf_sql import apply, bundle, export
from lf_sql import db as product_db
from lf_sql import verify as verifying
from tests.install.test_install import grown
from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, connect
from tests.support.setups import SupabaseState
from tests.support.snapshot import snapshot

TREE = bundle.load()
CLI = "2.117.0"
NPM_INSTALL = Path(__file__).parents[1] / "support" / "npm-install.sh"


@pytest.fixture(scope="module")
def supabase() -> Iterator[SupabaseState]:
    state = SupabaseState()
    yield state
    state.close()


@pytest.fixture
def project(supabase: SupabaseState) -> Iterator[Database]:
    """An empty project: `postgres` is no superuser there."""
    name = supabase.prepared("project")
    with connect(supabase.server.dsn(name, "postgres")) as conn:
        yield conn
    supabase.drop(name)


def psql(conn: Database, path: Path) -> subprocess.CompletedProcess[str]:
    command = ["psql", "-X", "-q", "-1", "-v", "ON_ERROR_STOP=1", "-d", conn.dsn, "-f", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")


def objects(conn: Database) -> set[tuple[str, str]]:
    return {row for row in snapshot(conn, roles=False) if row[0] != "database"}


def sound(conn: Database, tree: bundle.Bundle = TREE) -> bool:
    with product_db.connect(conn.dsn) as product:
        return not verifying.verify(product, tree).findings


def test_the_command_writes_one_file_and_not_another(tmp_path: Path) -> None:
    folder = tmp_path / "supabase" / "migrations"
    said = succeeded(lf_sql("export", "--supabase", str(folder)))
    assert succeeded(lf_sql("export", "--supabase", str(folder))) == said
    [path] = folder.iterdir()
    assert said.strip() == str(path)
    as_json = succeeded(lf_sql("export", "--supabase", str(folder), "--json"))
    assert json.loads(as_json) == {"file": str(path)}
    assert export.supabase(grown(), folder).name > path.name
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("has_another", [False, True])
def test_what_cannot_be_written_whole_is_not_there(tmp_path: Path, has_another: bool) -> None:
    """The Supabase CLI would push half of it."""
    if has_another:
        (tmp_path / "20200101000000_theirs.sql").write_text("select 1;")
    before = list(tmp_path.iterdir())
    lf = [sys.executable, "-m", "lf_sql", "export", "--supabase", str(tmp_path)]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 64; exec "$@"', "bash", *lf],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == f"error: {tmp_path}: File too large\n"
    assert list(tmp_path.iterdir()) == before


def test_an_export_that_is_interrupted_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export.supabase(TREE, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_it_comes_behind_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "29991231235959_theirs.sql").write_text("select 1;")
    assert export.supabase(TREE, tmp_path).name > "29991231235959_theirs.sql"


def test_it_installs_what_the_installer_installs(
    project: Database, supabase: SupabaseState, tmp_path: Path
) -> None:
    path = export.supabase(TREE, tmp_path)
    done = psql(project, path)
    assert done.returncode == 0, done.stderr
    assert sound(project)
    with product_db.connect(project.dsn) as conn:
        assert not apply.install(conn, TREE).plan.is_pending
    with connect(supabase.server.dsn(supabase.template, "postgres")) as theirs:
        assert objects(project) == objects(theirs)


def test_it_may_run_again(project: Database, tmp_path: Path) -> None:
    path = export.supabase(TREE, tmp_path)
    psql(project, path)
    before = objects(project)
    project.execute("drop view lenses.schedule_slots cascade")
    done = psql(project, path)
    assert done.returncode == 0, done.stderr
    assert objects(project) == before
    assert sound(project)


def test_the_next_version_goes_on_and_the_last_one_is_refused(
    project: Database, tmp_path: Path
) -> None:
    old = export.supabase(replace(TREE, version="0.0.1"), tmp_path / "old")
    new = export.supabase(grown(), tmp_path / "new")
    assert psql(project, old).returncode == 0
    done = psql(project, new)
    assert done.returncode == 0, done.stderr
    assert project.value("select count(*) from lenses.novelties") == 0
    assert sound(project, grown())
    before = objects(project)
    refused = psql(project, old)
    assert refused.returncode != 0
    assert "the database is newer: it has lf-sql 99.0.0, this is 0.0.1" in refused.stderr
    assert objects(project) == before


def test_a_stranger_s_schema_is_refused(project: Database, tmp_path: Path) -> None:
    project.execute("create schema agents")
    done = psql(project, export.supabase(TREE, tmp_path))
    assert done.returncode != 0
    assert "schema agents exists already and is not from lf-sql" in done.stderr


@pytest.mark.slow
def test_supabase_db_push(project: Database, supabase: SupabaseState, tmp_path: Path) -> None:
    """The real command; it needs npm."""
    assert shutil.which("npm"), "this test needs npm"
    (tmp_path / "package.json").write_text(json.dumps({"dependencies": {"supabase": CLI}}))
    tool = tmp_path / "tool"
    subprocess.run(["bash", NPM_INSTALL, tool, tmp_path / "package.json"], check=True)
    export.supabase(TREE, tmp_path / "supabase" / "migrations")
    supabase.admin.execute("alter role postgres with login password 'secret'")

    def push() -> str:
        url = f"postgresql://postgres@127.0.0.1:{supabase.server.port}/{project.dbname}"
        done = subprocess.run(
            [tool / "node_modules" / ".bin" / "supabase", "db", "push", "--db-url", url + "?sslmode=disable"],
            cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, input="y\n",
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    assert "Applying migration" in push()
    assert sound(project)
    before = objects(project)
    assert "up to date" in push()
    assert objects(project) == before
    export.supabase(grown(), tmp_path / "supabase" / "migrations")
    assert "Applying migration" in push()
    assert sound(project, grown())
