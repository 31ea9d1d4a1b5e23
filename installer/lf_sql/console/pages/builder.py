"""The visual builder: choices or text become an expression, shown with its next runs."""

from __future__ import annotations

import json
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import charts
from lf_sql.console.database import one, rows
from lf_sql.console.handlers import Form, asks, reads, writes
from lf_sql.console.render import done, page
from lf_sql.console.zones import known_zones
from lf_sql.db import Connection

FREQUENCIES = ("hourly", "daily", "weekly", "monthly")
UNITS = {"minutes": 60_000, "hours": 3_600_000, "days": 86_400_000}
WEEK = (
    ("1", "Mon"),
    ("2", "Tue"),
    ("3", "Wed"),
    ("4", "Thu"),
    ("5", "Fri"),
    ("6", "Sat"),
    ("0", "Sun"),
)
QUEUE_FIELDS = {"mode": "mode_of_queue", "onMissed": "onMissed", "onOverlap": "onOverlap"}

CHOICES = """
select
  array(
    select jsonb_build_object('id', w.id, 'title', w.title)
    from public.fn_get_workflows() as w order by lower(w.title), w.id limit 2000
  ) as workflows,
  array(
    select jsonb_build_object('id', c.id, 'name', c.name, 'kind', c.kind)
    from public.fn_get_schedule_calendars() as c order by c.name
  ) as calendars,
  array(
    select jsonb_build_object('id', 'agent:' || a.id, 'name', a.name)
    from agents.ai_lensers as a order by a.name, a.id limit 2000
  ) as agents,
  array(
    select jsonb_build_object('id', 'team:' || t.id, 'name', t.name)
    from agents.teams as t order by t.name, t.id limit 2000
  ) as teams
"""

# Where a new interval schedule's slots would lie: anchored at this minute.
INTERVAL_SLOTS = """
select i.ms, w.slot, to_char(w.slot at time zone 'UTC', 'Dy FMDD Mon HH24:MI') as wall
from (select %s::bigint as ms) as i
cross join generate_series(1, 5) as k
cross join lateral (
  select date_trunc('minute', now()) + k * make_interval(secs => i.ms / 1000.0) as slot
) as w
order by w.slot
"""

BLANK: dict[str, Any] = {
    "id": None,
    "workflow_id": None,
    "description": "",
    "mode": "pick",
    "frequency": "weekly",
    "time": "09:00",
    "minute": 0,
    "days": ["1", "2", "3", "4", "5"],
    "day_of_month": 1,
    "cron_expr": "0 9 * * 1-5",
    "every": 15,
    "unit": "minutes",
    "timezone": "",
    "requires_approval": True,
    "queue": {"mode": "parallel"},
    "calendar_id": None,
    "assignee": "",
    "jitter_ms": 0,
    "inputs": "{}",
    "is_active": True,
}


def _values(row: dict[str, Any]) -> dict[str, Any]:
    """A stored schedule as the form shows it."""
    values = {
        **BLANK,
        "id": row["id"],
        "workflow_id": str(row["workflow_id"]),
        "description": row["description"] or "",
        "timezone": row["timezone"],
        "requires_approval": row["approval_policy"].get("requiresApproval", True),
        "queue": row["queue_policy"],
        "calendar_id": str(row["calendar_id"]) if row["calendar_id"] else None,
        "assignee": f"{row['assignee_type']}:{row['assignee_id']}" if row["assignee_id"] else "",
        "jitter_ms": row["jitter_ms"],
        "inputs": json.dumps(row["inputs_template"], ensure_ascii=False),
        "is_active": row["is_active"],
    }
    if row["interval_ms"] is not None:
        unit = next(
            u
            for u in ("days", "hours", "minutes")
            if row["interval_ms"] % UNITS[u] == 0 or u == "minutes"
        )
        return {**values, "mode": "every", "unit": unit, "every": row["interval_ms"] / UNITS[unit]}
    return {**values, "mode": "expr", "cron_expr": row["cron_expr"]}


def show(request: Request, conn: Connection) -> Response:
    values = dict(BLANK)
    if "id" in request.path_params:
        row = one(
            conn,
            "select s.* from lenses.workflow_schedules as s where s.id = %s",
            request.path_params["id"],
        )
        if row is None:
            message = "There is no schedule of that id that is yours."
            return page(request, "error.html", status=404, active="", message=message, hint=None)
        values = _values(row)
    elif (workflow := request.query_params.get("workflow", ""))[:36]:
        values["workflow_id"] = workflow
    return page(
        request,
        "builder.html",
        active="builder",
        v=values,
        choices=one(conn, CHOICES),
        zones=known_zones(request, conn),
        frequencies=FREQUENCIES,
        units=tuple(UNITS),
        week=WEEK,
    )


def _number(value: str | None) -> int | str | None:
    """A number where it is one; what it is else is the database's to refuse."""
    text = (value or "")[:12]
    return int(text) if text.lstrip("-").isdigit() and text.isascii() else (text or None)


def built(conn: Connection, form: Form) -> str:
    """The expression that the choices mean, as the database builds it."""
    frequency = form.get("frequency", "")
    choices: dict[str, Any] = {"frequency": frequency}
    hour, _, minute = form.get("time", "").partition(":")
    if frequency == "hourly":
        choices["minute"] = _number(form.get("minute"))
    else:
        choices |= {"hour": _number(hour), "minute": _number(minute)}
    if frequency == "weekly":
        choices["days"] = [_number(day) for day in form.many("days")]
    if frequency == "monthly":
        choices["day_of_month"] = _number(form.get("day_of_month"))
    found = one(conn, "select public.fn_cron_build(%s::jsonb) as expr", json.dumps(choices))
    return str(found["expr"]) if found else ""


def _interval(form: Form) -> str:
    """The period in milliseconds; text, for the database to judge."""
    count = form.get("every", "")[:12]
    unit = UNITS.get(form.get("unit", ""), 60_000)
    try:
        return str(round(float(count) * unit))
    except (ValueError, OverflowError):
        return count


def preview(request: Request, conn: Connection, form: Form) -> Response:
    """Expression, English and the next five runs; nothing is stored."""
    zone = form.get("timezone") or "UTC"
    if form.get("mode") == "every":
        slots = rows(conn, INTERVAL_SLOTS, _interval(form))
        english = charts.interval_words(slots[0]["ms"])
        return page(request, "_preview.html", expr=None, english=english, zone="UTC", slots=slots)
    expr = form.get("cron_expr", "") if form.get("mode") == "expr" else built(conn, form)
    found = one(conn, "select public.fn_cron_describe(%s) as english", expr)
    slots = rows(
        conn,
        "select p.slot, to_char(p.slot at time zone %s, 'Dy FMDD Mon HH24:MI') as wall "
        "from public.fn_cron_preview(%s, %s, 5) as p (slot)",
        zone,
        expr,
        zone,
    )
    return page(
        request,
        "_preview.html",
        expr=expr,
        english=found["english"] if found else "",
        zone=zone,
        slots=slots,
    )


def _settings(conn: Connection, form: Form, before: dict[str, Any]) -> dict[str, Any]:
    """The columns that the form speaks of, as a patch; what it does not know stays as it was."""
    queue = dict(before.get("queue_policy") or {"mode": "parallel"})
    for key, name in QUEUE_FIELDS.items():
        queue.pop(key, None)
        if value := form.text(name):
            queue[key] = value
    approval = dict(before.get("approval_policy") or {})
    approval["requiresApproval"] = form.get("requires_approval") == "on"
    kind, _, assignee = form.get("assignee", "").partition(":")
    inputs = one(conn, "select coalesce(%s, '{}')::jsonb as inputs_template", form.text("inputs"))
    patch: dict[str, Any] = {
        "description": form.text("description"),
        "approval_policy": approval,
        "queue_policy": queue,
        "calendar_id": form.text("calendar_id"),
        "assignee_type": kind or "agent",
        "assignee_id": assignee or None,
        "jitter_ms": _number(form.get("jitter_ms")) or 0,
        "inputs_template": inputs["inputs_template"] if inputs else {},
    }
    if form.get("mode") == "every":
        patch["interval_ms"] = _number(_interval(form))
    else:
        patch["cron_expr"] = (
            form.get("cron_expr", "") if form.get("mode") == "expr" else built(conn, form)
        )
        patch["timezone"] = form.get("timezone") or "UTC"
    return patch


def save(request: Request, conn: Connection, form: Form) -> Response:
    """A new schedule, or the changed one: what the form does not show is kept."""
    schedule_id = request.path_params.get("id")
    if schedule_id is not None:
        before = one(
            conn,
            "select s.approval_policy, s.queue_policy "
            "from lenses.workflow_schedules as s where s.id = %s",
            schedule_id,
        )
        patch = _settings(conn, form, before or {})
        one(
            conn,
            "select public.fn_patch_workflow_schedule(%s, %s::jsonb)",
            schedule_id,
            json.dumps(patch),
        )
        return done("Saved.", go=f"/schedules/{schedule_id}")

    workflow_id = form.text("workflow_id")
    if workflow_id is None:
        made = one(
            conn,
            "select w.id from public.fn_upsert_workflow(p_title => %s, "
            'p_definition => \'{"nodes":[],"edges":[]}\') as w',
            form.get("new_title", ""),
        )
        workflow_id = str(made["id"]) if made else None
    settings = _settings(conn, form, {})
    settings |= {"workflow_id": workflow_id, "is_active": form.get("is_active") == "on"}
    found = conn.execute(
        sql.SQL("select s.id from public.fn_upsert_workflow_schedule({}) as s").format(
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(f"p_{name}"), sql.Placeholder())
                for name in settings
            )
        ),
        [Jsonb(value) if isinstance(value, dict) else value for value in settings.values()],
    ).fetchone()
    return done("Saved.", go=f"/schedules/{found['id'] if found else ''}")


routes = [
    Route("/builder", reads(show)),
    Route("/builder/preview", asks(preview), methods=["POST"]),
    Route("/builder/save", writes(save), methods=["POST"]),
    Route("/builder/{id:uuid}", reads(show)),
    Route("/builder/{id:uuid}/save", writes(save), methods=["POST"]),
]
