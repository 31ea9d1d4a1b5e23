"""The wheel, in an empty venv, far from the checkout."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lf_sql import bundle
from tests.support.cli import environment
from tests.support.database import Database

ROOT = Path(__file__).parents[2]


def sh(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=environment({"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONPATH": ""}),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    sh(sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", folder, ROOT, cwd=folder)
    (path,) = folder.glob("lf_sql-*.whl")
    return path


def test_the_sql_is_inside(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("lf_sql/sql/")}
    tree = bundle.sql_root()
    assert inside == {
        f"lf_sql/sql/{path.relative_to(tree)}" for path in tree.rglob("*") if path.is_file()
    }


@pytest.mark.clock
def test_it_installs_from_an_empty_venv(wheel: Path, empty_db: Database, tmp_path: Path) -> None:
    sh(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    sh(tmp_path / "venv/bin/python", "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    command = tmp_path / "venv" / "bin" / "lf-sql"
    said = sh(command, "install", "--dsn", empty_db.dsn, cwd=tmp_path)
    assert said.startswith(f"lf-sql {bundle.load().version} installed in ")
    assert "nothing to do" in sh(command, "install", "--dsn", empty_db.dsn, cwd=tmp_path)
    sh(command, "verify", "--dsn", empty_db.dsn, cwd=tmp_path)
    assert "Examples:" in sh(tmp_path / "venv/bin/lf", cwd=tmp_path)


@pytest.mark.parametrize(
    ("tamper", "named"),
    [
        (lambda sql: (sql / "grants.sql").open("a").write(" "), "sql/grants.sql has been changed"),
        (
            lambda sql: (sql / "lenses/policies/workflows.sql").unlink(),
            "sql/lenses/policies/workflows.sql is missing",
        ),
        (
            lambda sql: (sql / "seeds/more.sql").write_text("select 1;"),
            "sql/seeds/more.sql does not belong to it",
        ),
        (lambda sql: sql.with_name("sql.sha256").unlink(), "sql.sha256 is missing"),
    ],
    ids=["changed", "missing", "added", "no manifest"],
)
def test_files_that_it_was_not_built_with_are_refused(
    tamper: Callable[[Path], object], named: str, wheel: Path, empty_db: Database, tmp_path: Path
) -> None:
    """Before anything is applied."""
    zipfile.ZipFile(wheel).extractall(tmp_path)

    def install() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "lf_sql", "install", "--dsn", empty_db.dsn],
            env=environment({"PYTHONPATH": str(tmp_path)}),
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    tamper(tmp_path / "lf_sql" / "sql")
    done = install()
    assert done.returncode == 1
    assert f"this installation of lf-sql is not as it was built: {named}" in done.stderr
    assert empty_db.value("select to_regnamespace('lf_sql')") is None
