"""lf-sql diff: what apply would do."""

from __future__ import annotations

import click

from lf_sql.ascode import present, work
from lf_sql.cli import changes
from lf_sql.cli.apply import ENV, FILES, PRUNE
from lf_sql.cli.context import acting, note, options
from lf_sql.cli.session import installed


@click.command(
    epilog="\b\nExamples:\n  lf-sql diff schedules.yaml --prune\n"
    "  lf-sql diff --json schedules.yaml | jq '.changes[].name'"
)
@FILES
@ENV
@PRUNE
def command(files: tuple[str, ...], with_environment: bool, prune: bool) -> None:
    """Show what `apply` would add, change and remove; exit 1 if there is anything."""
    if not files:
        raise click.UsageError("name a FILE, or - for standard input")
    wanted = work.wanted(files, with_environment)
    with installed() as conn:
        user_id = present.user_of(conn, wanted.tenant, options().as_user)
        with acting(conn, user_id):
            plan = work.made(conn, user_id, wanted, prune, holding=False)
    if options().as_json:
        click.echo(changes.as_json(plan, wanted.project, False))
    else:
        changes.text(plan)
        note(changes.summary(plan, False))
    if plan.changes:
        raise click.exceptions.Exit(1)
