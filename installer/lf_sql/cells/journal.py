"""The journal: what a move or a split set out to do, and how far it came.

The journal says what was meant; the cells themselves say what is. A move that was cut off is ended
by asking them, so that the journal may be a step behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from lf_sql.cells.directory import Cell, Directory
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

Kind = Literal["move", "split"]
Outcome = Literal["done", "taken back"]
_COLUMNS = "id, kind, from_cell, to_cell, lenser_ids, step"


@dataclass(frozen=True)
class Entry:
    """A row of lf_fleet.moves that has no outcome."""

    id: int
    kind: Kind
    from_cell: str
    to_cell: str
    lenser_ids: list[UUID]
    step: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id} from {self.from_cell} to {self.to_cell}"


def begin(
    directory: Directory, kind: Kind, source: Cell, target: Cell, lensers: Sequence[UUID]
) -> Entry:
    """Write down what is to happen. LfSqlError where one of the tenants moves already, or is not
    in the source."""
    with directory.conn.transaction():
        held = directory.conn.execute(
            "update lf_fleet.tenants set moving_to = %s "
            "where lenser_id = any(%s) and cell_id = %s and moving_to is null",
            [target.id, list(lensers), source.id],
        )
        if held.rowcount != len(lensers):
            raise LfSqlError(
                f"{len(lensers) - held.rowcount} of the tenants are moving already, or not in "
                f"cell {source.name}",
                "lf-sql cells resume ends what was cut off",
            )
        row = directory.conn.execute(
            "insert into lf_fleet.moves (kind, from_cell, to_cell, lenser_ids, step) "
            "values (%s, %s, %s, %s, 'begun') returning " + _COLUMNS,
            [kind, source.name, target.name, list(lensers)],
        ).fetchone()
    assert row is not None  # returned by the insert
    return Entry(**row)


def step(directory: Directory, entry: Entry, name: str) -> Entry:
    """Note the step that has been taken."""
    directory.conn.execute(
        "update lf_fleet.moves set step = %s, stepped_at = now() where id = %s and outcome is null",
        [name, entry.id],
    )
    return replace(entry, step=name)


def finish(directory: Directory, entry: Entry, outcome: Outcome) -> None:
    """The end: from now on the directory says where the tenants are. Safe to repeat."""
    with directory.conn.transaction():
        ended = directory.conn.execute(
            "update lf_fleet.moves set outcome = %s, step = %s, stepped_at = now(), "
            "finished_at = now() where id = %s and outcome is null",
            [outcome, outcome, entry.id],
        )
        if ended.rowcount == 0:
            return
        directory.conn.execute(
            "update lf_fleet.tenants set moving_to = null, "
            "cell_id = case when %s then moving_to else cell_id end "
            "where lenser_id = any(%s) and moving_to is not null",
            [outcome == "done", entry.lenser_ids],
        )
        if entry.kind == "split" and outcome == "taken back":
            directory.conn.execute("delete from lf_fleet.cells where name = %s", [entry.to_cell])
        elif entry.kind == "split":
            directory.conn.execute(
                "update lf_fleet.cells set is_open = true where name = %s", [entry.to_cell]
            )


def unfinished(directory: Directory) -> list[Entry]:
    """What is under way or was cut off, oldest first."""
    rows = directory.conn.execute(
        f"select {_COLUMNS} from lf_fleet.moves where outcome is null order by id"  # noqa: S608
    ).fetchall()
    return [Entry(**row) for row in rows]


def is_being_made(directory: Directory, cell: Cell) -> bool:
    """Whether a split makes this cell just now."""
    return any(e.kind == "split" and e.to_cell == cell.name for e in unfinished(directory))


@contextmanager
def alone(conn: Connection, entry: Entry) -> Iterator[None]:
    """Nobody else works at this entry, for as long as this connection lives.

    The lock is held by the connection that makes the tenants active in the new cell: if it is lost,
    so is what it was doing, and nobody takes back what is still arriving.
    """
    key = f"lf_fleet move {entry.id}"
    row = conn.execute(
        "select pg_catalog.pg_try_advisory_lock(pg_catalog.hashtextextended(%s, 0)) as got", [key]
    ).fetchone()
    if not row or not row["got"]:
        raise LfSqlError(f"{entry} is under way in another process", "wait for its end")
    try:
        yield
    finally:
        if not conn.closed:
            conn.execute(
                "select pg_catalog.pg_advisory_unlock(pg_catalog.hashtextextended(%s, 0))", [key]
            )
