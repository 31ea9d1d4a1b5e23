"""Which cell a tenant is in: new ones are placed, those of a cell that is added are taken in."""

from __future__ import annotations

from uuid import UUID

from lf_sql import db
from lf_sql.cells import journal
from lf_sql.cells.directory import Cell, Directory, connected
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

_FEWEST = """
select c.id
from lf_fleet.cells as c
where c.is_open
order by (
  select count(*)
  from lf_fleet.tenants as t
  where coalesce(t.moving_to, t.cell_id) = c.id
), c.id
limit 1
"""
_ACTIVE = "select p.id, p.user_id from lensers.profiles as p where p.departed_at is null"


def version_of(conn: Connection) -> str | None:
    """The lf-sql that is installed there."""
    row = conn.execute(
        "select product_version from lf_sql.installs order by id desc limit 1"
    ).fetchone()
    return row["product_version"] if row else None


def require_cells(conn: Connection, cell: Cell) -> str | None:
    """The version there; LfSqlError where it is none that can be a cell."""
    row = conn.execute(
        "select pg_catalog.to_regprocedure('lenses.fn_arrive_tenant(uuid)') is not null as can"
    ).fetchone()
    try:
        db.require_installed(conn)
    except LfSqlError as error:
        raise LfSqlError(f"cell {cell.name}: {error.message}", "lf-sql install --dsn DSN") from None
    if not row or not row["can"]:
        raise LfSqlError(
            f"cell {cell.name}: its lf-sql is older than cells", "lf-sql upgrade --dsn DSN"
        )
    return version_of(conn)


def take_in(directory: Directory, cell: Cell, *, is_new_address: bool = False) -> int:
    """Write down the tenants of a cell that no cell is known for; how many there were.

    LfSqlError, and nothing changed, where one is in another cell too; at a new address also where
    those that the directory knows are not there.
    """
    with connected(cell) as conn:
        version = require_cells(conn, cell)
        rows = conn.execute(_ACTIVE).fetchall()
    users, lensers = [row["user_id"] for row in rows], [row["id"] for row in rows]
    with directory.conn.transaction():
        taken = directory.conn.execute(
            "select t.user_id, c.name from lf_fleet.tenants as t "
            "join lf_fleet.cells as c on c.id = t.cell_id "
            "where (t.user_id = any(%s) or t.lenser_id = any(%s)) and t.cell_id <> %s "
            "and t.moving_to is distinct from %s order by t.user_id limit 5",
            [users, lensers, cell.id, cell.id],
        ).fetchall()
        if taken:
            first = ", ".join(f"{row['user_id']} in {row['name']}" for row in taken)
            raise LfSqlError(
                f"tenants of cell {cell.name} are known in another cell: {first}",
                "one of the two copies must go before this cell can be added",
            )
        if is_new_address:
            _require_all(directory, cell, lensers)
        directory.see(cell, version)
        added = directory.conn.execute(
            "insert into lf_fleet.tenants (user_id, lenser_id, cell_id) "
            "select u.user_id, u.lenser_id, %s "
            "from unnest(%s::uuid[], %s::uuid[]) as u (user_id, lenser_id) "
            "on conflict (user_id) do update set lenser_id = excluded.lenser_id "
            "where tenants.lenser_id is null and tenants.cell_id = excluded.cell_id",
            [cell.id, users, lensers],
        )
    return added.rowcount


def _require_all(directory: Directory, cell: Cell, lensers: list[UUID]) -> None:
    rows = directory.conn.execute(
        "select t.user_id from lf_fleet.tenants as t where t.cell_id = %s "
        "and t.moving_to is null and not t.lenser_id = any(%s) order by t.user_id",
        [cell.id, lensers],
    ).fetchall()
    if rows:
        raise LfSqlError(
            f"{len(rows)} of the tenants of cell {cell.name} are not there, "
            f"the first the user {rows[0]['user_id']}",
            "give the address of the database that has them",
        )


def place(
    directory: Directory,
    user_id: UUID,
    cell: Cell | None = None,
    handle: str | None = None,
    display_name: str | None = None,
) -> tuple[Cell, UUID]:
    """The tenant's cell and profile; made where there are none yet. Repeat it after an error.

    Without a `cell` the open one with the fewest tenants. The directory is told first: if nothing
    came after that, the next call goes on in the same cell.
    """
    found = directory.place(user_id)
    if found is None:
        _write_down(directory, user_id, cell)
        found = directory.place(user_id)
        assert found is not None  # rows are never deleted
    where = directory.by_id(found.cell_id)
    if cell is not None and cell != where:
        raise LfSqlError(
            f"user {user_id} is in cell {where.name} already",
            f"lf-sql cells move {user_id} --to {cell.name}",
        )
    if found.lenser_id is not None:
        return where, found.lenser_id
    with connected(where) as conn:
        require_cells(conn, where)
        conn.execute(
            "insert into lensers.profiles (user_id, handle, display_name) values (%s, %s, %s) "
            "on conflict (user_id) do nothing",
            [user_id, handle, display_name],
        )
        row = conn.execute(
            "select p.id, p.departed_to from lensers.profiles as p where p.user_id = %s", [user_id]
        ).fetchone()
    if row is None or row["departed_to"] is not None:
        raise LfSqlError(
            f"user {user_id} left cell {where.name}", "lf-sql cells verify shows where it is"
        )
    directory.conn.execute(
        "update lf_fleet.tenants set lenser_id = %s where user_id = %s and lenser_id is null",
        [row["id"], user_id],
    )
    return where, row["id"]


def _write_down(directory: Directory, user_id: UUID, cell: Cell | None) -> None:
    if cell is not None and journal.is_being_made(directory, cell):
        raise LfSqlError(f"cell {cell.name} is being made by a split", "lf-sql cells resume")
    with directory.conn.transaction():
        number = cell.id if cell else None
        if number is None:
            row = directory.conn.execute(_FEWEST).fetchone()
            if row is None:
                raise LfSqlError(
                    "no cell is open for new tenants",
                    "lf-sql cells add NAME --dsn DSN, or lf-sql cells set NAME --open",
                )
            number = row["id"]
        directory.conn.execute(
            "insert into lf_fleet.tenants (user_id, cell_id) values (%s, %s) "
            "on conflict (user_id) do nothing",
            [user_id, number],
        )
