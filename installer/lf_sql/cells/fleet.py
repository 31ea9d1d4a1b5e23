"""All cells, one after another: upgrade and health."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

from lf_sql import apply, bundle, db, health, jobs, verify
from lf_sql.cells import journal
from lf_sql.cells.directory import Cell, Directory, connected
from lf_sql.cells.move import Say
from lf_sql.cells.place import version_of
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

Row = dict[str, Any]


def upgrade(directory: Directory, cells: Sequence[Cell], wait: float, say: Say) -> list[Row]:
    """Each to this version. The first that fails ends it: those behind it are left alone."""
    tree = bundle.load()
    rows: list[Row] = []
    for cell in cells:
        say(cell.name)
        started = time.monotonic()
        try:
            with connected(cell, is_patient=True) as conn:
                before = version_of(conn) if conn.is_installed else None
                outcome = apply.install(conn, tree, wait=wait)
                verify.mend_sequences(conn)
                jobs.register(conn, tree, None)
        except (LfSqlError, psycopg.Error) as error:
            raise _stopped(cell, cells, rows, error) from error
        directory.see(cell, tree.version)
        rows.append(
            {
                "cell": cell.name,
                "before": before,
                "version": tree.version,
                "changed": outcome.plan.is_pending,
                "seconds": round(time.monotonic() - started, 3),
            }
        )
    return rows


def _stopped(
    cell: Cell, cells: Sequence[Cell], rows: Sequence[Row], error: LfSqlError | psycopg.Error
) -> LfSqlError:
    if isinstance(error, LfSqlError):
        message, hint = error.message, error.hint
    else:
        message, hint = db.describe(error)
    left = [other.name for other in cells[len(rows) + 1 :]]
    rest = f"; not begun: {', '.join(left)}" if left else ""
    message = message.removeprefix(f"cell {cell.name}: ")
    again = "lf-sql cells upgrade goes on"
    return LfSqlError(
        f"cell {cell.name}: {message}{rest}", f"{hint}; then {again}" if hint else again
    )


def reached(cells: Sequence[Cell]) -> Iterator[tuple[Cell, Connection | LfSqlError]]:
    """Each cell's connection, or why there is none."""
    for cell in cells:
        try:
            manager = connected(cell, is_patient=True)
            conn = manager.__enter__()
        except LfSqlError as error:
            yield cell, error
            continue
        try:
            yield cell, conn
        finally:
            manager.__exit__(None, None, None)


def unreachable(cell: Cell, error: LfSqlError) -> str:
    return error.message.removeprefix(f"cell {cell.name}: ")


def check(directory: Directory, cells: Sequence[Cell], *, has_schedules: bool) -> list[Row]:
    """What every cell says of its health, and what is cut off in the directory."""
    rows: list[Row] = []
    for cell, conn in reached(cells):
        if isinstance(conn, LfSqlError):
            rows.append(_line(cell.name, "cell", "bad", unreachable(cell, conn), conn.hint))
            continue
        try:
            db.require_installed(conn)
            lines = health.everything(conn, has_schedules=has_schedules)
        except (LfSqlError, psycopg.Error) as error:
            rows.append(_line(cell.name, "cell", "bad", " ".join(str(error).split()), None))
            continue
        rows += [
            _line(cell.name, line.head.partition(": ")[0], line.state, _said(line), line.advice)
            for line in lines
        ]
    for entry in journal.unfinished(directory):
        many = len(entry.lenser_ids)
        whose = f"tenant {entry.lenser_ids[0]}" if many == 1 else f"{many} tenants"
        rows.append(
            _line("", entry.kind, "warn", f"{entry} of {whose} stands at {entry.step}",
                  "lf-sql cells resume  # unless it is under way")
        )  # fmt: skip
    return rows


def _said(line: health.Line) -> str:
    what = line.head.partition(": ")[2]
    return f"{what}: {line.detail}" if line.detail else what


def _line(cell: str, name: str, state: str, detail: str, advice: str | None) -> Row:
    return {"cell": cell, "check": name, "state": state, "detail": detail, "advice": advice}
