"""lf-sql cells foreign-tables: SQL over all cells."""

from __future__ import annotations

import click

from lf_sql.cells import foreign
from lf_sql.cli.cells.common import directory_option
from lf_sql.cli.cells.common import fleet as opened
from lf_sql.cli.context import emit_one, options


@click.command(
    "foreign-tables",
    epilog='\b\nExample:\n  lf-sql cells foreign-tables | psql "$LF_SQL_DIRECTORY"',
)
@directory_option
def foreign_tables() -> None:
    """Print a psql script that makes foreign tables over all cells; nothing is changed.

    It is for the directory's database, and safe to apply again. It has no password: the user
    mappings are yours to make.
    """
    if options().cell:
        raise click.UsageError("the script is of all cells: give no --cell")
    with opened() as (directory, _):
        text = foreign.script(directory)
    if options().as_json:
        emit_one({"script": text})
    else:
        click.echo(text, nl=False)


COMMANDS = (foreign_tables,)
