"""lf-sql schedule pause, resume, delete, run-now, backfill."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from lf_sql.cli.context import emit, emit_one, note, options
from lf_sql.cli.params import Instant, Json
from lf_sql.cli.schedule.look import ID, wall
from lf_sql.cli.session import as_owner_of, call, of_its_state, one
from lf_sql.cli.terminal.ask import ask, yes_option

MISSED = click.Choice(["skip", "run_once", "backfill", "spread"])


@click.command(epilog='\b\nExample:\n  lf-sql schedule pause 3f2a --note "moving house" --until 2d')
@ID
@click.option("--note", "text", help="Why, for the next reader.")
@click.option("--until", type=Instant(1), help="When the pause ends by itself: a time, or 2h, 3d.")
def pause(schedule: str, text: str | None, until: datetime | None) -> None:
    """Stop dispatching it, at once; runs that are under way go on."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select s.* from public.fn_pause_workflow_schedule(%s, %s, %s) as s",
            [found.id, text, until],
        )
    brief(row, f"paused{f' until {wall(until, None)}' if until else ''}")


@click.command(epilog="\b\nExample:\n  lf-sql schedule resume 3f2a --on-missed run_once")
@ID
@click.option("--note", "text", help="Why, for the log.")
@click.option(
    "--on-missed", type=MISSED, help="What to do with slots that passed meanwhile, this time only."
)
def resume(schedule: str, text: str | None, on_missed: str | None) -> None:
    """Dispatch it again; its onMissed decides about slots that passed meanwhile."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select s.* from public.fn_resume_workflow_schedule(%s, %s, %s) as s",
            [found.id, text, on_missed],
        )
    at = row["next_run_at"]
    brief(row, f"resumed, next run {wall(at, None)}" if at else "resumed, no slot is left")


@click.command(epilog="\b\nExample:\n  lf-sql schedule delete 3f2a --yes")
@ID
@yes_option
def delete(schedule: str, yes: bool) -> None:
    """Delete it; its runs stay and go on."""
    ask(f"Delete schedule {schedule}?", yes)
    with as_owner_of("schedule", schedule) as (conn, found):
        conn.execute("select public.fn_delete_workflow_schedule(%s::uuid)", [found.id])
    brief({"id": found.id}, "deleted")


@click.command(
    "run-now", epilog="\b\nExample:\n  lf-sql schedule run-now 3f2a --inputs '{\"day\": 1}'"
)
@ID
@click.option("--inputs", type=Json(), help="Instead of its own: JSON, @FILE.")
def run_now(schedule: str, inputs: str | None) -> None:
    """Start one run now, paused or not; approval applies."""
    with of_its_state(), as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select r.* from public.fn_run_workflow_schedule_now(%s, %s) as r",
            [found.id, inputs],
        )
    brief(row, row["status"])


@click.command(epilog="\b\nExample:\n  lf-sql schedule backfill 3f2a --since 3d --dry-run")
@ID
@click.option("--since", type=Instant(-1), required=True, help="A time, or 6h or 3d before now.")
@click.option("--until", type=Instant(-1), help="A time, or 6h or 3d before now (now).")
@click.option("--dry-run", is_flag=True, help="Only say what would be dispatched.")
def backfill(schedule: str, since: datetime, until: datetime | None, dry_run: bool) -> None:
    """Run past slots of a range of time that have no run; safe to repeat."""
    with as_owner_of("schedule", schedule) as (conn, found):
        values = {"schedule_id": found.id, "since": since, "dry_run": dry_run}
        row = call(conn, "fn_backfill_schedule", values | ({"until": until} if until else {}))
    answer = row["f"]
    if options().as_json:
        emit_one(answer)
        return
    slots = answer.get("slots", [])
    emit([slot if isinstance(slot, dict) else {"slot": slot} for slot in slots], empty="no slots")
    for name in ("would_dispatch", "dispatched", "skipped"):
        if name in answer:
            note(f"{name.replace('_', ' ')}: {answer[name]}")


def brief(row: dict[str, Any], what: str) -> None:
    """The outcome of a change: the id and one word; the row with --json."""
    if options().as_json:
        emit_one(row)
    else:
        click.echo(f"{row['id']}\t{what}")


COMMANDS = [pause, resume, delete, run_now, backfill]
