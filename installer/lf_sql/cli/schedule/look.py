"""lf-sql schedule list, show, history, preview, explain, lint, describe."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import connect, emit, emit_one, note, options, require_installed
from lf_sql.cli.session import as_asked, as_owner_of, find, one
from lf_sql.plain import plain

ID = click.argument("schedule", metavar="ID", shell_complete=complete("schedule"))

FIRST = (  # of what `show` prints
    *(
        "id",
        "name",
        "description",
        "workflow_title",
        "status",
        "english",
        "cron_expr",
        "interval_ms",
    ),
    *("timezone", "next_run_at", "next_slots", "calendar_name", "last_run_at"),
    *("last_dispatch_status", "last_error_message", "last_completed_at", "last_result"),
)

LIST = """
select
  s.id, w.title as workflow,
  coalesce(
    s.cron_expr, 'at ' || pg_catalog.to_char(s.run_at, 'YYYY-MM-DD HH24:MI'),
    'every ' || pg_catalog.make_interval(secs => s.interval_ms / 1000.0)::text
  ) as expression,
  case when s.cron_expr is not null then s.timezone end as timezone,
  case
    when s.is_active and s.next_run_at is null
      and (s.schedule_type = 'once' or s.end_at is not null) then 'finished'
    when s.is_active then 'enabled' when s.paused_at is null then 'disabled' else 'paused' end
    as status,
  case when s.is_active then s.next_run_at end as next_run_at, s.last_run_at,
  s.last_dispatch_status as last_status, s.name, s.description
from lenses.workflow_schedules as s
join lenses.workflows as w on w.id = s.workflow_id
where (%(workflow)s::uuid is null or s.workflow_id = %(workflow)s::uuid)
order by w.title, s.created_at, s.id
"""


@click.command("list", epilog="\b\nExample:\n  lf-sql schedule list --json")
@click.option("--workflow", help="Only of this workflow.", shell_complete=complete("workflow"))
def list_(workflow: str | None) -> None:
    """All schedules: expression, zone, status, next and last run."""
    with as_asked() as conn:
        found = find(conn, "workflow", workflow) if workflow else None
        rows = conn.execute(LIST.encode(), {"workflow": found.id if found else None}).fetchall()
    emit(
        rows,
        [
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
        ],
        empty="no schedules: lf-sql schedule create WORKFLOW --cron EXPRESSION",
    )


@click.command(epilog="\b\nExample:\n  lf-sql schedule show 3f2a")
@ID
def show(schedule: str) -> None:
    """One schedule: everything about it, its next slots and its last runs."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(conn, "select public.fn_get_workflow_schedule(%s) as schedule", [found.id])
    found_row: dict[str, Any] = row["schedule"]
    if not options().as_json:
        order = {name: n for n, name in enumerate(FIRST)}
        found_row = {
            name: value
            for name, value in sorted(found_row.items(), key=lambda p: (order.get(p[0], 99), p[0]))
            if value not in (None, "", [], {})
        }
    emit_one(found_row)


@click.command(epilog="\b\nExample:\n  lf-sql schedule history 3f2a --limit 20")
@ID
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=10, show_default=True, help="How many."
)
def history(schedule: str, limit: int) -> None:
    """Its runs, newest first: slot, status, attempts, credits, approval, result."""
    with as_owner_of("schedule", schedule) as (conn, found):
        rows = conn.execute(
            "select * from public.fn_get_schedule_run_history(%s, %s)", [found.id, limit]
        ).fetchall()
    columns = (
        "run_id scheduled_for trigger_mode status attempt spent_credits approval_status "
        "started_at completed_at result"
    )
    emit(rows, columns.split(), empty="no runs yet: lf-sql schedule preview shows what comes")


@click.command(epilog="\b\nExample:\n  lf-sql schedule preview 3f2a --next 5 --tz America/New_York")
@ID
@click.option(
    "--next", "n", type=click.IntRange(1, 200), default=10, show_default=True, help="How many."
)
@click.option("--tz", "viewer", help="The viewer's zone (yours).")
@click.option(
    "--days", type=click.IntRange(1, 36_600), default=31, show_default=True, help="How far ahead."
)
def preview(schedule: str, n: int, viewer: str | None, days: int) -> None:
    """The next slots, each with the decision the tick would make, and why. Changes nothing."""
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
    )


EXPLAIN = (
    "select public.fn_explain_schedule(s.id, case when %(local)s "
    "then %(at)s::timestamp at time zone s.timezone else %(at)s::timestamptz end) as explained, "
    "s.timezone from lenses.workflow_schedules as s where s.id = %(id)s"
)


@click.command(epilog='\b\nExample:\n  lf-sql schedule explain 3f2a --at "2026-11-26 08:30"')
@ID
@click.option(
    "--at", "text", required=True, help="The minute; without an offset, in the schedule's zone."
)
def explain(schedule: str, text: str) -> None:
    """Why it fires, fired or does not at a minute: rule, clock, window, guards, ledger."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no minute; write 2026-11-26T08:30") from None
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(conn, EXPLAIN, {"id": found.id, "at": text, "local": at.tzinfo is None})
    told: dict[str, Any] = row["explained"]
    if options().as_json:
        emit_one(told)
        return
    zone = zone_or_none(told["rule"]["timezone"])
    click.echo(f"{told['rule']['wall_time']} {told['rule']['timezone']}: {told['verdict']}")
    click.echo(f"  because {told['because']}")
    change = told["clock_change"]
    if change:
        at_text = wall(datetime.fromisoformat(change["at"]), zone)
        click.echo(f"  clock   goes {change['kind']} {change['minutes']} minutes at {at_text}")
    for moved in told["moved_from"] or []:
        click.echo(f"  moved   from {wall(datetime.fromisoformat(moved), zone)}")
    for field in told["rule"].get("fields", []):
        met = "yes" if field["is_met"] else "no"
        click.echo(f"  {met:<7} {field['field']}: wants {field['wants']}, is {field['value']}")
    for guard in told["guards"] or []:
        met = "yes" if guard["is_met"] else "no"
        click.echo(f"  {met:<7} {guard['guard']}: {guard['detail']}")
    if told["ledger"]:
        ledger = told["ledger"]
        click.echo(f"  ledger  {ledger['status']} {ledger.get('reason', '')}".rstrip())
    for name in ("slot_before", "slot_after"):
        if told[name]:
            click.echo(f"  {name[5:]:<7} {wall(datetime.fromisoformat(told[name]), zone)}")


@click.command(epilog="\b\nExamples:\n  lf-sql schedule lint\n  lf-sql schedule lint 3f2a --json")
@click.argument("schedule", metavar="[ID]", required=False, shell_complete=complete("schedule"))
def lint(schedule: str | None) -> None:
    """What is likely not meant: clock changes, uneven steps, crowded minutes, and the like."""
    query = "select * from public.fn_lint_schedule(%s)"
    if schedule:
        with as_owner_of("schedule", schedule) as (conn, found):
            rows = conn.execute(query, [found.id]).fetchall()
    else:
        with as_asked() as conn:
            rows = conn.execute(query, [None]).fetchall()
    emit(rows, ["schedule_id", "code", "severity", "message", "hint"], empty="nothing to say")


@click.command(epilog='\b\nExample:\n  lf-sql schedule describe "0 9 * * 1-5" --tz Europe/Istanbul')
@click.argument("expression")
@click.option("--tz", "zone", default="UTC", show_default=True, help="Zone of the slots shown.")
@click.option(
    "--next", "n", type=click.IntRange(0, 200), default=5, show_default=True, help="How many slots."
)
def describe(expression: str, zone: str, n: int) -> None:
    """A cron expression in plain English, with its next slots. Needs no schedule.

    The language lives in the database, so a database with lf-sql is needed.
    """
    with connect() as conn:
        require_installed(conn)
        row = one(conn, "select lenses.fn_cron_describe(%s) as text", [expression])
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
    click.echo(plain(row["text"]))
    for slot in slots:
        click.echo(f"  {wall(slot, zone_or_none(zone) or ZoneInfo('UTC'))}")


def viewer_zone(name: str | None) -> Any:
    """The zone of --tz; None is the machine's own."""
    if name is None:
        return None
    zone = zone_or_none(name)
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


COMMANDS = [list_, show, history, preview, explain, lint, describe]
