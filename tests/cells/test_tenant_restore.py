"""A cell that a tenant has left is dumped and restored: it is away there too, and can be brought back."""

from __future__ import annotations

import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from lf_sql import db as product_db
from lf_sql.cells import tenant
from tests.cells.scene import Cell, TwoCells
from tests.support.database import connect
from tests.support.server import build
from tests.support.tenants import ALICE, BOB, populate

ALICE_ID = UUID(ALICE.lenser)
EVENTS = "lenses.workflow_run_events"
PARTS: dict[str, list[list[str]]] = {
    "full": [[]],
    "data alone": [["--schema-only"], ["--data-only", "--disable-triggers"]],
}


def run(tool: str, *arguments: str) -> None:
    done = subprocess.run(
        [str(build().bindir / tool), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", PARTS)
def test_dump_and_restore(two_cells: TwoCells, how: str, tmp_path: Path) -> None:
    one = two_cells.one
    populate(one.db, ALICE, BOB)
    before = one.rows(ALICE_ID)
    tenant.depart(one.conn, [ALICE_ID], "two")
    away = one.rows(ALICE_ID)
    dsn = two_cells.state.server.dsn(two_cells.state.fresh(installed=False))
    for part in PARTS[how]:
        dump = str(tmp_path / "dump")
        run("pg_dump", "-Fc", *part[:1], "-f", dump, one.db.dsn)
        run("pg_restore", *part[1:], "-d", dsn, dump)
    restored = Cell("restored", connect(dsn), product_db.connect(dsn))
    assert restored.presence(ALICE_ID) == "departed"
    assert restored.rows(ALICE_ID) == away
    assert restored.violations() == []
    assert tenant.take_back(restored.conn, [ALICE_ID]) == [ALICE_ID]
    back = restored.rows(ALICE_ID)
    assert {table: len(rows) for table, rows in back.items() if table != EVENTS} == {
        table: len(rows) for table, rows in before.items() if table != EVENTS
    }
    assert restored.violations() == []
    restored.close(two_cells.state)
