"""lf-sql schedule list, show, history, lint, describe."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from lf_sql import newest_run
from lf_sql.cli.candidates import complete, zones
from lf_sql.cli.context import (
    connect,
    emit,
    emit_ids,
    emit_one,
    is_for_a_person,
    note,
    options,
    require_installed,
)
from lf_sql.cli.output import output_options
from lf_sql.cli.runs import views as run_views
from lf_sql.cli.schedule import detail, views
from lf_sql.cli.session import as_asked, as_owner_of, id_of, one
from lf_sql.cli.terminal import prose, words
from lf_sql.cli.terminal.watch import watched

ID = click.argument("schedule", metavar="ID", shell_complete=complete("schedule"))

LINT = """
select
  l.*,
  coalesce(
    nullif(btrim(s.name), ''), nullif(btrim(s.description), ''), nullif(btrim(w.title), ''),
    'schedule without a name') as schedule
from public.fn_lint_schedule(%s::uuid) as l
left join lenses.workflow_schedules as s on s.id = l.schedule_id
left join lenses.workflows as w on w.id = s.workflow_id
"""
LIST = f"""
select
  s.id, w.title as workflow,
  coalesce(s.cron_expr, 'at ' || pg_catalog.to_char(s.run_at, 'YYYY-MM-DD HH24:MI')) as expression,
  case when s.cron_expr is not null then s.timezone end as timezone,
  case
    when s.is_active and s.next_run_at is null
      and (s.schedule_type = 'once' or s.end_at is not null) then 'finished'
    when s.is_active then 'enabled' when s.paused_at is null then 'disabled' else 'paused' end
    as status,
  case when s.is_active then s.next_run_at end as next_run_at,
  coalesce(r.created_at, s.last_run_at) as last_run_at,
  s.last_dispatch_status as last_status, s.name, s.description,
  s.cron_expr, s.interval_ms, s.run_at, s.timezone as zone, r.status as last_run_status,
  r.trigger_mode as last_run_trigger,
  {newest_run.MOVED} as last_run_moved_at
from lenses.workflow_schedules as s
join lenses.workflows as w on w.id = s.workflow_id
{newest_run.JOIN}
where (%(workflow)s::uuid is null or s.workflow_id = %(workflow)s::uuid)
order by w.title, s.created_at, s.id
"""  # noqa: S608


ZONE = "select s.timezone from lenses.workflow_schedules as s where s.id = %s"
COLUMNS = [
    "id",
    "workflow",
    "expression",
    "timezone",
    "status",
    "next_run_at",
    "last_run_at",
    "last_status",
    "name",
    "description",
    "last_run_status",
    "last_run_trigger",
]


@click.command(
    "list",
    epilog="\b\nExamples:\n  lf-sql schedule list --json\n  lf-sql schedule list --watch 5",
)
@click.option("--workflow", help="Only of this workflow.", shell_complete=complete("workflow"))
@output_options
@watched
def list_(workflow: str | None, ids: bool, is_wide: bool) -> None:
    """All schedules: when each fires, its next slot, its last run, its status."""
    with as_asked() as conn:
        rows = conn.execute(
            LIST.encode(), {"workflow": id_of(conn, "workflow", workflow)}
        ).fetchall()
    if ids:
        emit_ids(rows)
        return
    if not is_for_a_person():
        rows = [
            {name: row[name] for name in COLUMNS}
            | {"expression": row["expression"] or views.rule(row)}
            for row in rows
        ]
    empty = "no schedules: lf-sql schedule create WORKFLOW --cron EXPRESSION"
    emit(rows, COLUMNS, empty=empty, view=views.schedules, is_wide=is_wide)


@click.command(epilog="\b\nExample:\n  lf-sql schedule show 3f2a")
@ID
def show(schedule: str) -> None:
    """One schedule: everything about it, its next slots and its last runs."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(conn, "select public.fn_get_workflow_schedule(%s::uuid) as schedule", [found.id])
    told: dict[str, Any] = row["schedule"]
    if is_for_a_person():
        detail.draw(told)
    elif options().as_json:
        emit_one(told)
    else:
        emit_one(detail.in_order(told))


@click.command(epilog="\b\nExample:\n  lf-sql schedule history 3f2a --limit 20")
@ID
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many."
)
@output_options
def history(schedule: str, limit: int, ids: bool, is_wide: bool) -> None:
    """Its runs, newest first: slot, status, attempts, credits, approval, result."""
    with as_owner_of("schedule", schedule) as (conn, found):
        zone = one(conn, ZONE, [found.id])["timezone"]
        rows = conn.execute(
            "select * from public.fn_get_schedule_run_history(%s, %s)", [found.id, limit]
        ).fetchall()
    if ids:
        emit_ids([{"id": row["run_id"]} for row in rows])
        return
    columns = (
        "run_id scheduled_for trigger_mode status attempt spent_credits approval_status "
        "started_at completed_at result"
    )
    empty = "no runs yet: lf-sql schedule preview shows what comes"
    rows = [row | {"slot_zone": zone} for row in rows] if is_for_a_person() else rows
    emit(rows, columns.split(), empty=empty, view=run_views.history, is_wide=is_wide)


@click.command(epilog="\b\nExamples:\n  lf-sql schedule lint\n  lf-sql schedule lint 3f2a --json")
@click.argument("schedule", metavar="[ID]", required=False, shell_complete=complete("schedule"))
def lint(schedule: str | None) -> None:
    """Find likely mistakes: clock changes, uneven steps, crowded minutes and the like."""
    if schedule is not None:
        with as_owner_of("schedule", schedule) as (conn, found):
            rows = conn.execute(LINT.encode(), [found.id]).fetchall()
    else:
        with as_asked() as conn:
            rows = conn.execute(LINT.encode(), [None]).fetchall()
    if rows and is_for_a_person():
        for row in rows:
            colour = "yellow" if row["severity"] == "warning" else None
            prose.show(
                f"{row['schedule']}: {row['code']}", f"{row['message']}. {row['hint']}", colour
            )
        return
    emit(
        rows,
        ["schedule_id", "schedule", "code", "severity", "message", "hint"],
        empty="nothing to say",
    )


@click.command(epilog='\b\nExample:\n  lf-sql schedule describe "0 9 * * 1-5" --tz Europe/Istanbul')
@click.argument("expression")
@click.option(
    "--tz",
    "zone",
    default="UTC",
    show_default=True,
    shell_complete=zones,
    help="Zone of the slots shown.",
)
@click.option(
    "--next", "n", type=click.IntRange(0, 200), default=5, show_default=True, help="How many slots."
)
def describe(expression: str, zone: str, n: int) -> None:
    """A cron expression in plain English, with its next slots. Needs no schedule.

    The language lives in the database, so a database with lf-sql is needed.
    """
    with connect() as conn:
        require_installed(conn)
        row = one(conn, "select lenses.fn_cron_describe(%s::text) as text", [expression])
        rows = conn.execute(
            "select s.slot::timestamptz as slot from lenses.fn_cron_next(%s, %s, "
            "pg_catalog.now(), %s) as s (slot)",
            [expression, zone, n],
        ).fetchall()
    slots = [r["slot"] for r in rows]
    if options().as_json:
        emit_one(
            {"expression": expression, "description": row["text"], "timezone": zone, "next": slots}
        )
        return
    prose.said(row["text"])
    for slot in slots:
        click.echo(f"  {wall(slot, zone_or_none(zone) or ZoneInfo('UTC'))}")


def viewer_zone(name: str | None) -> Any:
    """The zone of --tz; None is the machine's own."""
    if name is None:
        return None
    zone = words.zone_of(name)
    if zone is None:
        raise click.BadParameter(f"{name!r} is no zone; write one like Europe/Istanbul")
    return zone


def zone_or_none(name: str) -> ZoneInfo | None:
    """A zone that this machine knows; slots themselves are the server's."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        note(f"this machine does not know the zone {name}: times are in its own")
        return None


def wall(at: datetime, zone: ZoneInfo | None) -> str:
    """The wall clock of an instant: `Mon 2026-12-07 09:00 +03`."""
    with suppress(OverflowError):  # at the end of what Python can hold
        at = at.astimezone(zone)
    return at.strftime("%a %Y-%m-%d %H:%M %Z")


COMMANDS = [list_, show, history, lint, describe]
