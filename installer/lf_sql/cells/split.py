"""Splits a cell: a streaming standby of it becomes a cell of its own, with half of the tenants.

Both have all rows when the standby is promoted, so the old cell's dispatcher is frozen before, and
the copy is frozen with it: whatever drives the new cell does nothing until it has been settled, in
one transaction in which those who stay depart from it and those who go are at work in it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import psycopg

from lf_sql.cells import journal, tenant
from lf_sql.cells.directory import Cell, Directory, connected
from lf_sql.cells.half import going
from lf_sql.cells.journal import Entry
from lf_sql.cells.move import Say
from lf_sql.cells.place import require_cells
from lf_sql.db import Connection, describe
from lf_sql.errors import LfSqlError

PAUSE = 0.05  # seconds between looks at the standby
TOGETHER = 50  # tenants that depart in one transaction
PROMOTED = ("promoting", "settled")  # steps after which the standby may be a server of its own


@dataclass(frozen=True)
class Sides:
    """The old cell and the standby, connected."""

    old: Connection
    new: Connection


def split(
    directory: Directory,
    source: Cell,
    standby: str,
    name: str,
    users: Sequence[UUID],
    wait: float,
    say: Say,
) -> Entry:
    """Make the standby the cell `name`, with these tenants, or with half of them."""
    for each in journal.unfinished(directory):
        if source.name in (each.from_cell, each.to_cell):
            raise LfSqlError(f"{each} is not at its end", "lf-sql cells resume")
    with directory.conn.transaction():
        target = directory.add(name, standby, is_open=False)
        with connected(source) as old, connected(target) as new:
            version = require_cells(old, source)
            _require_standby(old, new, source)
            lensers = going(directory, old, source, users)
        directory.see(target, version)
        entry = journal.begin(directory, "split", source, target, lensers)
    say("begun")
    carry_on(directory, entry, wait, say)
    return entry


def _require_standby(old: Connection, new: Connection, source: Cell) -> None:
    row = new.execute(
        "select pg_catalog.pg_is_in_recovery() as is_standby, "
        "pg_catalog.has_function_privilege('pg_catalog.pg_promote(boolean, integer)', 'execute') "
        "as may_promote, pg_catalog.current_database() as name"
    ).fetchone()
    assert row is not None  # one row by construction
    ours = old.execute("select pg_catalog.current_database() as name").fetchone()
    if not row["is_standby"]:
        raise LfSqlError(
            "the server of --standby is no standby",
            f"make a streaming standby of cell {source.name}: pg_basebackup -R",
        )
    if not row["may_promote"]:
        raise LfSqlError(
            "the role of --standby may not promote it",
            "on the primary: grant execute on function pg_promote to that role",
        )
    if ours is None or row["name"] != ours["name"]:
        raise LfSqlError(
            f"--standby leads to database {row['name']}, and cell {source.name} is in "
            f"{ours['name'] if ours else 'another'}",
            "give the same dbname",
        )


def carry_on(directory: Directory, entry: Entry, wait: float, say: Say) -> None:
    """What is left to do."""
    source, target = directory.cell(entry.from_cell), directory.cell(entry.to_cell)
    with connected(source) as old, journal.alone(old, entry), connected(target) as new:
        sides = Sides(old, new)
        if _is_standby(new):
            try:
                entry = _prepare(directory, entry, sides, wait, say)
                entry = _promote(directory, entry, sides, say)
            except psycopg.Error as error:
                message, hint = describe(error)
                raise LfSqlError(
                    f"{entry} stands at {entry.step}: {message}", _ways_out(hint)
                ) from error
        elif entry.step not in PROMOTED:
            raise LfSqlError(
                f"{entry}: the standby was promoted before it had all of it",
                "lf-sql cells resume --take-back, and begin again with another standby",
            )
    with connected(source) as old, journal.alone(old, entry), connected(target) as new:
        # Connected anew: what was a standby takes writes now.
        _unfreeze(old, entry)
        say("source unfrozen")
        _settle(directory, entry, new)
        tenant.settle(old, entry.lenser_ids)
        say("settled")
        entry = journal.step(directory, entry, "settled")
        journal.finish(directory, entry, "done")
        say("done")


def _ways_out(hint: str | None) -> str:
    ways = "lf-sql cells resume, or resume --take-back"
    return f"{hint}; then {ways}" if hint else ways


def _prepare(directory: Directory, entry: Entry, sides: Sides, wait: float, say: Say) -> Entry:
    """Depart, freeze, and wait until the standby has both."""
    give_up = time.monotonic() + wait
    _depart(sides.old, entry, give_up)
    say("departed")
    entry = journal.step(directory, entry, "departed")
    _freeze(sides.old, entry)
    say("frozen")
    while not _has_all(sides.new, entry):
        if time.monotonic() > give_up:
            raise LfSqlError(
                f"{entry}: the standby has not replayed the departures within {wait:.0f} s",
                "see pg_stat_replication of the old cell; " + _ways_out(None),
            )
        time.sleep(PAUSE)
    say("replayed")
    return entry


def _depart(old: Connection, entry: Entry, give_up: float) -> None:
    """Each as soon as its running runs and its transactions have ended, many together if it can."""
    left = list(entry.lenser_ids)
    while left:
        rest: list[UUID] = []
        for start in range(0, len(left), TOGETHER):
            rest += _departed_of(old, left[start : start + TOGETHER], entry.to_cell, give_up)
        left = rest
        if left:
            time.sleep(PAUSE)


def _departed_of(old: Connection, lensers: list[UUID], to: str, give_up: float) -> list[UUID]:
    """Those that are busy; the others have departed."""
    try:
        tenant.depart(old, lensers, to)
    except (psycopg.errors.ObjectInUse, psycopg.errors.LockNotAvailable):
        if len(lensers) > 1:
            return [one for each in lensers for one in _departed_of(old, [each], to, give_up)]
        if time.monotonic() > give_up:
            raise
        return lensers
    return []


def _promote(directory: Directory, entry: Entry, sides: Sides, say: Say) -> Entry:
    """Nobody can end the freeze before the standby has left."""
    with sides.old.transaction():
        sides.old.execute("select 1 from lenses.dispatch_settings as d where d.id for share")
        if not _has_all(sides.new, entry):
            raise LfSqlError(f"{entry}: somebody ended the freeze", _ways_out(None))
        entry = journal.step(directory, entry, "promoting")
        say("promoting")
        sides.new.execute("select pg_catalog.pg_promote(true, 600)")
        while _is_standby(sides.new):
            time.sleep(PAUSE)
    say("promoted")
    return entry


def _reason(entry: Entry) -> str:
    return f"lf-sql cells split {entry.id}: half of the tenants go to {entry.to_cell}"


def _freeze(conn: Connection, entry: Entry) -> None:
    """An operator's own freeze stays as it is, here and in the copy."""
    conn.execute(
        "select lenses.fn_freeze_dispatch(%s::text) from lenses.dispatch_settings as d "
        "where not d.is_frozen",
        [_reason(entry)],
    )


def _unfreeze(conn: Connection, entry: Entry) -> None:
    conn.execute(
        "select lenses.fn_unfreeze_dispatch() from lenses.dispatch_settings as d "
        "where d.is_frozen and d.frozen_reason = %s",
        [_reason(entry)],
    )


def _has_all(new: Connection, entry: Entry) -> bool:
    """Whether the standby shows the freeze and every departure.

    It replays commits in their order: what was written before is there too.
    """
    row = new.execute(
        "select d.is_frozen and cardinality(%(going)s::uuid[]) = ("
        "select count(*) from lensers.profiles as p "
        "where p.id = any(%(going)s) and p.departed_to = %(to)s) as has_all "
        "from lenses.dispatch_settings as d",
        {"going": entry.lenser_ids, "to": entry.to_cell},
    ).fetchone()
    return bool(row and row["has_all"])


def _is_standby(conn: Connection) -> bool:
    row = conn.execute("select pg_catalog.pg_is_in_recovery() as is_standby").fetchone()
    return bool(row and row["is_standby"])


def _settle(directory: Directory, entry: Entry, new: Connection) -> None:
    """In the new cell: those who stay depart to the old cell, those who go are at work.

    Its copy of the directory goes, where it has one.
    """
    with new.transaction():
        # Calls that clients make here already wait until it is settled.
        new.execute("lock table lensers.profiles in access exclusive mode")
        if not _is_unsettled(new, entry):
            return
        staying = new.execute(
            "select p.id from lensers.profiles as p "
            "where p.departed_at is null and not p.id = any(%s) order by p.id",
            [entry.lenser_ids],
        ).fetchall()
        tenant.take_back(new, entry.lenser_ids)
        tenant.leave(new, [row["id"] for row in staying], entry.from_cell)
        # What is here of others who had left the old cell is a copy too.
        new.execute(
            "select lenses.fn_settle_departures(array(select p.id from lensers.profiles as p "
            "where p.departed_at is not null and p.departure_settled_at is null))"
        )
        _drop_copy(directory, new)
        _unfreeze(new, entry)


def _is_unsettled(new: Connection, entry: Entry) -> bool:
    """Whether those who go are not at work yet: afterwards others may have come."""
    row = new.execute(
        "select 1 from lensers.profiles as p where p.id = any(%s) and p.departed_to = %s limit 1",
        [entry.lenser_ids, entry.to_cell],
    ).fetchone()
    return row is not None


def _drop_copy(directory: Directory, new: Connection) -> None:
    row = new.execute(
        "select pg_catalog.to_regclass('lf_fleet.directories') is not null as is_there"
    ).fetchone()
    if not row or not row["is_there"]:
        return
    copy = new.execute("select id from lf_fleet.directories").fetchone()
    if copy and copy["id"] == directory.id:
        new.execute("drop schema lf_fleet cascade")


def take_back(directory: Directory, entry: Entry, say: Say) -> None:
    """Let all tenants be at work in the old cell. LfSqlError where the standby may be promoted."""
    source = directory.cell(entry.from_cell)
    with connected(source) as old, journal.alone(old, entry):
        if entry.step in PROMOTED:
            with connected(directory.cell(entry.to_cell)) as new:
                if not _is_standby(new):
                    raise LfSqlError(
                        f"{entry}: the standby is promoted, and cannot be taken back",
                        "lf-sql cells resume, then move tenants the other way",
                    )
        tenant.take_back(old, entry.lenser_ids)
        say("returned")
        _unfreeze(old, entry)
        say("source unfrozen")
        journal.finish(directory, entry, "taken back")
        say("taken back")
