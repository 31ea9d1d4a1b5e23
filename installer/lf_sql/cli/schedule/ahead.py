"""lf-sql schedule preview and load: what is to come, of one schedule, of all, of a week."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import emit, note, options
from lf_sql.cli.schedule import views
from lf_sql.cli.schedule.look import viewer_zone, wall, zone_or_none
from lf_sql.cli.session import as_asked, as_owner_of, one
from lf_sql.plain import plain

HOURS = 24
SHADES = " .:-=+*#%@"
DAY = click.DateTime(formats=["%Y-%m-%d"])


@click.command(
    epilog="\b\nExamples:\n"
    "  lf-sql schedule preview 3f2a --next 5 --tz America/New_York\n"
    "  lf-sql schedule preview --all --from 2026-12-01 --days 31"
)
@click.argument("schedule", metavar="[ID]", required=False, shell_complete=complete("schedule"))
@click.option(
    "--all", "is_all", is_flag=True, help="All schedules, with one line for each schedule and day."
)
@click.option("--from", "since", type=DAY, help="The first day (today), each in its own zone.")
@click.option(
    "--next", "n", type=click.IntRange(1, 200), default=10, show_default=True, help="How many."
)
@click.option("--tz", "viewer", help="Zone in which times are shown (default: yours).")
@click.option(
    "--days", type=click.IntRange(1, 36_600), default=31, show_default=True, help="How far ahead."
)
def preview(
    schedule: str | None,
    is_all: bool,
    since: datetime | None,
    n: int,
    viewer: str | None,
    days: int,
) -> None:
    """The next slots, each with the decision the tick would make, and why. Changes nothing.

    With --all or --from: day by day, the same wherever and whenever it is asked of the same
    schedules, so that it can be kept in a file and compared.
    """
    if is_all == (schedule is not None):
        raise click.UsageError("give the ID of a schedule, or --all")
    if is_all or since is not None:
        by_day(schedule, since.date() if since else None, days)
    elif schedule is not None:
        by_slot(schedule, n, viewer, days)


def by_slot(schedule: str, n: int, viewer: str | None, days: int) -> None:
    """The next `n` of one schedule."""
    zone = viewer_zone(viewer)
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select s.timezone, s.is_active from lenses.workflow_schedules as s where s.id = %s",
            [found.id],
        )
        rows = conn.execute(
            "select * from public.fn_preview_schedule_ticks(%s, %s, pg_catalog.make_interval("
            "days => %s))",
            [found.id, n, days],
        ).fetchall()
    if options().as_json:
        emit(rows)
        return
    theirs = zone_or_none(row["timezone"])
    emit(
        [
            {
                "tick_at": r["tick_at"],
                "in its zone": wall(r["tick_at"], theirs),
                "in yours": wall(r["tick_at"], zone),
                "decision": r["decision"],
                "reason": r["reason"],
                "inputs": r["inputs"],
            }
            for r in rows
        ],
        ["tick_at", "in its zone", "in yours", "decision", "reason", "inputs"],
        empty=f"no slot in the next {days} days"
        if row["is_active"]
        else "it is not active: lf-sql schedule resume ID",
        view=lambda found: views.preview(found, row["timezone"], zone),
    )


def by_day(schedule: str | None, since: date | None, days: int) -> None:
    """A line a schedule, day, decision and reason: no ids, no times of the moment."""
    query = (
        "select p.* from public.fn_preview_days("
        "coalesce(%s::date, pg_catalog.now()::date), %s, %s) as p"
    )
    if schedule is None:
        with as_asked() as conn:
            rows = conn.execute(query, [since, days, None]).fetchall()
    else:
        with as_owner_of("schedule", schedule) as (conn, found):
            rows = conn.execute(query, [since, days, found.id]).fetchall()
    if options().as_json:
        emit([{k: v for k, v in row.items() if k != "schedule_id"} for row in rows])
        return
    emit(
        [row | {"day": f"{row['day']:%a %Y-%m-%d}", "times": _times(row)} for row in rows],
        ["schedule", "workflow", "day", "decision", "reason", "times", "timezone"],
        empty=f"no slot in {days} days",
        view=views.days,
    )


def _times(row: Mapping[str, Any]) -> str:
    if row["wall_times"] is not None:
        return " ".join(row["wall_times"])
    zone = zone_or_none(row["timezone"])
    first, last = (row[name].astimezone(zone) for name in ("first_at", "last_at"))
    return f"{row['slots']} from {first:%H:%M} to {last:%H:%M}"


@click.command(
    epilog="\b\nExamples:\n  lf-sql schedule load\n  lf-sql schedule load --tz Europe/Berlin --json"
)
@click.option("--tz", "zone", default="UTC", show_default=True, help="The zone of hours and days.")
def load(zone: str) -> None:
    """How many slots each hour of seven days has, from today's midnight on: where it is crowded.

    Calendars that skip, conditions and jitter are left out. In a pipe a line an hour.
    """
    with as_asked() as conn:
        cells = conn.execute(
            "select l.* from public.fn_schedule_load(%s::text) as l", [zone]
        ).fetchall()
    if options().as_json or not sys.stdout.isatty():
        emit(cells, ["hour_at", "local_day", "local_hour", "slots", "schedules"])
        return
    for line in grid(cells, shutil.get_terminal_size().columns):
        click.echo(plain(line))
    busiest = max(cells, key=lambda cell: cell["slots"])
    total = sum(cell["slots"] for cell in cells)
    note(
        f"{total:,} slots in the week; at most {busiest['slots']:,} an hour, "
        f"on {busiest['local_day']:%a %d %b} at {busiest['local_hour']:02}:00 {zone}"
        if total
        else "no slot in the week"
    )


def grid(cells: list[dict[str, Any]], columns: int) -> list[str]:
    """Days down, hours across: a shade each, and the slots of the day.

    Where the terminal has no room for two characters an hour, each has one.
    """
    wide = 2 if columns >= 11 + HOURS * 3 + 7 else 1
    most = max((cell["slots"] for cell in cells), default=0)
    found = {(cell["local_day"], cell["local_hour"]): cell["slots"] for cell in cells}
    step = 3 - wide  # an hour's name needs two characters and a blank
    names = (f"{hour:02}".ljust(step * (wide + 1)) for hour in range(0, HOURS, step))
    lines = [f"{'':11}{''.join(names)}  slots"]
    for day in sorted({cell["local_day"] for cell in cells}):
        hours = [found.get((day, hour), 0) for hour in range(HOURS)]
        shades = "".join(f"{_shade(slots, most) * wide} " for slots in hours)
        lines.append(f"{day:%a %d %b} {shades} {sum(hours):>6,}")
    return lines


def _shade(slots: int, most: int) -> str:
    """Blank is none; the last is the busiest hour."""
    return SHADES[-(-slots * (len(SHADES) - 1) // most)] if slots else SHADES[0]


COMMANDS = [preview, load]
