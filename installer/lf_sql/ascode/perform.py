"""A plan carried out through the public RPCs, in the caller's transaction, as the tenant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import psycopg

from lf_sql import db, older
from lf_sql.ascode import exact, keys, remove
from lf_sql.ascode.canon import canon
from lf_sql.ascode.model import Entry, Schedule
from lf_sql.ascode.plan import Change, New, Plan
from lf_sql.ascode.present import SCHEDULE_COLUMNS
from lf_sql.ascode.source import Value
from lf_sql.db import INTEGER_MAX, Connection
from lf_sql.errors import LfSqlError
from lf_sql.policies import DEFAULTS

JSON_COLUMNS = {
    *("approval_policy", "retry_policy", "failure_policy", "queue_policy", "inputs_template"),
    *("inputs_rotation", "pre_dispatch_condition"),
}
ARGUMENTS = [column for column in SCHEDULE_COLUMNS if column not in ("id", "workflow_id")]
SCHEDULE = (
    "select f.id from public.fn_upsert_workflow_schedule("  # noqa: S608
    "p_workflow_id => %(workflow_id)s, p_schedule_id => %(id)s, "
    + ", ".join(
        f"p_{column} => %({column})s{'::jsonb' if column in JSON_COLUMNS else ''}"
        for column in ARGUMENTS
    )
    + ") as f"
)
SPELLED_OUT = "select f.id from public.fn_patch_workflow_schedule(%(id)s, %(patch)s::jsonb) as f"
WORKFLOW = (
    "select f.id from public.fn_upsert_workflow(p_workflow_id => %(id)s, p_title => %(title)s, "
    "p_definition => %(definition)s::jsonb, p_kind => %(kind)s, p_status => %(status)s) as f"
)
NEW_CALENDAR = (
    "select f.id from public.fn_create_schedule_calendar(p_name => %(name)s, p_kind => %(kind)s, "
    "p_timezone => %(timezone)s, p_dates => %(dates)s::date[], p_rules => %(rules)s::jsonb) as f"
)
CALENDAR = (
    "select f.id from public.fn_update_schedule_calendar(p_calendar_id => %(id)s, "
    "p_name => %(name)s, p_kind => %(kind)s, p_timezone => %(timezone)s, "
    "p_dates => %(dates)s::date[], p_rules => %(rules)s::jsonb) as f"
)
CALLED = [  # functions of schema public
    *("fn_upsert_workflow_schedule", "fn_patch_workflow_schedule", "fn_delete_workflow_schedule"),
    *("fn_upsert_workflow", "fn_set_workflow_status", "fn_create_schedule_calendar"),
    *("fn_update_schedule_calendar", "fn_delete_schedule_calendar", "fn_set_project"),
]
MAY = """
select not current_setting('transaction_read_only')::boolean
  and count(*) filter (where has_function_privilege(p.oid, 'execute')) = %(count)s as may
from pg_catalog.pg_proc as p
where p.pronamespace = 'public'::regnamespace and p.proname = any(%(names)s::name[])
"""
BATCH = 200
# Where the file has a column of a schedule; a calendar's and a workflow's columns are keys.
PLACES = {
    column: [key for key, (other, _) in keys.SCHEDULE.items() if other == column]
    for column, _ in keys.SCHEDULE.values()
} | {
    "name": [],
    "start_at": ["window.start"],
    "end_at": ["window.end"],
    "assignee_type": ["agent", "team"],
}


def lock(conn: Connection, user_id: UUID) -> None:
    """Of two concurrent applies for a tenant, one waits here and then sees the other's changes."""
    conn.execute(
        "select pg_catalog.pg_advisory_xact_lock("
        "pg_catalog.hashtextextended('lf-sql apply ' || %s, 0))",
        [str(user_id)],
    )


def may(conn: Connection) -> bool:
    """Whether the connection can carry out a plan: no standby, and all functions are the role's."""
    row = conn.execute(MAY.encode(), {"names": CALLED, "count": len(CALLED)}).fetchone()
    return bool(row and row["may"])


def attempt(conn: Connection, plan: Plan, project: str | None) -> None:
    """The same as `perform`, and then undone: it raises what `perform` would raise."""
    with conn.transaction():
        perform(conn, plan, project)
        conn.execute("set constraints all immediate")
        raise psycopg.Rollback


def perform(conn: Connection, plan: Plan, project: str | None) -> None:
    """Deletions first, then everything after what it refers to; errors have their position."""
    ids = dict(plan.ids)
    for change in plan.of("schedule", "remove"):
        row = change.row or {}
        conn.execute("select public.fn_delete_workflow_schedule(%s::uuid)", [row["id"]])
    for change in plan.of("calendar", "add", "change"):
        wanted = {**change.wanted, "rules": exact.dumps(_known(change.wanted["rules"], ids))}
        wanted["id"] = change.row["id"] if change.row else None
        _send(conn, [change], CALENDAR if change.row else NEW_CALENDAR, [wanted], ids)
    workflows = plan.of("workflow", "add", "change")
    _send(conn, workflows, WORKFLOW, [_workflow(change) for change in workflows], ids)
    schedules = plan.of("schedule", "add", "change")
    _send(conn, schedules, SCHEDULE, [_schedule(change, ids) for change in schedules], ids)
    spelled = [(change, said) for change in schedules if (said := _spelled_out(change))]
    patches = [
        {"id": ids[("schedule", change.name)], "patch": exact.dumps(said)}
        for change, said in spelled
    ]
    _send(conn, [change for change, _ in spelled], SPELLED_OUT, patches, ids)
    remove.unused(conn, plan, "workflow")
    remove.unused(conn, plan, "calendar")
    if project is not None:
        made = [
            [ids[(kind, change.name)] for change in plan.of(kind, "add")]
            for kind in ("calendar", "workflow", "schedule")
        ]
        if any(made):
            conn.execute(
                "select public.fn_set_project(%s, %s::uuid[], %s::uuid[], %s::uuid[])",
                [project, *made],
            )


def _send(
    conn: Connection,
    changes: Sequence[Change],
    query: str,
    values: Sequence[dict[str, Any]],
    ids: dict[tuple[str, str], UUID],
) -> None:
    """Many calls in a pipeline; an error is reported at the entry that caused it."""
    for start in range(0, len(changes), BATCH):
        part = changes[start : start + BATCH]
        cursors: list[psycopg.Cursor[Any]] = []
        try:
            with conn.pipeline():
                for value in values[start : start + BATCH]:
                    cursor = conn.cursor()
                    cursors.append(cursor)
                    cursor.execute(query.encode(), value)
            for change, cursor in zip(part, cursors, strict=True):
                row = cursor.fetchone()
                if row:
                    ids[(change.kind, change.name)] = row["id"]
        except psycopg.Error as error:
            failed = next((n for n, c in enumerate(cursors) if c.pgresult is None), 0)
            entry = part[failed].entry
            if entry is None or error.sqlstate is None or older.is_missing(error):
                raise
            raise explained(entry, error) from None


def explained(entry: Entry, error: psycopg.Error) -> LfSqlError:
    """The database's own message and hint, at the value that the error's COLUMN names."""
    message, hint = db.describe(error)
    column = error.diag.column_name or ""
    paths = [column]
    if isinstance(entry, Schedule):
        name = re.split(r"[.\[]", column)[0]
        paths = [key + column.removeprefix(name) for key in PLACES.get(name, [])]
    found = (at for path in paths if (at := _inside(entry.at, path)) is not entry.at)
    return next(found, entry.at).wrong(message, hint)


def _inside(at: Value, path: str) -> Value:
    """What a path such as retry.maxRetries or rules[2].except[0] leads to, as far as it goes."""
    while path:
        if isinstance(at.value, dict):
            names = [key for key in at.value if re.match(re.escape(key) + r"(?![^.\[])", path)]
            if not names:
                break
            name = max(names, key=len)
            at, path = at.value[name], path[len(name) :].removeprefix(".")
        elif isinstance(at.value, list):
            number = re.match(r"\[(\d+)\]\.?", path)
            if not number or int(number[1]) >= len(at.value):
                break
            at, path = at.value[int(number[1])], path[number.end() :]
        else:
            break
    return at


def _workflow(change: Change) -> dict[str, Any]:
    wanted = change.wanted
    definition = wanted.get("definition")
    return {
        "id": change.row["id"] if change.row else None,
        "title": wanted.get("title"),
        "definition": None if definition is None else exact.dumps(definition),
        "kind": wanted.get("kind"),
        "status": wanted.get("status"),
    }


def _schedule(change: Change, ids: dict[tuple[str, str], UUID]) -> dict[str, Any]:
    values = {
        column: exact.dumps(value) if column in JSON_COLUMNS and value is not None else value
        for column, value in change.wanted.items()
    }
    for column in ("workflow_id", "calendar_id"):
        values[column] = _known(values[column], ids)
    if values["jitter_ms"] is not None:
        # What no integer holds is out of range in any case: the database says what is allowed.
        values["jitter_ms"] = min(values["jitter_ms"], INTEGER_MAX)
    values["id"] = change.row["id"] if change.row else change.entry and change.entry.id
    return values


def _spelled_out(change: Change) -> dict[str, Any]:
    """Policies that the file gives as their default: the upsert would treat them as left out."""
    return {
        name: default
        for name, default in DEFAULTS.items()
        if change.wanted.get(name) is not None and canon(change.wanted[name]) == canon(default)
    }


def _known(value: Any, ids: dict[tuple[str, str], UUID]) -> Any:
    """With ids in place of rows that have just been created."""
    match value:
        case New():
            return ids[(value.kind, value.name)]
        case UUID():
            return value
        case list():
            return [_text(_known(item, ids)) for item in value]
        case dict():
            return {key: _text(_known(item, ids)) for key, item in value.items()}
    return value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, UUID) else value
