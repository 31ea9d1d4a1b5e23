"""Figures of all cells for Prometheus, each sample with the label `cell`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from socket import socket
from threading import Thread, Timer
from typing import Any

import psycopg

from lf_sql import db, metrics
from lf_sql.cells import journal
from lf_sql.cells.directory import Cell, Directory, connected
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.metrics_server import cut

Row = dict[str, Any]
PATIENCE = 12.0  # seconds that a cell has for its figures once it is reached
LONGEST = 25.0  # seconds in all, for what no other time-out ends
# Who still waits for a cell after that. Meanwhile nobody else asks it, or they would pile up.
_late: dict[tuple[int, str], Thread] = {}
_COUNTS = """
select c.name, count(t.user_id) as tenants
from lf_fleet.cells as c
left join lf_fleet.tenants as t on t.cell_id = c.id
where c.id = any(%s)
group by c.id
order by c.id
"""


def text(conn: Connection, only: str | None = None) -> str:
    """Those of all cells, or of the cell `only`, as Prometheus reads them.

    `conn` is the directory's.
    """
    directory = Directory(conn)
    return metrics.text_of(samples(directory, directory.asked(only)))


def samples(directory: Directory, cells: Sequence[Cell]) -> list[Row]:
    """Those of every cell that answers, and the fleet's own. Samples of one name stand together."""
    rows: list[Row] = []
    found = _of_cells(cells)
    for cell in cells:
        answer = found.get(cell.id)
        for row in answer or ():
            rows.append({**row, "labels": {"cell": cell.name, **row["labels"]}})
        is_up = int(answer is not None)
        rows.append(_gauge("lf_sql_cell_up", "Whether the cell answers.", cell.name, is_up))
    counts = directory.conn.execute(_COUNTS.encode(), [[cell.id for cell in cells]]).fetchall()
    rows += [
        _gauge("lf_sql_cell_tenants", "Tenants in the directory.", row["name"], row["tenants"])
        for row in counts
    ]
    entries = journal.unfinished(directory)
    rows.append(
        {
            "name": "lf_sql_fleet_moves_unfinished",
            "kind": "gauge",
            "help": "Moves and splits that are under way or were cut off.",
            "labels": {},
            "value": len(entries),
        }
    )
    return sorted(rows, key=lambda row: str(row["name"]))


def _gauge(name: str, text: str, cell: str, value: int) -> Row:
    return {"name": name, "kind": "gauge", "help": text, "labels": {"cell": cell}, "value": value}


def _of_cells(cells: Sequence[Cell]) -> dict[int, list[Row]]:
    """The samples of those that answer in time. All are asked at once: one waits for no other."""
    found: dict[int, list[Row]] = {}

    def ask(cell: Cell) -> None:
        with suppress(LfSqlError, psycopg.Error):
            found[cell.id] = _of_cell(cell)

    # Daemons: a command that is told to stop waits for none of them.
    threads = {}
    for cell in cells:
        key = (cell.id, cell.conninfo)
        if not (key in _late and _late[key].is_alive()):
            threads[key] = Thread(target=ask, args=[cell], daemon=True)
    for thread in threads.values():
        thread.start()
    end = time.monotonic() + LONGEST
    for key, thread in threads.items():
        thread.join(max(0.0, end - time.monotonic()))
        if thread.is_alive():
            _late[key] = thread
    return dict(found)


def _of_cell(cell: Cell) -> list[Row]:
    with connected(cell) as conn:
        # A server that stops in the middle of an answer knows no statement_timeout.
        line = socket(fileno=os.dup(conn.fileno()))
        end = Timer(PATIENCE, cut, [line])
        end.daemon = True
        end.start()
        try:
            conn.execute("set statement_timeout = '10s'")
            db.require_installed(conn)
            return metrics.samples(conn)
        finally:
            end.cancel()
            line.close()
