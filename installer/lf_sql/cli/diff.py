"""lf-sql diff: what apply would do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
import psycopg

from lf_sql import db
from lf_sql.ascode import perform, present, work
from lf_sql.cli import changes
from lf_sql.cli.apply import ENV, FILES, PRUNE
from lf_sql.cli.context import acting, note, options
from lf_sql.cli.session import installed
from lf_sql.errors import LfSqlError


class Undecided(LfSqlError):
    """What differs cannot be said: 2, as 1 means that something does."""

    exit_code = 2


@contextmanager
def deciding() -> Iterator[None]:
    try:
        yield
    except LfSqlError as error:
        raise Undecided(error.message, error.hint) from error
    except psycopg.Error as error:
        raise Undecided(*db.describe(error)) from error


@click.command(
    epilog="\b\nExamples:\n  lf-sql diff schedules.yaml --prune\n"
    "  lf-sql diff --json schedules.yaml | jq '.changes[].name'"
)
@FILES
@ENV
@PRUNE
def command(files: tuple[str, ...], with_environment: bool, prune: bool) -> None:
    """Show what `apply` would add, change and remove; exit 1 if there is anything.

    It does so and undoes it: what `apply` would refuse is refused here already, with exit 2.
    """
    if not files:
        raise click.UsageError("name a FILE, or - for standard input")
    with deciding():
        wanted = work.wanted(files, with_environment)
        with installed() as conn:
            user_id = present.user_of(conn, wanted.tenant, options().as_user)
            with acting(conn, user_id):
                can_try = perform.may(conn)
                plan = work.made(conn, user_id, wanted, prune, holding=can_try)
                if can_try and plan.changes:
                    perform.attempt(conn, plan, wanted.project)
    if options().as_json:
        click.echo(changes.as_json(plan, wanted.project, False))
    else:
        changes.text(plan)
        note(changes.summary(plan, False))
    if plan.changes:
        if not can_try:
            note("this connection only reads: whether apply is refused was not tried")
        raise click.exceptions.Exit(1)
