"""lf-sql schedule recompute: next slots that are missing, or stand where they should not."""

from __future__ import annotations

from typing import Any

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import acting, emit, options
from lf_sql.cli.session import find, installed, one
from lf_sql.db import Connection

COLUMNS = ("resource", "id", "problem", "was", "next_run_at")
WAS = {
    "schedule": "select s.next_run_at from lenses.workflow_schedules as s where s.id = %s",
    "gateway cron": "select c.next_run_at from agents.gateway_crons as c where c.id = %s",
}
BY_OPERATOR = {
    "schedule": "select s.next_run_at from lenses.fn_recompute_schedule(%s::uuid) as s",
    "gateway cron": "select c.next_run_at from agents.fn_recompute_gateway_cron(%s::uuid) as c",
}
BY_OWNER = {"schedule": "select s.next_run_at from public.fn_recompute_schedule(%s::uuid) as s"}
MISPLACED = "select m.resource, m.id, m.label from lenses.fn_misplaced_schedules(null::uuid) as m"
MINE = (
    "select 'schedule' as resource, h.schedule_id as id, h.label "
    "from public.fn_schedule_health() as h "
    "where h.label in ('DEAD', 'PARKED', 'NOT_A_SLOT', 'ZONE_CHANGED') "
    "and h.schedule_id is not null"
)


@click.command(
    epilog="\b\nExamples:\n  lf-sql schedule recompute 3f2a 77b0\n"
    "  lf-sql schedule recompute --all   # what health and verify name"
)
@click.argument("schedules", metavar="[ID]...", nargs=-1, shell_complete=complete("schedule"))
@click.option(
    "--all",
    "is_all",
    is_flag=True,
    help="Every schedule whose next run is missing or in the wrong place.",
)
def recompute(schedules: tuple[str, ...], is_all: bool) -> None:
    """Recompute the next run: the first slot after now that has no run.

    Never a past slot, never one that was used up. --all mends what health and verify name, gateway
    crons too, and leaves alone what is in its place; with --as: this tenant's schedules.
    """
    if bool(schedules) == is_all:
        raise click.UsageError("say which: either IDs, or --all")
    with installed() as conn:
        if is_all:
            done = [_mend(conn, row) for row in _misplaced(conn)]
        else:
            found = [find(conn, "schedule", text) for text in dict.fromkeys(schedules)]
            done = []
            for row in found:
                with acting(conn, row.user_id):
                    done.append(_recompute(conn, "schedule", row.id, None, as_owner=True))
    emit(done, COLUMNS, empty="nothing is out of its place")


def _misplaced(conn: Connection) -> list[dict[str, Any]]:
    with acting(conn):
        query = MISPLACED if options().as_user is None else MINE
        return conn.execute(query.encode()).fetchall()


def _mend(conn: Connection, row: dict[str, Any]) -> dict[str, Any]:
    """A transaction each, so that no lock is held for long and what is done stays."""
    with acting(conn):
        as_owner = options().as_user is not None
        return _recompute(conn, row["resource"], row["id"], row["label"], as_owner=as_owner)


def _recompute(
    conn: Connection, resource: str, row_id: Any, problem: str | None, *, as_owner: bool
) -> dict[str, Any]:
    before = one(conn, WAS[resource], [row_id])
    after = one(conn, (BY_OWNER if as_owner else BY_OPERATOR)[resource], [row_id])
    return {
        "resource": resource,
        "id": row_id,
        "problem": problem,
        "was": before["next_run_at"],
        "next_run_at": after["next_run_at"],
    }


COMMANDS = [recompute]
