"""lf-sql uninstall: everything out of the database again."""

from __future__ import annotations

from dataclasses import asdict

import click

from lf_sql import bundle, uninstall
from lf_sql.cli import report
from lf_sql.cli.context import (
    command_name,
    connect,
    connect_cron,
    cron_option,
    emit_one,
    note,
    options,
)
from lf_sql.cli.progress import progress


@click.command(epilog="\b\nExample:\n  pg_dump app > before.sql && lf-sql uninstall --yes")
@click.option("--yes", is_flag=True, help="Yes, delete schedules, runs and history permanently.")
@cron_option
def command(yes: bool, cron_dsn: str | None) -> None:
    """Remove everything, data too: jobs, functions, schemas, roles that nothing else uses."""
    if not yes:
        raise click.UsageError("uninstall drops every schedule, run and log row: say --yes")
    tree = bundle.load()
    with (
        connect(is_patient=True) as conn,
        connect_cron(cron_dsn) as cron,
        progress(command_name()) as work,
    ):
        say = work.say if work.is_shown else note
        removed = uninstall.uninstall(conn, tree, cron, say=say)
    if options().as_json:
        emit_one(asdict(removed))
    else:
        report.removed(removed)
