"""The visual builder: choices or text become an expression, shown with what it means."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import builder_form as fields
from lf_sql.console import charts, names
from lf_sql.console.database import one, rows
from lf_sql.console.form import Form, UnfitError, parsed
from lf_sql.console.handlers import asks, reads, writes
from lf_sql.console.render import done, page
from lf_sql.console.zones import known_zones, viewer_zone
from lf_sql.db import Connection

FREQUENCIES = ("hourly", "daily", "weekly", "monthly")
WEEK = (
    ("1", "Mon"),
    ("2", "Tue"),
    ("3", "Wed"),
    ("4", "Thu"),
    ("5", "Fri"),
    ("6", "Sat"),
    ("0", "Sun"),
)
LOOK = 1000  # slots that are looked at for the five within the window

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
    select jsonb_build_object('id', a.id, 'name', a.name)
    from agents.ai_lensers as a order by a.name, a.id limit 2000
  ) as agents,
  array(
    select jsonb_build_object('id', t.id, 'name', t.name)
    from agents.teams as t order by t.name, t.id limit 2000
  ) as teams,
  array(
    select jsonb_build_object(
      'id', x.id, 'name', concat_ws(': ', w.title, coalesce(a.name, t.name)))
    from agents.workflow_assignments as x
    join lenses.workflows as w on w.id = x.workflow_id
    left join agents.ai_lensers as a on x.assignee_type = 'agent' and a.id = x.assignee_id
    left join agents.teams as t on x.assignee_type = 'team' and t.id = x.assignee_id
    order by 1 limit 2000
  ) as assignments
"""

STORED = names.named("""
select s.*, {schedule_name} as called
from lenses.workflow_schedules as s
join lenses.workflows as w on w.id = s.workflow_id
where s.id = %s
""")

# Where an interval schedule's slots lie: from its anchor, for a new one this minute.
INTERVAL_SLOTS = """
select i.ms, w.slot, to_char(w.slot at time zone 'UTC', 'Dy FMDD Mon HH24:MI') as wall
from (
  select %s::bigint as ms,
    coalesce(%s::timestamptz, %s::timestamptz, date_trunc('minute', now())) as anchor,
    %s::timestamptz is not null as is_first
) as i
cross join lateral (
  select case when i.anchor > now() then case when i.is_first then 0 else 1 end
    else floor(extract(epoch from now() - i.anchor) * 1000 / nullif(i.ms, 0)) + 1 end as first
) as f
cross join generate_series(0, 4) as k
cross join lateral (
  select i.anchor + (f.first + k) * make_interval(secs => i.ms / 1000.0) as slot
) as w
order by w.slot
"""


def _stored(request: Request, conn: Connection) -> dict[str, Any] | None:
    if "id" not in request.path_params:
        return None
    return one(conn, STORED, request.path_params["id"])


def show(request: Request, conn: Connection) -> Response:
    values = dict(fields.BLANK)
    stored = _stored(request, conn)
    if stored is not None:
        values = fields.values(stored, viewer_zone(request, conn))
    elif "id" in request.path_params:
        message = "There is no schedule of that id that is yours."
        return page(request, "error.html", status=404, active="", message=message, hint=None)
    elif (workflow := request.query_params.get("workflow", ""))[:36]:
        values["workflow_id"] = workflow
    choices = one(conn, CHOICES) or {}
    return page(
        request,
        "builder.html",
        active="builder",
        v=values,
        name=stored["called"] if stored else "",
        choices=choices,
        fallbacks=[(each["id"], each["name"]) for each in choices["agents"] + choices["teams"]],
        zones=known_zones(request, conn),
        frequencies=FREQUENCIES,
        units=tuple(fields.UNITS),
        week=WEEK,
        viewer=viewer_zone(request, conn),
    )


def built(conn: Connection, form: Form) -> str:
    """The expression that the choices mean, as the database builds it."""
    frequency = form.get("frequency", "")
    choices: dict[str, Any] = {"frequency": frequency}
    hour, _, minute = form.get("time", "").partition(":")
    if frequency == "hourly":
        choices["minute"] = fields.number(form.get("minute"))
    else:
        choices |= {"hour": fields.number(hour), "minute": fields.number(minute)}
    if frequency == "weekly":
        choices["days"] = [fields.number(day) for day in form.many("days")]
    if frequency == "monthly":
        choices["day_of_month"] = fields.number(form.get("day_of_month"))
    found = one(conn, "select public.fn_cron_build(%s::jsonb) as expr", json.dumps(choices))
    return str(found["expr"]) if found else ""


def _settings(
    request: Request, conn: Connection, form: Form, before: dict[str, Any]
) -> dict[str, Any]:
    """Every column of the form."""
    wanted = fields.settings(form, viewer_zone(request, conn), before)
    mode = form.get("mode")
    if mode == "every":
        wanted["interval_ms"] = fields.interval(form)
    elif mode != "once":
        wanted["cron_expr"] = form.get("cron_expr", "") if mode == "expr" else built(conn, form)
        wanted["timezone"] = form.get("timezone") or "UTC"
    return wanted


def preview(request: Request, conn: Connection, form: Form) -> Response:
    """Expression, English, the next five runs and what would change; nothing is stored."""
    before = _stored(request, conn)
    wanted = _settings(request, conn, form, before or {})
    changed = None
    if before is not None:
        found = fields.patch(before, wanted)
        changed = fields.changes(before, found, _labels(conn), viewer_zone(request, conn))
    shown = _next(request, conn, form, wanted, before)
    return page(request, "_preview.html", changes=changed, **shown)


def _next(
    request: Request,
    conn: Connection,
    form: Form,
    wanted: dict[str, Any],
    before: dict[str, Any] | None,
) -> dict[str, Any]:
    """What the form means: expression, English, zone, the next five slots in its window."""
    start, end = (
        datetime.fromisoformat(wanted[name]) if wanted[name] else None
        for name in ("start_at", "end_at")
    )
    mode = form.get("mode")
    if mode == "once":
        at = datetime.fromisoformat(wanted["run_at"])
        only = [{"slot": at, "wall": at.strftime("%a %-d %b %Y %H:%M")}]
        return {"expr": "once", "english": "Once, and never again", "zone": "UTC", "slots": only}
    if mode == "every":
        created = before["created_at"].replace(second=0, microsecond=0) if before else None
        slots = rows(conn, INTERVAL_SLOTS, fields.interval(form), start, created, start)
        english = charts.interval_words(slots[0]["ms"])
        expr, zone = "interval", "UTC"
    else:
        expr, zone = wanted["cron_expr"], wanted["timezone"]
        found = one(conn, "select public.fn_cron_describe(%s::text) as english", expr)
        english = found["english"] if found else ""
        slots = rows(
            conn,
            "select p.slot, to_char(p.slot at time zone %s, 'Dy FMDD Mon HH24:MI') as wall "
            "from public.fn_cron_preview(%s, %s, %s) as p (slot) "
            "where p.slot >= coalesce(%s::timestamptz, '-infinity') limit 5",
            zone,
            expr,
            zone,
            LOOK if start else 5,
            start,
        )
    slots = [slot for slot in slots if end is None or slot["slot"] <= end]
    return {"expr": expr, "english": english, "zone": zone, "slots": slots}


def _labels(conn: Connection) -> dict[str, str]:
    """The names behind the ids that a change may contain."""
    found = one(conn, CHOICES) or {}
    lists = [found.get(key, []) for key in ("calendars", "agents", "teams", "assignments")]
    return {str(each["id"]): each["name"] for group in lists for each in group}


def condition(request: Request, conn: Connection, form: Form) -> Response:
    """Would the condition hold now? Called while the user types."""
    wanted = parsed(form.text("condition"), "pre_dispatch_condition")
    workflow_id = form.text("workflow_id")
    before = _stored(request, conn)
    if before is not None:
        workflow_id = str(before["workflow_id"])
    answer = None
    if wanted is not None and workflow_id is not None:
        found = one(
            conn,
            "select public.fn_test_schedule_condition(%s, %s::jsonb, %s) as answer",
            workflow_id,
            json.dumps(wanted),
            before["id"] if before else None,
        )
        answer = found["answer"] if found else None
    return page(
        request, "_condition.html", answer=answer, is_new=workflow_id is None, is_set=bool(wanted)
    )


def save(request: Request, conn: Connection, form: Form) -> Response:
    """A new schedule, or the changed one: only what differs is written."""
    before = _stored(request, conn)
    if before is not None:
        found = fields.patch(before, _settings(request, conn, form, before))
        one(
            conn,
            "select public.fn_patch_workflow_schedule(%s, %s::jsonb)",
            before["id"],
            json.dumps(found),
        )
        return done("Saved.", go=f"/schedules/{before['id']}")
    if "id" in request.path_params:
        raise UnfitError("", "This schedule has been deleted meanwhile.", "")

    settings = _settings(request, conn, form, {})
    workflow_id = form.text("workflow_id")
    if workflow_id is None:
        made = one(
            conn,
            "select w.id from public.fn_upsert_workflow(p_title => %s, "
            'p_definition => \'{"nodes":[],"edges":[]}\') as w',
            form.get("new_title", ""),
        )
        workflow_id = str(made["id"]) if made else None
    settings |= {"workflow_id": workflow_id, "is_active": form.get("is_active") == "on"}
    given = conn.execute(
        sql.SQL("select s.id from public.fn_upsert_workflow_schedule({}) as s").format(
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(f"p_{name}"), sql.Placeholder())
                for name in settings
            )
        ),
        [
            Jsonb(value) if name in fields.JSON and value is not None else value
            for name, value in settings.items()
        ],
    ).fetchone()
    return done("Saved.", go=f"/schedules/{given['id'] if given else ''}")


routes = [
    Route("/builder", reads(show)),
    Route("/builder/preview", asks(preview), methods=["POST"]),
    Route("/builder/condition", asks(condition), methods=["POST"]),
    Route("/builder/save", writes(save), methods=["POST"]),
    Route("/builder/{id:uuid}", reads(show)),
    Route("/builder/{id:uuid}/preview", asks(preview), methods=["POST"]),
    Route("/builder/{id:uuid}/condition", asks(condition), methods=["POST"]),
    Route("/builder/{id:uuid}/save", writes(save), methods=["POST"]),
]
