"""A row with an instant that Python cannot hold, from before such were refused, breaks nobody's command."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tests.security.test_instants import COLUMNS
from tests.support.command import Command
from tests.support.database import Database
from tests.support.reading import pages, reading
from tests.support.tenants import ALICE, populate

UNREADABLE = ("internal error", "too large", "too small", "out of range", "overflow", "interval")


@pytest.fixture(params=["20000-01-01Z", "0044-03-15 BC", "infinity", "-infinity"])
def far(db: Database, request: pytest.FixtureRequest) -> Database:
    """ALICE's rows, each instant and date of theirs as far away as no client can write it."""
    populate(db, ALICE)
    db.execute("select lenses.fn_begin_tick_at('x', now())")
    db.execute("select lenses.fn_worker_heartbeat('w', 'h', 1, true, '')")
    for table, column, kind in db.rows(COLUMNS):
        given = request.param.removesuffix("Z") if kind == "_date" else request.param
        # A CHECK of its own lets some through nowhere.
        with suppress(psycopg.errors.CheckViolation), db.transaction():
            db.execute(f"alter table {table} disable trigger all")
            db.execute(
                f"update {table} set {column} = %s", [f"{{{given}}}" if kind == "_date" else given]
            )
            db.execute(f"alter table {table} enable trigger all")
    return db


def test_every_reading_command(far: Database, lf: Command, tmp_path: Path) -> None:
    for words in reading({**ALICE.ids, "folder": str(tmp_path / "export")}):
        for more in ([], ["--json"]):
            answer = lf(*words, *more, code=None)
            assert answer.code in (0, 1), (words, answer)
            for word in UNREADABLE:
                assert word not in answer.err, (words, answer.err)
            assert answer.out or words == ["verify"], (words, answer)


def test_every_page_of_the_console(far: Database) -> None:
    found = list(pages(far.dsn, ALICE.user, ALICE.ids))
    assert len(found) >= 9
    for path, status, text in found:
        assert status == 200, (path, text)
