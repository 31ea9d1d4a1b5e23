"""Moves one tenant to another cell.

The source commits the departure first, the target the arrival second, the directory last: at no
moment are there two active copies. Each step may be the last before a crash; `carry_on` asks both
cells what is true and goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg

from lf_sql.cells import journal, tenant
from lf_sql.cells.directory import Cell, Directory, connected
from lf_sql.cells.journal import Entry
from lf_sql.cells.place import require_cells
from lf_sql.db import Connection, describe
from lf_sql.errors import LfSqlError

Say = Callable[[str], None]
STEPS = ("begun", "departed", "arrived")  # then "done"
AGAIN = 0.5  # seconds between looks at runs that must end before a departure


def move(directory: Directory, user_id: UUID, to: Cell, wait: float, say: Say) -> Entry | None:
    """Move a tenant into the cell `to`. None: it is there already. `say` is called at each step.

    `wait`: seconds for its running runs to end. LfSqlError where they do not, or where the target
    refuses: then the tenant is at work in its old cell.
    """
    place = directory.place(user_id)
    source = directory.cell_of(user_id)
    if place is None or place.lenser_id is None:
        raise LfSqlError(
            f"user {user_id} was not placed completely", f"lf-sql cells place {user_id}"
        )
    if place.moving_to is None and source == to:
        return None
    if journal.is_being_made(directory, to):
        raise LfSqlError(f"cell {to.name} is being made by a split", "lf-sql cells resume")
    with connected(source) as here, connected(to) as there:
        _require_same(require_cells(here, source), require_cells(there, to), source, to)
    entry = journal.begin(directory, "move", source, to, [place.lenser_id])
    say("begun")
    carry_on(directory, entry, wait, say, is_new=True)
    return entry


def _require_same(ours: str | None, theirs: str | None, source: Cell, target: Cell) -> None:
    if ours != theirs:
        raise LfSqlError(
            f"cell {source.name} has lf-sql {ours}, cell {target.name} has {theirs}",
            "lf-sql cells upgrade",
        )


def carry_on(
    directory: Directory, entry: Entry, wait: float, say: Say, *, is_new: bool = False
) -> None:
    """What is left to do. A new move that a cell refuses is taken back at once."""
    lenser = entry.lenser_ids[0]
    source, target = directory.cell(entry.from_cell), directory.cell(entry.to_cell)
    with (
        connected(source) as here,
        connected(target) as there,
        journal.alone(there, entry),
    ):
        _require_same(require_cells(here, source), require_cells(there, target), source, target)
        try:
            _go(directory, entry, here, there, wait, say)
        except psycopg.Error as error:
            message, hint = _said(error)
            if here.broken or there.broken or not _undone(here, there, lenser):
                raise LfSqlError(
                    f"{entry} was cut off: {message}", "lf-sql cells resume"
                ) from error
            if not is_new:
                raise LfSqlError(f"{entry}: {message}", hint) from error
            if tenant.presence(here, lenser) == "departed":
                tenant.take_back(here, [lenser])
            journal.finish(directory, entry, "taken back")
            raise LfSqlError(f"the tenant stays in {entry.from_cell}: {message}", hint) from error


def _said(error: psycopg.Error) -> tuple[str, str | None]:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return "a transaction of the tenant's does not end", "see pg_stat_activity, or raise --wait"
    return describe(error)


def _undone(here: Connection, there: Connection, lenser: UUID) -> bool:
    """Whether the target has not taken the tenant, so that the source may have it back."""
    return tenant.presence(there, lenser) != "here" and tenant.presence(here, lenser) != "absent"


def _go(
    directory: Directory, entry: Entry, here: Connection, there: Connection, wait: float, say: Say
) -> None:
    lenser = entry.lenser_ids[0]
    ours, theirs = tenant.presence(here, lenser), tenant.presence(there, lenser)
    if ours == "here" and theirs == "here":
        raise LfSqlError(
            f"the tenant {lenser} is active in {entry.from_cell} and in {entry.to_cell}",
            "lf-sql cells verify",
        )
    if ours == "departed" and theirs == "here":
        _require_arrived(here, there, lenser, entry)
    if ours == "here":
        _depart(here, lenser, entry.to_cell, wait)
        say("departed")
        journal.step(directory, entry, "departed")
    elif theirs != "here":
        _require_departed(here, lenser, entry)
    if theirs != "here":
        if not tenant.carry(here, there, lenser):
            _require_arrived(here, there, lenser, entry)
        say("arrived")
        journal.step(directory, entry, "arrived")
    tenant.settle(here, [lenser])
    journal.finish(directory, entry, "done")
    say("done")


def _depart(here: Connection, lenser: UUID, to: str, wait: float) -> None:
    """Once its running runs and its transactions have ended; waits for them at most so long."""
    give_up = time.monotonic() + wait
    while True:
        try:
            tenant.depart(here, [lenser], to)
        except (psycopg.errors.ObjectInUse, psycopg.errors.LockNotAvailable):
            if time.monotonic() > give_up:
                raise
            time.sleep(AGAIN)
        else:
            return


def _require_arrived(here: Connection, there: Connection, lenser: UUID, entry: Entry) -> None:
    if not tenant.has_arrived(here, there, lenser):
        raise LfSqlError(
            f"{entry}: cell {entry.to_cell} has a profile {lenser} that nothing arrived with",
            f"delete that row of lensers.profiles in {entry.to_cell}, then lf-sql cells resume",
        )


def _require_departed(here: Connection, lenser: UUID, entry: Entry) -> None:
    row: dict[str, Any] | None = here.execute(
        "select p.departed_to from lensers.profiles as p where p.id = %s", [lenser]
    ).fetchone()
    if row is None or row["departed_to"] != entry.to_cell:
        found = f"it left for {row['departed_to']}" if row else "it was never there"
        raise LfSqlError(
            f"{entry}: cell {entry.from_cell} has not sent the tenant {lenser}: {found}",
            "lf-sql cells verify shows where it is",
        )


def take_back(directory: Directory, entry: Entry, say: Say) -> None:
    """Let the tenant be at work in its old cell. LfSqlError where it has arrived."""
    lenser = entry.lenser_ids[0]
    source, target = directory.cell(entry.from_cell), directory.cell(entry.to_cell)
    with (
        connected(source) as here,
        connected(target) as there,
        journal.alone(there, entry),
    ):
        if tenant.presence(there, lenser) == "here":
            if tenant.presence(here, lenser) == "departed":
                _require_arrived(here, there, lenser, entry)
            raise LfSqlError(
                f"{entry}: the tenant has arrived, and cannot be taken back",
                "lf-sql cells resume, then move it the other way",
            )
        if tenant.presence(here, lenser) == "departed":
            tenant.take_back(here, [lenser])
        say("returned")
        journal.finish(directory, entry, "taken back")
        say("taken back")
