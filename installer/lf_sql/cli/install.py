"""lf-sql install: everything of this version into the database."""

from __future__ import annotations

import click

from lf_sql import apply, bundle, jobs, roles, tenancy, verify
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


@click.command(
    epilog="\b\nExamples:\n  lf-sql install --dsn postgresql://postgres@localhost/app\n"
    "  lf-sql install --dry-run > install.sql"
)
@click.option("--dry-run", is_flag=True, help="Print the SQL and change nothing.")
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=apply.LOCK_WAIT,
    show_default=True,
    help="Seconds to wait for another installer, for ticks under way and for readers.",
)
@cron_option
def command(dry_run: bool, wait: float, cron_dsn: str | None) -> None:
    """Install or upgrade; safe to repeat, to run twice at once, and to be killed."""
    tree = bundle.load()
    with connect(is_patient=True) as conn, connect_cron(cron_dsn) as cron:
        if dry_run:
            plan = apply.prepare(conn, tree).plan
            script = apply.script(tree, plan, with_jobs=cron is None)
            if options().as_json:
                emit_one(report.planned(tree, plan, "".join(script)))
                return
            for part in script:
                click.echo(part, nl=False)
            return
        with progress(command_name()) as work:
            tell = work.say if work.is_shown else note
            outcome = apply.install(conn, tree, say=work.say, tell=tell, wait=wait)
            mended = verify.mend_sequences(conn)
            driver = jobs.register(conn, tree, cron)
            weaker = [*roles.weaker(outcome.plan.role_map), *tenancy.weaker(conn)]
    if options().as_json:
        emit_one(report.as_row(tree, outcome, driver, mended, weaker))
        report.refuse_leftovers(outcome)
    else:
        report.installed(tree, outcome, driver, mended, weaker)
