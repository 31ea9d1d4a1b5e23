"""lf-sql apply: the database as the files say."""

from __future__ import annotations

import sys
from importlib import resources

import click

from lf_sql.ascode import perform, present, work
from lf_sql.ascode.model import Wanted
from lf_sql.ascode.plan import Plan
from lf_sql.cli import changes
from lf_sql.cli.context import acting, note, options
from lf_sql.cli.params import Filled
from lf_sql.cli.session import installed
from lf_sql.errors import LfSqlError

FILES = click.argument("files", type=Filled(), nargs=-1, metavar="FILE...")
ENV = click.option(
    "--env", "with_environment", is_flag=True, help="Fill in ${NAME} and ${NAME:-default}."
)
PRUNE = click.option(
    "--prune", is_flag=True, help="Remove what the project's file made before and now leaves out."
)


@click.command(
    epilog="\b\nExamples:\n"
    "  lf-sql apply schedules.yaml\n"
    "  lf-sql apply calendars.yaml shop.yaml --prune --yes\n"
    "  lf-sql apply --schema > lf-sql.schema.json"
)
@FILES
@ENV
@PRUNE
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--schema", "wants_schema", is_flag=True, help="Print the JSON Schema of the file.")
def command(
    files: tuple[str, ...], with_environment: bool, prune: bool, yes: bool, wants_schema: bool
) -> None:
    """Make calendars, workflows and schedules as the YAML files say; `-` is standard input.

    All of it or nothing. What a schedule or calendar leaves out has its default, a workflow keeps
    it; what the files leave out stays, unless --prune. Pauses, runs and next slots stay.
    """
    if wants_schema:
        text = resources.files("lf_sql.ascode").joinpath("schema.json").read_text(encoding="utf-8")
        click.echo(text, nl=False)
        return
    if not files:
        raise click.UsageError("name a FILE, or - for standard input")
    wanted = work.wanted(files, with_environment)
    agreed: Plan | None = None
    if prune and not yes:
        agreed = _asked(files, wanted)
    with installed() as conn:
        user_id = present.user_of(conn, wanted.tenant, options().as_user)
        with acting(conn, user_id):
            plan = work.made(conn, user_id, wanted, prune, holding=True)
            if agreed is not None and _gist(plan) != _gist(agreed):
                raise LfSqlError("the database has changed since the question", "apply again")
            perform.perform(conn, plan, wanted.project)
    if options().as_json:
        click.echo(changes.as_json(plan, wanted.project, True))
        return
    changes.text(plan)
    note(changes.summary(plan, True))


def _asked(files: tuple[str, ...], wanted: Wanted) -> Plan | None:
    """The plan that a person has agreed to, where something is taken away."""
    with installed() as conn:
        user_id = present.user_of(conn, wanted.tenant, options().as_user)
        with acting(conn, user_id):
            plan = work.made(conn, user_id, wanted, True, holding=False)
    if not plan.count("remove"):
        return plan
    if not sys.stdin.isatty() or "-" in files:
        names = ", ".join(c.name for c in plan.changes if c.action == "remove")
        raise click.UsageError(f"--prune takes away {names}: say --yes")
    changes.text(plan)
    click.confirm(f"{changes.summary(plan, False)}. Apply?", abort=True, err=True)
    return plan


def _gist(plan: Plan) -> object:
    return sorted(str(change.as_json()) for change in plan.changes)
