"""lf-sql cells upgrade, health, metrics, verify: every cell at once."""

from __future__ import annotations

import click

from lf_sql import apply, metrics, metrics_server
from lf_sql.cells import directory as directories
from lf_sql.cells import figures, fleet, inspect
from lf_sql.cli.cells.common import address, asked, directory_option
from lf_sql.cli.cells.common import fleet as opened
from lf_sql.cli.context import emit, note, options
from lf_sql.cli.params import LISTEN
from lf_sql.errors import LfSqlError


@click.command(epilog="\b\nExample:\n  lf-sql cells upgrade")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=apply.LOCK_WAIT,
    show_default=True,
    help="Seconds to wait in each cell for ticks under way and for readers.",
)
@directory_option
def upgrade(wait: float) -> None:
    """Bring one cell after another to this version; the first that fails ends it."""
    with opened() as (directory, work):
        cells = asked(directory)
        rows = fleet.upgrade(directory, cells, wait, work.say)
    emit(rows, ["cell", "before", "version", "changed", "seconds"], empty="no cells")


@click.command(epilog="\b\nExample:\n  lf-sql cells health")
@click.option("--server", is_flag=True, help="Only the machinery, no schedules.")
@directory_option
def health(server: bool) -> None:
    """Show the health of every cell, and moves that were cut off; exit 1 if anything is bad."""
    with opened() as (directory, _):
        rows = fleet.check(directory, asked(directory), has_schedules=not server)
    emit(rows, ["cell", "check", "state", "detail", "advice"], empty="no cells")
    if any(row["state"] == "bad" for row in rows):
        raise click.exceptions.Exit(1)


@click.command(
    "metrics",
    epilog="\b\nExamples:\n  lf-sql cells metrics > lf_sql.prom\n"
    "  lf-sql cells metrics --listen 127.0.0.1:9187",
)
@LISTEN
@directory_option
def metrics_(listen: tuple[str, int] | None) -> None:
    """Print the figures of every cell as Prometheus text, with the label cell, or serve them.

    A cell that does not answer has lf_sql_cell_up 0.
    """
    if listen is not None:
        _serve(listen)
        return
    with opened() as (directory, _):
        rows = figures.samples(directory, asked(directory))
    if options().as_json:
        emit(rows)
    else:
        click.echo(metrics.text_of(rows), nl=False)


def _serve(listen: tuple[str, int]) -> None:
    with opened() as (directory, _):
        asked(directory)
    metrics.client()
    dsn, only = address(), options().cell
    metrics_server.serve_until_stopped(
        listen, lambda: directories.connect(dsn), lambda conn: figures.text(conn, only), note
    )


@click.command(epilog="\b\nExample:\n  lf-sql cells verify")
@directory_option
def verify() -> None:
    """Verify every cell, and that each tenant is active in its cell, and in no other."""
    with opened() as (directory, _):
        cells = asked(directory)
        problems = inspect.inspect(directory, cells)
    rows = [
        {"cell": p.cell, "kind": p.kind, "what": p.what, "problem": p.problem} for p in problems
    ]
    if rows or options().as_json:
        emit(rows, ["cell", "kind", "what", "problem"])
    if rows:
        many = len(rows)
        raise LfSqlError(
            f"{many} {'thing is' if many == 1 else 'things are'} wrong",
            "lf-sql cells resume, lf-sql cells upgrade, or lf-sql verify --cell NAME",
        )
    note(f"{len(cells)} cells: everything is as installed, and each tenant is in its cell")


COMMANDS = (upgrade, health, metrics_, verify)
