"""lf-sql runs approve, reject, cancel: one run, or many at once."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import acting, emit, emit_one, options
from lf_sql.cli.lookup import Found
from lf_sql.cli.session import find, installed, one
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

RUNS = click.argument(
    "runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete("run")
)
NOTE = click.option("--note", "text", help="Why, for the audit log.")
AT_ONCE = 1000  # ids that one call takes
STATUS = {"approved": "pending", "rejected": "cancelled"}


@click.command(
    epilog="\b\nExamples:\n"
    '  lf-sql runs approve 5c01 --note "looks right"\n'
    "  lf-sql runs list --status pending_approval | sed 1d | cut -f1 | xargs lf-sql runs approve"
)
@RUNS
@NOTE
def approve(runs: Sequence[str], text: str | None) -> None:
    """Let waiting runs go: they become pending."""
    decide(runs, "approved", text)


@click.command(epilog='\b\nExample:\n  lf-sql runs reject 5c01 77ab --note "wrong audience"')
@RUNS
@NOTE
def reject(runs: Sequence[str], text: str | None) -> None:
    """Refuse waiting runs: they are cancelled."""
    decide(runs, "rejected", text)


@click.command(epilog="\b\nExample:\n  lf-sql runs cancel 5c01 77ab")
@RUNS
def cancel(runs: Sequence[str]) -> None:
    """Cancel runs that are not over; their executors lose the lease."""
    with installed() as conn:
        found = named(conn, runs)
        done = many(conn, found, "select public.fn_cancel_workflow_runs(%s) as id", [])
    said(found, done, "cancelled", "is over already")


def decide(runs: Sequence[str], decision: str, text: str | None) -> None:
    """The owner's word on runs that wait for it. Of one alone the server says why it is refused."""
    with installed() as conn:
        found = named(conn, runs)
        if len(found) == 1:
            with acting(conn, found[0].user_id):
                one(
                    conn,
                    "select public.fn_decide_workflow_run(%s, %s, %s)",
                    [found[0].id, decision, text],
                )
            done = {found[0].id}
        else:
            query = "select public.fn_decide_workflow_runs(%s, %s, %s) as id"
            done = many(conn, found, query, [decision, text])
    said(found, done, STATUS[decision], "does not wait for approval")


def named(conn: Connection, runs: Sequence[str]) -> list[Found]:
    """The rows that are meant, each once, in the order in which they were named."""
    return list(dict.fromkeys(find(conn, "run", run) for run in runs))


def many(conn: Connection, found: Sequence[Found], query: str, rest: list[str | None]) -> set[UUID]:
    """The ids that the function gives back, called as each owner for what is his."""
    done: set[UUID] = set()
    for owner in dict.fromkeys(run.user_id for run in found):
        ids = [run.id for run in found if run.user_id == owner]
        for start in range(0, len(ids), AT_ONCE):
            with acting(conn, owner):
                some = ids[start : start + AT_ONCE]
                rows = conn.execute(query.encode(), [some, *rest]).fetchall()
            done |= {row["id"] for row in rows}
    return done


def said(found: Sequence[Found], done: set[UUID], status: str, otherwise: str) -> None:
    """Id and status of each run that was changed, JSON with --json; bad news where one was not."""
    rows = [{"id": run.id, "status": status} for run in found if run.id in done]
    if options().as_json:
        emit_one(rows[0]) if len(found) == len(rows) == 1 else emit(rows)
    else:
        for row in rows:
            click.echo(f"{row['id']}\t{row['status']}")
    left = [run.id for run in found if run.id not in done]
    if left:
        raise LfSqlError(
            f"run {left[0]} {otherwise}"
            + (f"; so it is with {len(left)} of {len(found)}" if len(found) > 1 else ""),
            f"lf-sql runs show {left[0]}",
        )


COMMANDS = [approve, reject, cancel]
