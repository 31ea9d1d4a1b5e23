"""lf-sql runs work: an executor in one line."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack

import click
import psycopg

from lf_sql import actions, environment, refusals
from lf_sql.cli.context import options
from lf_sql.cli.params import Duration, Filled
from lf_sql.cli.runs.carry_out import carry_out, carry_out_all, lease_of
from lf_sql.cli.where import cells_of
from lf_sql.commands import Commands
from lf_sql.errors import LfSqlError
from lf_sql.executor import Executor
from lf_sql.executor.handlers import Handler

EPILOG = """
The command gets the run as JSON on standard input (context_inputs and definition
among its keys), its id in LF_RUN_ID and its trace in TRACEPARENT. What it prints is the
result, as JSON; a number spent_credits in it is booked. An exit code that is not 0 fails
the run, with the tail of stderr; retry_policy decides whether it is tried again. The
connection's own variables are not passed on: LF_SQL_COMMAND_DSN is, as DATABASE_URL.

\b
Examples:
  lf-sql runs work -- ./report.py
  lf-sql runs work --concurrency 4 -- sh -c 'jq .context_inputs'
  lf-sql runs work --shell --sql postgresql://jobs@db.example.org/app
"""


def _actions(shell: bool, sql: str | None) -> tuple[str, ...]:
    """The command that runs these actions; a DSN that leads nowhere is told at once."""
    if sql is not None:
        try:
            actions.connect(sql).close()
        except actions.Unfit as error:
            raise LfSqlError(
                str(error), "create a role for the jobs, with what they need"
            ) from None
        except (psycopg.Error, UnicodeError) as error:
            said = " ".join(refusals.scrub(str(error), environment.given(sql)).split())
            raise LfSqlError(f"--sql: {said}", "give the DSN of the role that runs them") from None
        os.environ[environment.FOR_COMMANDS] = sql
    return tuple(actions.command(shell, sql is not None))


@click.command("work", epilog=EPILOG, context_settings={"ignore_unknown_options": False})
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Runs at once.",
)
@click.option(
    "--lease",
    type=Duration(),
    default="5m",
    show_default=True,
    help="How long a claim lasts; extended every third of it.",
)
@click.option(
    "--poll",
    type=Duration(),
    default="5s",
    show_default=True,
    help="How often to look for runs at least.",
)
@click.option("--once", is_flag=True, help="Stop when there is nothing left to claim.")
@click.option("--shell", is_flag=True, help='Run nodes {"action": "shell", "command": ...}.')
@click.option(
    "--sql",
    type=Filled(),
    metavar="DSN",
    help='Run nodes {"action": "sql", "sql": ...} there, as its role.',
)
@click.option(
    "--cells",
    is_flag=True,
    help="Work for every cell of LF_SQL_DIRECTORY, --concurrency runs at once in each.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def command(
    concurrency: int,
    lease: int,
    poll: int,
    once: bool,
    shell: bool,
    sql: str | None,
    cells: bool,
    command: tuple[str, ...],
) -> None:
    """Claim runs and give each to COMMAND, until SIGTERM; then finish what is under way.

    A second SIGTERM ends the commands too, a third leaves what the server has not taken yet. With
    --once the exit code is 1 where a run failed or was lost. Instead of a COMMAND, --shell and
    --sql run what `lf-sql import` found: definitions of one node with that action.
    """
    if bool(command) == (shell or sql is not None):
        raise click.UsageError(
            "say who does the runs: COMMAND after --, or --shell, --sql DSN instead of it"
        )
    if command and shutil.which(command[0]) is None:
        raise LfSqlError(
            f"there is no command {command[0]!r}, and every run would fail",
            "give its path, or one that is found in PATH and may be executed",
        )
    seconds = lease_of(lease)
    if not command:
        command = _actions(shell, sql)
    with ExitStack() as stack:

        def executor(dsn: str | None) -> Executor:
            one = Executor(
                dsn,
                concurrency=concurrency,
                lease=seconds,
                poll=max(poll / 1000, 0.05),
                once=once,
                application="lf-sql runs work",
            )
            commands = Commands(command, dsn, one.ask)
            stack.callback(commands.close)
            one.handlers.add(Handler.of(commands, concurrency, keeps_time=True))
            return one

        if cells:
            asked = options()
            found = cells_of(asked.directory, asked.given_dsn, asked.cell)
            carry_out_all({cell.name: executor(cell.conninfo) for cell in found}, once)
        else:
            carry_out(executor(options().dsn), once)
