"""lf-sql runs approve, reject, cancel, retry: one run, or many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import click
import psycopg

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import acting, emit, emit_one, note, options
from lf_sql.cli.lookup import Found
from lf_sql.cli.runs.choose import Filters, chosen, filtered
from lf_sql.cli.session import find, installed, of_its_state, one
from lf_sql.cli.terminal.ask import ask, yes_option
from lf_sql.db import Connection, describe
from lf_sql.errors import LfSqlError

NOTE = click.option("--note", "text", help="Why, for the audit log.")
LIMIT = click.option(
    "--limit",
    type=click.IntRange(1),
    help="At most this many of the runs that the filters find, oldest first.",
)
AT_ONCE = 1000  # ids that one call takes
STATUS = {"approved": "pending", "rejected": "cancelled"}
WAITING = ["pending_approval"]
IN_FLIGHT = ["pending_approval", "pending", "running"]
RETRIED = ["failed", "timed_out", "cancelled"]


def _choosing(statuses: Sequence[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Runs by id, or by filters with --yes; a shell offers those in one of the statuses."""

    def choosing(command: Callable[..., Any]) -> Callable[..., Any]:
        runs = click.argument(
            "runs", metavar="[RUN]...", nargs=-1, shell_complete=complete("run", *statuses)
        )
        return runs(filtered(LIMIT(yes_option(command))))

    return choosing


@click.command(
    epilog="\b\nExamples:\n"
    '  lf-sql runs approve 5c01 --note "looks right"\n'
    "  lf-sql runs approve --schedule morning --since 1d --yes"
)
@_choosing(WAITING)
@NOTE
def approve(
    runs: Sequence[str], filters: Filters, limit: int | None, yes: bool, text: str | None
) -> None:
    """Let waiting runs go: they become pending."""
    _decide(runs, filters, limit, yes, "approved", text)


@click.command(
    epilog="\b\nExamples:\n"
    '  lf-sql runs reject 5c01 77ab --note "wrong audience"\n'
    "  lf-sql runs reject --workflow Newsletter --yes"
)
@_choosing(WAITING)
@NOTE
def reject(
    runs: Sequence[str], filters: Filters, limit: int | None, yes: bool, text: str | None
) -> None:
    """Refuse waiting runs: they are cancelled."""
    _decide(runs, filters, limit, yes, "rejected", text)


@click.command(
    epilog="\b\nExamples:\n  lf-sql runs cancel 5c01 77ab\n"
    "  lf-sql runs cancel --status pending --until 2d --yes"
)
@_choosing(IN_FLIGHT)
def cancel(runs: Sequence[str], filters: Filters, limit: int | None, yes: bool) -> None:
    """Cancel runs that are not over; their executors lose the lease."""
    with installed() as conn:
        found = _named(conn, runs, filters, limit, IN_FLIGHT)
    _ask("cancel", found, filters, yes)
    with installed() as conn:
        done = _many(conn, found, "select public.fn_cancel_workflow_runs(%s::uuid[]) as id", [])
    _said(found, dict.fromkeys(done, "cancelled"), "is over already")


@click.command(
    epilog="\b\nExamples:\n  lf-sql runs retry 5c01\n  lf-sql runs retry --failed --since 6h --yes"
)
@_choosing(RETRIED)
def retry(runs: Sequence[str], filters: Filters, limit: int | None, yes: bool) -> None:
    """Start runs that failed, timed out or were cancelled once more, under their own ids.

    Where approval is required it is asked for again. With --failed, or filters without --status,
    cancelled runs are left alone.
    """
    with installed() as conn:
        wanted = RETRIED if runs or filters.status else RETRIED[:2]
        found = _named(conn, runs, filters, limit, wanted)
    _ask("retry", found, filters, yes)
    query = "select r.status from public.fn_retry_workflow_run(%s::uuid) as r"
    done: dict[UUID, str] = {}
    refusals: list[tuple[str, str | None]] = []
    with installed() as conn:
        for run in found:
            try:
                with acting(conn, run.user_id):
                    done[run.id] = one(conn, query, [run.id])["status"]
            except (
                psycopg.errors.InvalidParameterValue,
                psycopg.errors.ConfigurationLimitExceeded,
            ) as error:
                refusals.append(describe(error))
    if refusals and len(found) == 1:
        raise LfSqlError(*refusals[0])
    _said(found, done, "does not start once more", refusals[0][0] if refusals else None)


def _decide(
    runs: Sequence[str],
    filters: Filters,
    limit: int | None,
    yes: bool,
    decision: str,
    text: str | None,
) -> None:
    """The owner's decision on runs that wait for it.

    For a single run the server says why it is refused.
    """
    with installed() as conn:
        found = _named(conn, runs, filters, limit, WAITING)
    _ask("approve" if decision == "approved" else "reject", found, filters, yes)
    with installed() as conn:
        if len(found) == 1:
            with of_its_state(), acting(conn, found[0].user_id):
                query = "select public.fn_decide_workflow_run(%s, %s, %s)"
                one(conn, query, [found[0].id, decision, text])
            done = {found[0].id}
        else:
            query = "select public.fn_decide_workflow_runs(%s, %s, %s) as id"
            done = _many(conn, found, query, [decision, text])
    _said(found, dict.fromkeys(done, STATUS[decision]), "does not wait for approval")


def _named(
    conn: Connection,
    runs: Sequence[str],
    filters: Filters,
    limit: int | None,
    statuses: Sequence[str],
) -> list[Found]:
    """The rows that are meant, each once: as they were named, or oldest first."""
    if bool(runs) == filters.are_given or (runs and limit):
        raise click.UsageError("name runs, or say which by --status, --schedule, --since and so on")
    if runs:
        return list(dict.fromkeys(find(conn, "run", run) for run in runs))
    return chosen(conn, filters.among(statuses), options().as_user, limit)


def _ask(verb: str, found: Sequence[Found], filters: Filters, yes: bool) -> None:
    """Ask before a change of runs that filters found and nobody named one by one."""
    if filters.are_given and found:
        ask(f"{verb.capitalize()} {len(found)} run{'s' if len(found) > 1 else ''}?", yes)


def _many(
    conn: Connection, found: Sequence[Found], query: str, rest: list[str | None]
) -> set[UUID]:
    """The ids that the function returns, called as each owner for the owner's own runs."""
    done: set[UUID] = set()
    for owner in dict.fromkeys(run.user_id for run in found):
        ids = [run.id for run in found if run.user_id == owner]
        for start in range(0, len(ids), AT_ONCE):
            with acting(conn, owner):
                some = ids[start : start + AT_ONCE]
                rows = conn.execute(query.encode(), [some, *rest]).fetchall()
            done |= {row["id"] for row in rows}
    return done


def _said(
    found: Sequence[Found], done: Mapping[UUID, str], otherwise: str, why: str | None = None
) -> None:
    """Id and status of each run that was changed, JSON with --json; bad news where one was not."""
    rows = [{"id": run.id, "status": done[run.id]} for run in found if run.id in done]
    if options().as_json:
        emit_one(rows[0]) if len(found) == len(rows) == 1 else emit(rows)
    else:
        for row in rows:
            click.echo(f"{row['id']}\t{row['status']}")
    if not found:
        note("no run is like that")
    left = [run.id for run in found if run.id not in done]
    if left:
        raise LfSqlError(
            (why or f"run {left[0]} {otherwise}")
            + (f"; so it is with {len(left)} of {len(found)}" if len(found) > 1 else ""),
            f"lf-sql runs show {left[0]}",
        )


COMMANDS = [approve, reject, cancel, retry]
