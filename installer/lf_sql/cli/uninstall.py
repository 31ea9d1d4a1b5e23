"""lf-sql uninstall: everything out of the database again."""

from __future__ import annotations

import click

from lf_sql import bundle, report, uninstall
from lf_sql.cli.context import connect, note


@click.command(epilog="\b\nExample:\n  pg_dump app > before.sql && lf-sql uninstall --yes")
@click.option("--yes", is_flag=True, help="Yes: schedules, runs and history go for good.")
def command(yes: bool) -> None:
    """Remove everything, data too: jobs, functions, schemas, roles that nobody else uses."""
    if not yes:
        raise click.UsageError("uninstall drops every schedule, run and log row: say --yes")
    with connect() as conn:
        removed = uninstall.uninstall(conn, bundle.load(), say=note)
    report.removed(removed)
