"""lf-sql runs list and show."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from lf_sql.cli.candidates import complete
from lf_sql.cli.context import emit, emit_ids, emit_one, is_for_a_person, options
from lf_sql.cli.output import output_options
from lf_sql.cli.runs import views
from lf_sql.cli.runs.choose import WHERE, Filters, filtered
from lf_sql.cli.session import as_asked, as_owner_of, one
from lf_sql.cli.terminal import record, table, words
from lf_sql.cli.terminal.watch import watched
from lf_sql.instants import read

RUN = click.argument("run", metavar="RUN", shell_complete=complete("run"))

LIST = f"""
select
  r.id, w.title as workflow, r.schedule_id, r.scheduled_for, r.trigger_mode, r.status, r.priority,
  r.attempt, r.worker_id, r.created_at, r.started_at, r.completed_at,
  coalesce(s.name, s.description) as schedule, s.timezone as slot_zone,
  coalesce(r.metadata #>> '{{result,cause}}', r.metadata #>> '{{last_failure,cause}}') as cause,
  coalesce(r.metadata #>> '{{result,error}}', r.metadata #>> '{{last_failure,error}}') as error
from (
  select r.* from lenses.workflow_runs as r
  join lensers.profiles as p on p.id = r.lenser_id {WHERE}
  order by r.created_at desc, r.id
  limit %(limit)s
) as r
join lenses.workflows as w on w.id = r.workflow_id
left join lenses.workflow_schedules as s on s.id = r.schedule_id
order by r.created_at desc, r.id
"""  # noqa: S608
COLUMNS = [
    "id",
    "workflow",
    "schedule_id",
    "scheduled_for",
    "trigger_mode",
    "status",
    "priority",
    "attempt",
    "worker_id",
    "created_at",
    "started_at",
    "completed_at",
]


@click.command(
    "list",
    epilog="\b\nExamples:\n  lf-sql runs list --status pending_approval\n"
    "  lf-sql runs list --failed --since 6h\n  lf-sql runs list --schedule morning --watch",
)
@filtered
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many."
)
@output_options
@watched
def list_(filters: Filters, limit: int, ids: bool, is_wide: bool) -> None:
    """Runs, newest first."""
    with as_asked() as conn:
        values = filters.values(conn) | {"user": None, "limit": limit}
        rows = conn.execute(LIST.encode(), values).fetchall()
    if ids:
        emit_ids(rows)
        return
    if not is_for_a_person():
        rows = [{name: row[name] for name in COLUMNS} for row in rows]
    emit(rows, COLUMNS, empty="no runs", view=views.runs, is_wide=is_wide)


SHOW = (
    "select public.fn_get_run(r.id) as run, s.timezone as zone from lenses.workflow_runs as r "
    "left join lenses.workflow_schedules as s on s.id = r.schedule_id where r.id = %s"
)


@click.command(epilog="\b\nExample:\n  lf-sql runs show 5c01")
@RUN
def show(run: str) -> None:
    """Show one run: its approval, its attempts and its events."""
    with as_owner_of("run", run) as (conn, found):
        row = one(conn, SHOW, [found.id])
    told = row["run"]
    if is_for_a_person():
        _draw(told, row["zone"])
        return
    events = told.pop("events") if not options().as_json else []
    emit_one(
        {name: value for name, value in told.items() if options().as_json or value is not None}
    )
    if not options().as_json:
        click.echo()
        emit(events, ["at", "event", "payload"], empty="no events")


def _draw(run: dict[str, Any], zone_name: str | None) -> None:
    """The run for a person."""
    zone = words.zone_of(zone_name)

    def at(name: str) -> datetime | None:
        return read(run[name]) if run[name] else None

    approval = run["approval"] or {}
    decided = approval.get("decided_at")
    record.show(
        {
            "run": run["id"],
            "status": run["status"],
            "workflow": f"{run['workflow']}, version {run['workflow_version']}"
            + ("" if run["workflow_version"] == run["newest_version"]
               else f" (the newest is {run['newest_version']})"),
            "schedule": run["schedule"] or run["schedule_id"],
            "slot": at("scheduled_for"),
            "trigger": run["trigger_mode"],
            "assignee": run["assignee"],
            "approval": ", ".join(filter(None, [
                approval.get("approval_status"),
                words.clock(read(decided), zone) if decided else None,
                approval.get("note"),
            ])),
            "expires": at("approval_expires_at") if run["status"] == "pending_approval" else None,
            "created": at("created_at"),
            "started": at("started_at"),
            "ended": at("completed_at"),
            "next try": at("next_try_at"),
            "attempt": run["attempt"] or None,
            "worker": run["worker_id"],
            "lease ends": at("lease_expires_at"),
            "credits": run["spent_credits"] or None,
            "cause": run["cause"] if run["status"] != "completed" else None,
            "error": run["error"] if run["status"] != "completed" else None,
            "inputs": run["inputs"],
            "result": run["result"] if run["status"] == "completed" else None,
        },
        zone,
    )  # fmt: skip
    if run["attempts"]:
        record.heading("Attempts")
        table.show(run["attempts"], views.attempts(zone))
    record.heading("Events")
    table.show(run["events"], views.events(zone))


COMMANDS = [list_, show]
