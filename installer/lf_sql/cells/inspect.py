"""Whether each cell is as installed, and each tenant in the one cell that the directory says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import psycopg

from lf_sql import bundle, verify
from lf_sql.cells.directory import Cell, Directory
from lf_sql.cells.fleet import reached, unreachable
from lf_sql.errors import LfSqlError

_HERE = "select p.id, p.user_id from lensers.profiles as p where p.departed_at is null"
_KNOWN = """
select t.user_id, t.lenser_id, c.name as cell, m.name as moving_to
from lf_fleet.tenants as t
inner join lf_fleet.cells as c on c.id = t.cell_id
left join lf_fleet.cells as m on m.id = t.moving_to
order by t.user_id
"""


@dataclass(frozen=True)
class Problem:
    """Something that is not as it should be, and what to do about it."""

    cell: str
    kind: str
    what: str
    problem: str


@dataclass
class Census:
    """Which tenants are active where, as the cells said."""

    seen: set[str] = field(default_factory=set)
    cells: dict[UUID, list[str]] = field(default_factory=lambda: defaultdict(list))
    users: dict[UUID, UUID] = field(default_factory=dict)


def inspect(directory: Directory, cells: Sequence[Cell]) -> list[Problem]:
    """What `lf-sql verify` says in each cell, and tenants that are not in one cell alone.

    A cell that does not answer is a problem; its tenants are not judged then. A tenant that moves
    while the cells are asked is no problem: what is wrong is still wrong when they are asked again.
    """
    problems = list(_of_cells(cells))
    misplaced = list(_misplaced(directory, cells))
    if misplaced:
        again = set(_misplaced(directory, cells))
        misplaced = [problem for problem in misplaced if problem in again]
    return problems + misplaced


def _of_cells(cells: Sequence[Cell]) -> Iterator[Problem]:
    tree = bundle.load()
    for cell, conn in reached(cells):
        if isinstance(conn, LfSqlError):
            yield Problem(cell.name, "cell", "", unreachable(cell, conn))
            continue
        try:
            conn.read_only = True
            report = verify.verify(conn, tree)
        except (LfSqlError, psycopg.Error) as error:
            yield Problem(cell.name, "cell", "", " ".join(str(error).split()))
            continue
        for found in report.findings:
            yield Problem(cell.name, found.kind, found.identity, found.problem)


def _census(cells: Sequence[Cell]) -> Census:
    census = Census()
    for cell, conn in reached(cells):
        if isinstance(conn, LfSqlError) or not conn.is_installed:
            continue
        for row in conn.execute(_HERE).fetchall():
            census.cells[row["id"]].append(cell.name)
            census.users[row["id"]] = row["user_id"]
        census.seen.add(cell.name)
    return census


def _misplaced(directory: Directory, cells: Sequence[Cell]) -> Iterator[Problem]:
    census = _census(cells)
    rows = directory.conn.execute(_KNOWN.encode()).fetchall()
    known = {row["lenser_id"]: row for row in rows if row["lenser_id"] is not None}
    for lenser in sorted(census.cells):
        if problem := _of_tenant(census, lenser, known.get(lenser)):
            yield Problem(census.cells[lenser][0], "tenant", str(lenser), problem)
    for row in rows:
        lenser, cell = row["lenser_id"], row["cell"]
        if lenser is None:
            problem = f"was not placed completely: lf-sql cells place {row['user_id']}"
            yield Problem(cell, "tenant", str(row["user_id"]), problem)
        elif lenser not in census.cells and row["moving_to"] is None and cell in census.seen:
            problem = "the directory says that it is here: it is not"
            yield Problem(cell, "tenant", str(lenser), problem)


def _of_tenant(census: Census, lenser: UUID, row: Mapping[str, object] | None) -> str | None:
    cells = census.cells[lenser]
    if len(cells) > 1:
        return f"is active in several cells: {', '.join(cells)}"
    if row is None:
        user = census.users[lenser]
        return f"user {user} is not in the directory: lf-sql cells set {cells[0]} takes it in"
    if cells[0] not in (row["cell"], row["moving_to"]):
        mend = f"lf-sql cells move {row['user_id']} --to {cells[0]} mends it"
        return f"is here, and the directory says {row['cell']}: {mend}"
    return None
