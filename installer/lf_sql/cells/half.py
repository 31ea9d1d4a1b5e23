"""Who goes when a cell is split."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lf_sql.cells.directory import Cell, Directory
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

_WEIGHTS = """
select p.id, (
  select count(*) from lenses.workflow_schedules as s where s.lenser_id = p.id
) as schedules
from lensers.profiles as p
where p.departed_at is null and p.id = any(%s)
order by 2 desc, p.id
"""


def going(directory: Directory, old: Connection, source: Cell, users: Sequence[UUID]) -> list[UUID]:
    """The tenants of these users, else half of those that are in the cell.

    LfSqlError where a user is not in it, or none would go.
    """
    rows = directory.conn.execute(
        "select user_id, lenser_id from lf_fleet.tenants "
        "where cell_id = %s and moving_to is null and lenser_id is not null",
        [source.id],
    ).fetchall()
    known = {row["user_id"]: row["lenser_id"] for row in rows}
    for user in users:
        if user not in known:
            raise LfSqlError(
                f"user {user} is not in cell {source.name}", "lf-sql cells locate USER"
            )
    goers = [known[user] for user in dict.fromkeys(users)] or half(old, list(known.values()))
    if not goers:
        raise LfSqlError(
            f"cell {source.name} has fewer than two tenants: there is nothing to split",
            "lf-sql cells move USER --to CELL moves one",
        )
    return goers


def half(source: Connection, lensers: Sequence[UUID]) -> list[UUID]:
    """Those of the tenants who go: as many schedules as those who stay, as near as it comes."""
    rows = source.execute(_WEIGHTS.encode(), [list(lensers)]).fetchall()
    goers: list[UUID] = []
    weights = {True: 0, False: 0}
    counts = {True: 0, False: 0}
    for row in rows:
        goes = (weights[True], counts[True]) < (weights[False], counts[False])
        weights[goes] += row["schedules"]
        counts[goes] += 1
        if goes:
            goers.append(row["id"])
    return goers
