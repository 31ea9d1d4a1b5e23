"""This version's commands on the database of a release: each works, or says that the database is older."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from lf_sql import __version__, older
from lf_sql import db as product_db
from tests.install.releases import RELEASES
from tests.support.command import Command, commander
from tests.support.database import Database, as_user, make_tenant
from tests.support.reading import READS

OLD = RELEASES[-1]
SAID = [
    f"error: the database has lf-sql {OLD.version}, this is {__version__}",
    "hint: lf-sql upgrade",
]
FILE = "project: p\nworkflows:\n  W:\n    schedules:\n      a: {cron: 0 9 * * *}\n"


@pytest.fixture
def old(empty_db: Database, tmp_path: Path) -> Iterator[Database]:
    """The release, with a tenant and a schedule."""
    done = OLD.install(OLD.unpack(tmp_path / "old"), empty_db.dsn)
    assert done.returncode == 0, done.stderr
    tenant = make_tenant(empty_db, "owner")
    with as_user(empty_db, tenant) as conn:
        workflow = conn.value("select id from public.fn_upsert_workflow(p_title => 'W')")
        conn.execute(
            "select public.fn_upsert_workflow_schedule(%s, p_cron_expr => '0 9 * * *')", [workflow]
        )
    return empty_db


@pytest.fixture
def lf(
    old: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    return commander(capsys, monkeypatch, old.dsn)


def test_no_command_shows_what_sql_is_missing(lf: Command, old: Database, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(FILE, encoding="utf-8")
    schedule = old.value("select id::text from lenses.workflow_schedules")
    ids = {"schedule": schedule, "folder": str(tmp_path)}
    calls = [
        [*words.split(), *(word.format(**ids) for word in call)]
        for words, each in READS.items()
        for call in each
        if all(
            word.startswith("{schedule") or word == "{folder}" or "{" not in word for word in call
        )
    ]
    calls += [
        ["apply", str(tmp_path / "a.yaml"), "--yes"],
        ["diff", str(tmp_path / "a.yaml")],
        ["schedule", "backfill", schedule, "--since", "1d", "--dry-run"],
        ["schedule", "create", "W", "--at", "2030-01-01T09:00"],
        ["schedule", "create", "W", "--cron", "0 9 * * *"],
        ["schedule", "recompute", schedule],
        ["schedule", "run-now", schedule],
        ["schedule", "update", schedule, "--cron", "0 9 * * *"],
        ["team", "create", "crew"],
    ]
    refused = []
    for call in calls:
        answer = lf(*call, code=None)
        assert "does not exist" not in answer.err, call
        assert "type cast" not in answer.err, call
        if answer.err.splitlines() == SAID:
            refused.append(call[:2])
            assert answer.code == (2 if call[0] == "diff" else 1)
    assert ["schedule", "list"] in refused
    assert ["schedule", "explain"] in refused
    assert ["preview", "--from"] in refused
    assert ["apply", str(tmp_path / "a.yaml")] in refused
    assert ["diff", str(tmp_path / "a.yaml")] in refused


def test_the_error_stays_the_servers(old: Database) -> None:
    with product_db.connect(old.dsn) as conn:
        with pytest.raises(psycopg.errors.UndefinedTable) as alone:
            conn.execute("select 1 from lenses.nowhere")
        with pytest.raises(psycopg.errors.UndefinedTable) as within, conn.transaction():
            conn.execute("select 1 from lenses.nowhere")
        with pytest.raises(psycopg.errors.DivisionByZero) as other:
            conn.execute("select 1 / 0")
    for error in (alone.value, within.value):
        assert older.said(error) == (SAID[0].removeprefix("error: "), "lf-sql upgrade")
    assert older.said(other.value) is None


def test_a_database_of_this_version_has_the_servers_words(shared_db: Database) -> None:
    with product_db.connect(shared_db.dsn) as conn:
        with pytest.raises(psycopg.errors.UndefinedTable) as found:
            conn.execute("select 1 from lenses.nowhere")
    assert older.said(found.value) is None
    assert product_db.describe(found.value)[0] == 'relation "lenses.nowhere" does not exist'
