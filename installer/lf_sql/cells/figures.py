"""Figures of all cells for Prometheus, each sample with the label `cell`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg

from lf_sql import db, metrics
from lf_sql.cells import journal
from lf_sql.cells.directory import Cell, Directory
from lf_sql.cells.fleet import reached
from lf_sql.errors import LfSqlError

Row = dict[str, Any]
_COUNTS = """
select c.name, count(t.user_id) as tenants
from lf_fleet.cells as c
left join lf_fleet.tenants as t on t.cell_id = c.id
where c.id = any(%s)
group by c.id
order by c.id
"""


def samples(directory: Directory, cells: Sequence[Cell]) -> list[Row]:
    """Those of every cell that answers, and the fleet's own. Samples of one name stand together."""
    rows: list[Row] = []
    for cell, conn in reached(cells):
        is_up = not isinstance(conn, LfSqlError)
        if not isinstance(conn, LfSqlError):
            try:
                db.require_installed(conn)
                found = metrics.samples(conn)
            except (LfSqlError, psycopg.Error):
                is_up = False
            else:
                rows += [{**row, "labels": {"cell": cell.name, **row["labels"]}} for row in found]
        rows.append(_gauge("lf_sql_cell_up", "Whether the cell answers.", cell.name, int(is_up)))
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
