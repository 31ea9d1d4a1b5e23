"""lf-sql runs list and show."""

from __future__ import annotations

from datetime import datetime

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import emit, emit_one, options
from lf_sql.cli.params import Instant
from lf_sql.cli.session import as_asked, as_owner_of, find, one

RUN = click.argument("run", metavar="RUN", shell_complete=complete("run"))
STATUSES = [
    "pending_approval",
    "pending",
    "running",
    "completed",
    "failed",
    "cancelled",
    "timed_out",
]

LIST = """
select
  r.id, w.title as workflow, r.schedule_id, r.scheduled_for, r.trigger_mode, r.status, r.priority,
  r.attempt, r.worker_id, r.created_at, r.started_at, r.completed_at
from lenses.workflow_runs as r
join lenses.workflows as w on w.id = r.workflow_id
where (%(status)s::text[] is null or r.status = any(%(status)s::text[]))
  and (%(schedule)s::uuid is null or r.schedule_id = %(schedule)s::uuid)
  and (%(since)s::timestamptz is null or r.created_at >= %(since)s::timestamptz)
order by r.created_at desc, r.id
limit %(limit)s
"""


@click.command("list", epilog="\b\nExample:\n  lf-sql runs list --status pending_approval")
@click.option("--status", type=click.Choice(STATUSES), multiple=True, help="May be repeated.")
@click.option("--schedule", help="Only of this schedule.", shell_complete=complete("schedule"))
@click.option("--since", type=Instant(-1), help="Created since: a time, or 6h, 3d back from now.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many."
)
def list_(
    status: tuple[str, ...], schedule: str | None, since: datetime | None, limit: int
) -> None:
    """Runs, newest first."""
    with as_asked() as conn:
        found = find(conn, "schedule", schedule) if schedule else None
        rows = conn.execute(
            LIST.encode(),
            {
                "status": list(status) or None,
                "schedule": found.id if found else None,
                "since": since,
                "limit": limit,
            },
        ).fetchall()
    columns = (
        "id workflow schedule_id scheduled_for trigger_mode status priority attempt worker_id "
        "created_at started_at completed_at"
    )
    emit(rows, columns.split(), empty="no runs")


@click.command(epilog="\b\nExample:\n  lf-sql runs show 5c01")
@RUN
def show(run: str) -> None:
    """One run: all of it, its approval, and its story."""
    with as_owner_of("run", run) as (conn, found):
        row = one(
            conn,
            "select pg_catalog.to_jsonb(r) || pg_catalog.jsonb_build_object("
            "'approval', (select pg_catalog.to_jsonb(t) from agents.team_runs as t "
            "where t.workflow_run_id = r.id), "
            "'events', (select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object("
            "'at', e.occurred_at, 'event', e.event_type, 'payload', e.payload) order by e.seq) "
            "from lenses.workflow_run_events as e where e.run_id = r.id)) as run "
            "from lenses.workflow_runs as r where r.id = %s",
            [found.id],
        )["run"]
    if options().as_json:
        emit_one(row)
        return
    events = row.pop("events") or []
    emit_one({name: value for name, value in row.items() if value is not None})
    click.echo()
    emit(events, ["at", "event", "payload"], empty="no events")


COMMANDS = [list_, show]
