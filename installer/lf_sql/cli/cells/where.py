"""lf-sql cells init, add, set, list, place, locate: which cells there are, and who is where."""

from __future__ import annotations

import click

from lf_sql.cells import directory as directories
from lf_sql.cells import place as places
from lf_sql.cells.directory import Cell, Directory
from lf_sql.cli.cells.common import address, directory_option, fleet, user
from lf_sql.cli.context import emit, emit_one, note, options
from lf_sql.cli.params import Name
from lf_sql.cli.where import complete
from lf_sql.errors import LfSqlError
from lf_sql.plain import dumps

LIST = """
select
  c.name, c.is_open, c.version, c.conninfo,
  count(t.user_id) filter (where t.cell_id = c.id) as tenants,
  count(t.user_id) filter (where t.cell_id = c.id and t.moving_to is not null) as leaving,
  count(t.user_id) filter (where t.moving_to = c.id) as coming
from lf_fleet.cells as c
left join lf_fleet.tenants as t on c.id in (t.cell_id, t.moving_to)
group by c.id
order by c.id
"""


@click.command(
    epilog="\b\nExample:\n  lf-sql cells init --directory postgresql://postgres@db.example.org/app"
)
@directory_option
def init() -> None:
    """Make the directory, the schema lf_fleet, in a database; safe to repeat."""
    is_new = directories.init(address())
    if options().as_json:
        emit_one({"made": is_new})
    else:
        click.echo("the directory is made" if is_new else "the directory is there already")


@click.command(
    epilog="\b\nExample:\n  lf-sql cells add berlin --dsn postgresql://postgres@b.example.org/app"
)
@click.argument("name")
@click.option("--closed", is_flag=True, help="Place no new tenants there.")
@directory_option
def add(name: str, closed: bool) -> None:
    """Add the lf-sql at --dsn as a cell, with the tenants that it has."""
    dsn = options().given_dsn
    if not dsn:
        raise click.UsageError("say where the cell is: --dsn DSN")
    with fleet() as (directory, _), directory.conn.transaction():
        cell = directory.add(name, dsn, is_open=not closed)
        count = places.take_in(directory, cell)
        cell = directory.cell(name)
    _told(cell, count)


@click.command(
    "set",
    epilog="\b\nExamples:\n  lf-sql cells set berlin --closed\n"
    "  lf-sql cells set berlin --dsn postgresql://postgres@b2.example.org/app",
)
@click.argument("name", shell_complete=complete)
@click.option("--open/--closed", "is_open", default=None, help="Place new tenants there, or none.")
@directory_option
def set_(name: str, is_open: bool | None) -> None:
    """Change a cell, and take in tenants that were created there without the directory.

    With --dsn the cell is elsewhere from now on.
    """
    with fleet() as (directory, _), directory.conn.transaction():
        dsn = options().given_dsn
        directory.change(directory.cell(name), dsn, is_open)
        count = places.take_in(directory, directory.cell(name), is_new_address=bool(dsn))
        cell = directory.cell(name)
    _told(cell, count)


def _told(cell: Cell, count: int) -> None:
    emit_one(
        {
            "name": cell.name,
            "conninfo": cell.conninfo,
            "is_open": cell.is_open,
            "version": cell.version,
            "taken_in": count,
        }
    )
    given = options().given_dsn
    if given and directories.has_password(given):
        note("the directory keeps no password: give it in ~/.pgpass or PGPASSWORD")


@click.command("list", epilog="\b\nExample:\n  lf-sql cells list")
@directory_option
def list_() -> None:
    """Cells, with how many tenants are in each; no cell is asked."""
    with fleet() as (directory, _):
        rows = directory.conn.execute(LIST.encode()).fetchall()
    emit(
        rows,
        ["name", "is_open", "version", "tenants", "leaving", "coming", "conninfo"],
        empty="no cells: lf-sql cells add NAME --dsn DSN",
    )


@click.command(
    epilog="\b\nExamples:\n  lf-sql cells place USER_UUID --handle shop\n"
    "  lf-sql cells place USER_UUID --cell berlin"
)
@click.argument("user_id", metavar="USER_UUID")
@click.option("--handle", type=Name(), help="What the tenant is called.")
@click.option("--display-name", type=Name(), help="As people read it.")
@directory_option
def place(user_id: str, handle: str | None, display_name: str | None) -> None:
    """Create a tenant in the cell of --cell, or in the open one with the fewest tenants.

    Safe to repeat: a tenant that has a cell stays there.
    """
    with fleet() as (directory, _):
        name = options().cell
        cell, lenser = places.place(
            directory, user(user_id), directory.cell(name) if name else None, handle, display_name
        )
    emit_one({"cell": cell.name, "user_id": user(user_id), "lenser_id": lenser})


@click.command(epilog='\b\nExample:\n  psql "$(lf-sql cells locate USER_UUID --dsn-only)"')
@click.argument("user_id", metavar="USER_UUID")
@click.option("--dsn-only", is_flag=True, help="Print the cell's address alone.")
@directory_option
def locate(user_id: str, dsn_only: bool) -> None:
    """Show the cell of a tenant; of one that moves, the cell that it leaves."""
    with fleet() as (directory, _):
        row = _located(directory, user_id)
    if dsn_only:
        conninfo = row["conninfo"]
        click.echo(dumps(conninfo) if options().as_json else conninfo)
    else:
        emit_one(row)


def _located(directory: Directory, user_id: str) -> dict[str, object]:
    found = directory.place(user(user_id))
    if found is None:
        raise LfSqlError(
            f"no cell is known for the user {user_id}", f"lf-sql cells place {user_id}"
        )
    cell = directory.by_id(found.cell_id)
    to = directory.by_id(found.moving_to).name if found.moving_to else None
    return {
        "cell": cell.name,
        "conninfo": cell.conninfo,
        "lenser_id": found.lenser_id,
        "moving_to": to,
    }


COMMANDS = (init, add, set_, list_, place, locate)
