"""lf-sql schedule pause, resume, delete, run-now, backfill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import emit, emit_one, is_for_a_person, note, options
from lf_sql.cli.params import Instant, Json
from lf_sql.cli.schedule import clock, views
from lf_sql.cli.schedule.look import ID, ZONE, wall
from lf_sql.cli.session import as_owner_of, call, find, installed, of_its_state, one
from lf_sql.cli.terminal import words
from lf_sql.cli.terminal.ask import ask, yes_option
from lf_sql.db import Connection
from lf_sql.plain import plain

Row = dict[str, Any]

MISSED = click.Choice(["skip", "run_once", "backfill", "spread"])
NONE_LEFT = "no slot is left"


IDS = click.argument(
    "schedules", metavar="ID...", nargs=-1, required=True, shell_complete=complete("schedule")
)


def _each(schedules: Sequence[str], change: Callable[[Connection, UUID], Row]) -> list[Row]:
    """One change of several schedules, each as its owner; none where one of them is not there."""
    with installed() as conn:
        ids = dict.fromkeys(find(conn, "schedule", text).id for text in schedules)
    rows = []
    for schedule in ids:
        with as_owner_of("schedule", str(schedule)) as (conn, found):
            rows.append(change(conn, found.id))
    return rows


def _zone(conn: Connection, schedule: UUID) -> str:
    return str(one(conn, ZONE, [schedule])["timezone"])


@click.command(
    epilog='\b\nExamples:\n  lf-sql schedule pause 3f2a --note "moving house" --until 2d\n'
    "  lf-sql schedule pause morning evening"
)
@IDS
@click.option("--note", "text", help="Why, for the next reader.")
@click.option(
    "--until",
    type=Instant(1, is_wall=True),
    help="When the pause ends by itself: 2h, 3d, or a time; without an offset, in its zone.",
)
def pause(schedules: Sequence[str], text: str | None, until: datetime | None) -> None:
    """Stop dispatching schedules, at once; runs that are under way go on."""
    query = "select s.* from public.fn_pause_workflow_schedule(%s, %s, %s) as s"

    def change(conn: Connection, schedule: UUID) -> Row:
        end = until and clock.instant(conn, until, _zone(conn, schedule), "--until")
        return one(conn, query, [schedule, text, end])

    def told(row: Row) -> str:
        return f"paused until {wall(row['paused_until'], None)}" if until else "paused"

    _all_brief(_each(schedules, change), told)


@click.command(
    epilog="\b\nExamples:\n  lf-sql schedule resume 3f2a --on-missed run_once\n"
    "  lf-sql schedule resume morning evening"
)
@IDS
@click.option("--note", "text", help="Why, for the log.")
@click.option(
    "--on-missed", type=MISSED, help="What to do with slots that passed meanwhile, this time only."
)
def resume(schedules: Sequence[str], text: str | None, on_missed: str | None) -> None:
    """Dispatch schedules again; onMissed decides about slots that passed meanwhile."""
    query = "select s.* from public.fn_resume_workflow_schedule(%s, %s, %s) as s"
    rows = _each(schedules, lambda conn, schedule: one(conn, query, [schedule, text, on_missed]))
    _all_brief(
        rows,
        lambda row: (
            f"resumed, next run {wall(row['next_run_at'], None)}"
            if row["next_run_at"]
            else f"resumed, {NONE_LEFT}"
        ),
    )


@click.command(epilog="\b\nExample:\n  lf-sql schedule delete 3f2a --yes")
@IDS
@yes_option
def delete(schedules: Sequence[str], yes: bool) -> None:
    """Delete schedules; their runs stay and go on."""

    def gone(conn: Connection, schedule: UUID) -> Row:
        conn.execute("select public.fn_delete_workflow_schedule(%s::uuid)", [schedule])
        return {"id": schedule}

    ask(f"Delete schedule {', '.join(schedules)}?", yes)
    _all_brief(_each(schedules, gone), lambda row: "deleted")


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
@click.option(
    "--since",
    type=Instant(-1, is_wall=True),
    required=True,
    help="6h or 3d before now, or a time; without an offset, in the schedule's zone.",
)
@click.option("--until", type=Instant(-1, is_wall=True), help="The same (now).")
@click.option("--dry-run", is_flag=True, help="Only say what would be dispatched.")
def backfill(schedule: str, since: datetime, until: datetime | None, dry_run: bool) -> None:
    """Run past slots of a range of time that have no run; safe to repeat."""
    with as_owner_of("schedule", schedule) as (conn, found):
        zone = _zone(conn, found.id)
        values = {"schedule_id": found.id, "since": since, "dry_run": dry_run}
        values |= {"until": until} if until else {}
        values = clock.instants(conn, values, zone, {"since": "--since", "until": "--until"})
        row = call(conn, "fn_backfill_schedule", values)
    answer = row["f"]
    if options().as_json:
        emit_one(answer)
        return
    slots = answer.get("slots", [])
    emit(
        [slot if isinstance(slot, dict) else {"slot": slot} for slot in slots],
        empty="no slots",
        view=lambda rows: views.backfill(rows, words.zone_of(zone)),
    )
    for name in ("would_dispatch", "dispatched", "skipped"):
        if name in answer:
            note(f"{name.replace('_', ' ')}: {answer[name]}")


def brief(row: dict[str, Any], what: str) -> None:
    """The outcome of a change: the id and one word; the row with --json. People read a name."""
    if options().as_json:
        emit_one(row)
    elif is_for_a_person():
        click.echo(f"{plain(row.get('name') or str(row['id'])[:8])}  {what}")
    else:
        click.echo(f"{row['id']}\t{what}")


def _all_brief(rows: Sequence[Row], what: Callable[[Row], str]) -> None:
    """The outcome of each; with --json one object for one, a list for several."""
    if options().as_json and len(rows) > 1:
        emit(rows)
        return
    for row in rows:
        brief(row, what(row))


COMMANDS = [pause, resume, delete, run_now, backfill]
