"""lf-sql schedule create, pause, resume, delete, run-now, backfill."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Any

import click

from lf_sql.cli.context import acting, emit, emit_one, note, options
from lf_sql.cli.schedule.look import ID, wall
from lf_sql.given import Duration, Instant, Json, complete
from lf_sql.plain import plain
from lf_sql.tenant import as_owner_of, call, find, installed, one

COLUMNS = (  # of the RPC, given as they are
    "cron_expr",
    "interval_ms",
    "timezone",
    "description",
    "schedule_id",
    "start_at",
    "end_at",
    "jitter_ms",
    "inputs_template",
    "inputs_rotation",
    "pre_dispatch_condition",
    "workflow_version",
    "global_model_id",
    "failure_policy",
)
MISSED = click.Choice(["skip", "run_once", "backfill", "spread"])


@click.command(
    epilog="\b\nExamples:\n"
    '  lf-sql schedule create "Nightly report" --cron "0 9 * * 1-5" --tz Europe/Istanbul\n'
    "  lf-sql schedule create 3f2a --every 6h --no-approval --calendar us-federal-holidays-2026"
)
@click.argument("workflow", shell_complete=complete("workflow"))
@click.option("--cron", "cron_expr", metavar="EXPR", help='Five fields: "0 9 * * 1-5".')
@click.option("--every", "interval_ms", type=Duration(), help="A fixed interval: 6h, 90m.")
@click.option(
    "--tz", "--timezone", "timezone", default="UTC", show_default=True, help="Zone of --cron."
)
@click.option("--description", help="A name for people; the schedule can be called by it.")
@click.option("--id", "schedule_id", type=click.UUID, help="Its id; repeating replaces it.")
@click.option("--no-approval", is_flag=True, help="Runs start without the owner's decision.")
@click.option("--calendar", help="Calendar by name or id.", shell_complete=complete("calendar"))
@click.option("--agent", help="Assignee: an agent.", shell_complete=complete("agent"))
@click.option("--team", help="Assignee: a team.", shell_complete=complete("team"))
@click.option("--start", "start_at", type=Instant(1), help="First instant of its window.")
@click.option("--end", "end_at", type=Instant(1), help="Last instant of its window.")
@click.option(
    "--jitter", "jitter_ms", type=Duration("1d"), help="Spread by up to plus or minus this."
)
@click.option("--inputs", "inputs_template", type=Json(), help="Inputs of its runs: JSON, @FILE.")
@click.option("--rotation", "inputs_rotation", type=Json(), help="Inputs to take in turn: [...].")
@click.option("--condition", "pre_dispatch_condition", type=Json(), help="Dispatch only if true.")
@click.option("--on-missed", type=MISSED, help="What happens to slots missed while nobody ticked.")
@click.option("--max-backfill", type=int, help="How many missed slots at most.")
@click.option(
    "--on-overlap",
    type=click.Choice(["skip", "queue", "replace"]),
    help="What happens to a slot while runs are in flight.",
)
@click.option("--serial", is_flag=True, help="Never two of its runs at once.")
@click.option("--max-concurrency", type=int, help="At most that many of its runs at once.")
@click.option("--priority", type=int, help="Of its runs; higher first.")
@click.option("--retries", type=int, help="Retries of a failed run.")
@click.option("--queue-policy", type=Json(), help="The whole policy; options above add to it.")
@click.option("--retry-policy", type=Json(), help="The whole policy: maxRetries, timeoutMs.")
@click.option("--failure-policy", type=Json(), help='{"mode": "isolate"} or {"mode": "halt"}.')
@click.option("--approval-policy", type=Json(), help="requiresApproval, expiresAfterMs, gates.")
@click.option("--workflow-version", type=int, help="Pin a version; else the newest at dispatch.")
@click.option("--model", "global_model_id", help="Model that its runs ask for.")
@click.option("--disabled", is_flag=True, help="Create it switched off.")
def create(workflow: str, **given: Any) -> None:
    """Create a schedule of WORKFLOW (id or title); the database validates it as a whole."""
    if (given["cron_expr"] is None) == (given["interval_ms"] is None):
        raise click.UsageError("say when: either --cron or --every")
    if given["agent"] and given["team"]:
        raise click.UsageError("either --agent or --team")
    values: dict[str, Any] = {name: given[name] for name in COLUMNS if given[name] is not None}
    # numbers as text, so that the server reads them by the parameter's own type
    values = {k: str(v) if isinstance(v, int) else v for k, v in values.items()}
    values |= policies(given)
    if given["disabled"]:
        values["is_active"] = False
    with installed() as conn:
        owner = find(conn, "workflow", workflow)
        values["workflow_id"] = owner.id
        if given["calendar"]:
            values["calendar_id"] = find(conn, "calendar", given["calendar"], of=owner).id
        for word in ("agent", "team"):
            if given[word]:
                values["assignee_type"] = word
                values["assignee_id"] = find(conn, word, given[word], of=owner).id
        with acting(conn, owner.user_id):
            row = call(conn, "fn_upsert_workflow_schedule", values)
            slots = conn.execute(
                "select p.tick_at from public.fn_preview_schedule_ticks(%s, 3, '366 days') as p",
                [row["id"]],
            ).fetchall()
    if options().as_json:
        emit_one(row)
        return
    click.echo(row["id"])
    for slot in slots:
        note(f"  next {wall(slot['tick_at'], None)}")
    if row["approval_policy"].get("requiresApproval", True):
        note("  its runs wait for approval: lf-sql runs approve RUN (or create with --no-approval)")


def policies(given: dict[str, Any]) -> dict[str, str]:
    """The policies that the options mean, on top of those given whole."""
    adds: dict[str, dict[str, Any]] = {
        "queue_policy": {
            "mode": "serial" if given["serial"] else None,
            "onMissed": given["on_missed"],
            "maxBackfill": given["max_backfill"],
            "onOverlap": given["on_overlap"],
            "maxConcurrency": given["max_concurrency"],
            "priority": given["priority"],
        },
        "retry_policy": {"maxRetries": given["retries"]},
        "approval_policy": {"requiresApproval": False if given["no_approval"] else None},
    }
    found = {}
    for name, add in adds.items():
        add = {key: value for key, value in add.items() if value is not None}
        whole = given[name]
        if add and whole:
            base = json.loads(whole)
            if not isinstance(base, dict):
                raise click.UsageError(f"--{name.replace('_', '-')} must be a JSON object")
            add = {**base, **add}
        if add:
            found[name] = json.dumps(add)
        elif whole:
            found[name] = whole
    return found


@click.command(epilog='\b\nExample:\n  lf-sql schedule pause 3f2a --note "moving house" --until 2d')
@ID
@click.option("--note", "text", help="Why, for the next reader.")
@click.option("--until", type=Instant(1), help="When it ends by itself: a time, or 2h, 3d.")
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
@click.option("--on-missed", type=MISSED, help="For what passed meanwhile, this once.")
def resume(schedule: str, text: str | None, on_missed: str | None) -> None:
    """Dispatch it again; what passed meanwhile is decided by its onMissed."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select s.* from public.fn_resume_workflow_schedule(%s, %s, %s) as s",
            [found.id, text, on_missed],
        )
    at = row["next_run_at"]
    brief(row, f"resumed, next run {wall(at, None)}" if at else "resumed, no slot is left")


@click.command(epilog="\b\nExample:\n  lf-sql schedule delete 3f2a --force")
@ID
@click.option("--force", is_flag=True, help="Do not ask.")
def delete(schedule: str, force: bool) -> None:
    """Delete it; its runs stay and go on."""
    if not force:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody is there to ask: say --force")
        click.confirm(f"Delete schedule {plain(schedule)}?", abort=True, err=True)
    with as_owner_of("schedule", schedule) as (conn, found):
        conn.execute("select public.fn_delete_workflow_schedule(%s)", [found.id])
    brief({"id": found.id}, "deleted")


@click.command(
    "run-now", epilog="\b\nExample:\n  lf-sql schedule run-now 3f2a --inputs '{\"day\": 1}'"
)
@ID
@click.option("--inputs", type=Json(), help="Instead of its own: JSON, @FILE.")
def run_now(schedule: str, inputs: str | None) -> None:
    """Start one run now, paused or not; approval applies."""
    with as_owner_of("schedule", schedule) as (conn, found):
        row = one(
            conn,
            "select r.* from public.fn_run_workflow_schedule_now(%s, %s) as r",
            [found.id, inputs],
        )
    brief(row, row["status"])


@click.command(epilog="\b\nExample:\n  lf-sql schedule backfill 3f2a --since 3d --dry-run")
@ID
@click.option("--since", type=Instant(-1), required=True, help="A time, or 6h, 3d back from now.")
@click.option("--until", type=Instant(-1), help="A time, or 6h, 3d back from now (now).")
@click.option("--dry-run", is_flag=True, help="Only say what would be dispatched.")
def backfill(schedule: str, since: datetime, until: datetime | None, dry_run: bool) -> None:
    """Run the slots of a past stretch that have no run; safe to repeat."""
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


COMMANDS = [create, pause, resume, delete, run_now, backfill]
