"""lf-sql schedule create and update: what a schedule is, option by option."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from lf_sql.cli.candidates import complete, zones
from lf_sql.cli.context import acting, emit_one, note, options
from lf_sql.cli.lazy import taking
from lf_sql.cli.lookup import Found
from lf_sql.cli.params import Duration, Instant, Json
from lf_sql.cli.schedule import clock
from lf_sql.cli.schedule.change import MISSED, NONE_LEFT
from lf_sql.cli.schedule.look import ID, wall
from lf_sql.cli.session import as_owner_of, call, find, installed, one
from lf_sql.db import Connection
from lf_sql.policies import DEFAULTS, own

COLUMNS = (  # of the RPC, given as they are
    *("name", "cron_expr", "interval_ms", "run_at", "timezone", "description", "start_at"),
    *("end_at", "jitter_ms", "on_holiday", "inputs_template", "inputs_rotation"),
    *("pre_dispatch_condition", "workflow_version", "global_model_id", "failure_policy"),
)
CLOCK = {"run_at": "--at", "start_at": "--start", "end_at": "--end"}
AS_JSON = ("inputs_template", "inputs_rotation", "pre_dispatch_condition", "failure_policy")
FIELDS = [
    click.option("--name", help="What people call it; unique within the tenant."),
    click.option("--cron", "cron_expr", metavar="EXPR", help='Five fields: "0 9 * * 1-5".'),
    click.option("--every", "interval_ms", type=Duration(), help="A fixed interval: 6h, 90m."),
    click.option(
        "--at",
        "run_at",
        type=Instant(1, is_wall=True),
        help="Once: 2026-12-24T09:00 (in --tz), 2026-12-24T09:00+01:00, or 2h.",
    ),
    click.option(
        "--tz",
        "--timezone",
        "timezone",
        help="Zone of --cron, and of times without an offset: UTC, or what the schedule has.",
        shell_complete=zones,
    ),
    click.option("--description", help="A line for people; the schedule can be called by it."),
    click.option("--calendar", help="Calendar by name or id.", shell_complete=complete("calendar")),
    click.option(
        "--on-holiday",
        type=click.Choice(["skip", "before", "after"]),
        help="What happens to a slot on a date that the calendar closes.",
    ),
    click.option("--agent", help="Assignee: an agent.", shell_complete=complete("agent")),
    click.option("--team", help="Assignee: a team.", shell_complete=complete("team")),
    click.option(
        "--start",
        "start_at",
        type=Instant(1, is_wall=True),
        help="First instant of its window; without an offset, in --tz.",
    ),
    click.option(
        "--end",
        "end_at",
        type=Instant(1, is_wall=True),
        help="Last instant of its window; without an offset, in --tz.",
    ),
    click.option(
        "--jitter", "jitter_ms", type=Duration("1d"), help="Spread by up to plus or minus this."
    ),
    click.option(
        "--inputs", "inputs_template", type=Json(), help="Inputs of its runs: JSON, @FILE."
    ),
    click.option(
        "--rotation", "inputs_rotation", type=Json(), help="Inputs to take in turn: [...]."
    ),
    click.option(
        "--condition", "pre_dispatch_condition", type=Json(), help="Dispatch only if true."
    ),
    click.option(
        "--on-missed",
        type=MISSED,
        help="What happens to slots that were missed while nothing ticked.",
    ),
    click.option("--max-backfill", type=int, help="At most this many missed slots."),
    click.option(
        "--on-overlap",
        type=click.Choice(["skip", "queue", "replace"]),
        help="What happens to a slot while runs are in flight.",
    ),
    click.option("--serial", is_flag=True, help="Never run two of its runs at once."),
    click.option("--max-concurrency", type=int, help="At most this many of its runs at once."),
    click.option("--priority", type=int, help="Of its runs; higher first."),
    click.option("--retries", type=int, help="Retries of a failed run."),
    click.option("--queue-policy", type=Json(), help="The whole policy; options above add to it."),
    click.option("--retry-policy", type=Json(), help="The whole policy: maxRetries, timeoutMs."),
    click.option(
        "--failure-policy", type=Json(), help="mode (isolate, halt, fallback), fallbackAssigneeId."
    ),
    click.option("--approval-policy", type=Json(), help="requiresApproval, expiresAfterMs, gates."),
    click.option("--no-approval", is_flag=True, help="Runs start without the owner's decision."),
    click.option(
        "--workflow-version", type=int, help="Pin a version; else the newest at dispatch."
    ),
    click.option("--model", "global_model_id", help="Model that its runs ask for."),
]


def fields(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say what a schedule is."""
    for option in reversed(FIELDS):
        command = option(command)
    return command


@click.command(
    cls=taking("--workflow"),
    epilog="\b\nExamples:\n"
    '  lf-sql schedule create "Nightly report" --cron "0 9 * * 1-5" --tz Asia/Tokyo\n'
    "  lf-sql schedule create 3f2a --every 6h --no-approval --calendar closing-days\n"
    "  lf-sql schedule create 3f2a --name launch --at 2026-12-24T09:00+01:00",
)
@click.argument("workflow", shell_complete=complete("workflow"))
@fields
@click.option("--id", "schedule_id", type=click.UUID, help="Its id; repeating replaces it.")
@click.option("--disabled", is_flag=True, help="Create it inactive.")
def create(workflow: str, **given: Any) -> None:
    """Create a schedule of WORKFLOW (id or title); the database validates it as a whole."""
    if sum(given[name] is not None for name in ("cron_expr", "interval_ms", "run_at")) != 1:
        raise click.UsageError("say when: either --cron or --every, or --at for a single slot")
    values = columns(given)
    if given["disabled"]:
        values["is_active"] = False
    if given["schedule_id"]:
        values["schedule_id"] = given["schedule_id"]
    with installed() as conn:
        owner = find(conn, "workflow", workflow)
        values["workflow_id"] = owner.id
        values |= links(conn, given, owner)
        values = clock.instants(conn, values, given["timezone"] or clock.DEFAULT_ZONE, CLOCK)
        with acting(conn, owner.user_id):
            row = call(conn, "fn_upsert_workflow_schedule", values)
            slots = next_slots(conn, row["id"])
    told(row, slots)
    if not options().as_json and row["approval_policy"].get("requiresApproval", True):
        note("  its runs wait for approval: lf-sql runs approve RUN (or create with --no-approval)")


@click.command(
    epilog="\b\nExamples:\n"
    '  lf-sql schedule update morning --cron "30 9 * * 1-5"\n'
    "  lf-sql schedule update 3f2a --calendar closing-days --on-holiday after"
)
@ID
@fields
@click.option("--workflow", help="Another workflow.", shell_complete=complete("workflow"))
@click.option("--enable/--disable", "is_active", default=None, help="Make it active or inactive.")
@click.option(
    "--clear",
    multiple=True,
    metavar="FIELD",
    help="A field to set back: calendar_id, description, end_at, inputs_rotation …",
)
def update(schedule: str, **given: Any) -> None:
    """Change a schedule; options that are left out change nothing."""
    patch: dict[str, Any] = dict.fromkeys(given["clear"])
    with as_owner_of("schedule", schedule) as (conn, found):
        old = one(
            conn, "select s.* from lenses.workflow_schedules as s where s.id = %s", [found.id]
        )
        base = {name: own(old, name) or {} for name in DEFAULTS}
        patch |= columns(given, base)
        zone = patch.get("timezone", old["timezone"]) or clock.DEFAULT_ZONE
        patch = clock.instants(conn, patch, zone, CLOCK)
        patch |= links(conn, given, found)
        if given["is_active"] is not None:
            patch["is_active"] = given["is_active"]
        if not patch:
            raise click.UsageError("say what to change: lf-sql schedule update --help")
        row = one(
            conn,
            "select s.* from public.fn_patch_workflow_schedule(%s, %s::jsonb) as s",
            [found.id, json.dumps({key: as_json(key, value) for key, value in patch.items()})],
        )
        slots = next_slots(conn, row["id"])
    told(row, slots)


def as_json(key: str, value: Any) -> Any:
    """A column's value as a patch has it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and (key in AS_JSON or key.endswith("_policy")):
        return json.loads(value)
    if isinstance(value, str) and key in ("interval_ms", "jitter_ms", "workflow_version"):
        return int(value)
    return value if value is None or isinstance(value, bool) else str(value)


def columns(given: dict[str, Any], base: dict[str, Any] | None = None) -> dict[str, Any]:
    """The columns that the options name, policies included."""
    values = {name: given[name] for name in COLUMNS if given[name] is not None}
    # numbers as text, so that the server reads them by the parameter's own type
    values = {k: str(v) if isinstance(v, int) else v for k, v in values.items()}
    return values | policies(given, base or {})


def links(conn: Connection, given: dict[str, Any], owner: Found) -> dict[str, Any]:
    """The rows that the options name, found among the owner's."""
    if given["agent"] is not None and given["team"] is not None:
        raise click.UsageError("either --agent or --team")
    found: dict[str, Any] = {}
    if given["calendar"] is not None:
        found["calendar_id"] = find(conn, "calendar", given["calendar"], of=owner).id
    for word in ("agent", "team"):
        if given[word] is not None:
            found["assignee_type"] = word
            found["assignee_id"] = find(conn, word, given[word], of=owner).id
    return found


def next_slots(conn: Connection, schedule: Any) -> list[dict[str, Any]]:
    """The next three slots."""
    return conn.execute(
        "select p.tick_at from public.fn_preview_schedule_ticks(%s, 3, '366 days') as p", [schedule]
    ).fetchall()


def told(row: dict[str, Any], slots: list[dict[str, Any]]) -> None:
    """What became of it: the id, and when it fires next."""
    if options().as_json:
        emit_one(row)
        return
    click.echo(row["id"])
    ahead = [slot["tick_at"] for slot in slots]
    if not ahead and row["is_active"] and row["next_run_at"]:  # more than a year away
        ahead = [row["next_run_at"]]
    for at in ahead:
        note(f"  next {wall(at, None)}")
    if not ahead and row["is_active"]:
        note(f"  next: {NONE_LEFT}")


def policies(given: dict[str, Any], base: dict[str, Any]) -> dict[str, str]:
    """The policies that the options mean, on top of those given whole, else of those there are."""
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
            given_whole = json.loads(whole)
            if not isinstance(given_whole, dict):
                raise click.UsageError(f"--{name.replace('_', '-')} must be a JSON object")
            add = {**given_whole, **add}
        elif add:
            add = {**base.get(name, {}), **add}
        if add:
            found[name] = json.dumps(add)
        elif whole:
            found[name] = whole
    return found


COMMANDS = [create, update]
