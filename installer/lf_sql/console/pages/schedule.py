"""A schedule's story: what comes, what came of it, what waits for a decision."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql import newest_run
from lf_sql.console import charts, names
from lf_sql.console.database import one, rows
from lf_sql.console.form import Form, instant
from lf_sql.console.handlers import reads, writes
from lf_sql.console.render import done, is_partial, page
from lf_sql.db import Connection
from lf_sql.durations import spelt
from lf_sql.policy_words import in_words

TICKS = 20
CALENDAR_TICKS = 200
SLOTS = 60
MISSED = ("skip", "run_once", "backfill", "spread")

SCHEDULE = names.named(f"""
select s.*, {{schedule_name}} as called, w.status as workflow_status, w.version as newest_version,
  case when s.cron_expr is not null then public.fn_cron_describe(s.cron_expr)
    when s.run_at is not null then to_char(
      s.run_at at time zone 'UTC', '"Once, on "FMDD FMMonth YYYY" at "HH24:MI" UTC"')
    end as english,
  coalesce(a.name, t.name) as assignee_name, r.status as last_run_status,
  r.trigger_mode as last_run_trigger, {newest_run.MOVED} as last_run_moved_at,
  public.fn_get_workflow_schedule(s.id) -> 'effective_policies' as policies
from lenses.workflow_schedules as s
join lenses.workflows as w on w.id = s.workflow_id
{newest_run.JOIN}
left join agents.ai_lensers as a on s.assignee_type = 'agent' and a.id = s.assignee_id
left join agents.teams as t on s.assignee_type = 'team' and t.id = s.assignee_id
where s.id = %s
""")  # noqa: S608

SLOT_HISTORY = """
select x.run_at, x.run_at_last, x.slot_count, x.status, x.reason, x.run_id, x.created_at
from lenses.schedule_slots as x
where x.schedule_id = %s
order by x.run_at desc
limit %s
"""

WAITING = """
select r.id, r.schedule_id, r.scheduled_for, r.created_at, r.approval_expires_at, r.context_inputs,
  r.trigger_mode
from lenses.workflow_runs as r
where r.schedule_id = %s and r.status = 'pending_approval'
order by r.created_at
limit 50
"""

PREVIEW = "select p.* from public.fn_preview_schedule_ticks(%s, %s, interval '366 days') as p"
# What is listed, and what the rules name this year.
CALENDAR = """
select c.id, c.name, c.kind, c.timezone, t.today, array(
  select d from unnest(c.dates) as d
  union
  select d from public.fn_get_calendar_dates(
    c.id, date_trunc('year', t.today)::date,
    (date_trunc('year', t.today) + interval '2 years' - interval '1 day')::date) as d
  order by 1
) as dates
from public.fn_get_schedule_calendars() as c
cross join lateral (select (now() at time zone c.timezone)::date as today) as t
where c.id = %s
"""

# A slot's date is taken in the calendar's own zone.
DATES = "select distinct (t at time zone %s)::date as day from unnest(%s::timestamptz[]) as t"


def _schedule(conn: Connection, schedule_id: uuid.UUID) -> dict[str, Any] | None:
    found = one(conn, SCHEDULE, schedule_id)
    if found is not None and found["interval_ms"] is not None:
        found["english"] = charts.interval_words(found["interval_ms"])
    return found


def _years(
    conn: Connection, calendar: dict[str, Any], ticks: list[dict[str, Any]]
) -> list[tuple[int, list[charts.Month]]]:
    """The calendar's years, with the days on which a slot comes."""
    found = rows(conn, DATES, calendar["timezone"], [tick["tick_at"] for tick in ticks])
    due = {row["day"] for row in found}
    today = calendar["today"]
    years = charts.years_of(calendar["dates"], today)[:2]
    return [(number, charts.year(number, calendar["dates"], due, today)) for number in years]


def show(request: Request, conn: Connection) -> Response:
    schedule_id = request.path_params["id"]
    schedule = _schedule(conn, schedule_id)
    if schedule is None:
        message = "There is no schedule of that id that is yours."
        return page(request, "error.html", status=404, active="", message=message, hint=None)
    now = datetime.now(UTC)
    calendar = one(conn, CALENDAR, schedule["calendar_id"]) if schedule["calendar_id"] else None
    ticks = rows(conn, PREVIEW, schedule_id, CALENDAR_TICKS if calendar else TICKS)
    slots = rows(conn, SLOT_HISTORY, schedule_id, SLOTS)[::-1]
    context: dict[str, Any] = {
        "s": schedule,
        "now": now,
        "ticks": ticks[:TICKS],
        "timeline": charts.timeline(ticks[:TICKS], now),
        "slots": slots,
        "outcomes": charts.OUTCOMES,
        "drift": charts.drift(slots),
        "runs": rows(conn, WAITING, schedule_id),
        "history": rows(
            conn, "select h.* from public.fn_get_schedule_run_history(%s, 15) as h", schedule_id
        ),
        "calendar": calendar,
        "years": _years(conn, calendar, ticks) if calendar else [],
        "missed_choices": MISSED,
        "policies": in_words(schedule["policies"], spelt),
    }
    if is_partial(request):
        return page(request, "_schedule.html", **context)
    return page(request, "schedule.html", active="observe", **context)


def pause(request: Request, conn: Connection, form: Form) -> Response:
    schedule_id = request.path_params["id"]
    until = form.get("until", "")
    before = one(
        conn,
        "select s.is_active from lenses.workflow_schedules as s where s.id = %s",
        schedule_id,
    )
    one(
        conn,
        "select public.fn_pause_workflow_schedule(%s, %s, "
        "(nullif(%s, '')::timestamp at time zone coalesce(nullif(%s, ''), 'UTC')))",
        schedule_id,
        form.text("note"),
        instant(until, "until").isoformat() if until else "",
        form.get("viewer_zone", ""),
    )
    # Taken back, it is as if there had been no pause: what came due meanwhile runs.
    undo = (f"/schedules/{schedule_id}/resume", {"on_missed": "backfill"})
    was_active = before is not None and before["is_active"]
    return done(
        f"Paused “{names.of_schedule(conn, schedule_id)}”.", undo=undo if was_active else None
    )


BEFORE_RESUME = """
select s.is_active, s.paused_at is not null as is_paused, coalesce(s.pause_note, '') as note,
  coalesce(to_char(s.paused_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS'), '') as until
from lenses.workflow_schedules as s
where s.id = %s
"""


def resume(request: Request, conn: Connection, form: Form) -> Response:
    schedule_id = request.path_params["id"]
    before = one(conn, BEFORE_RESUME, schedule_id)
    one(
        conn,
        "select public.fn_resume_workflow_schedule(%s, %s, %s)",
        schedule_id,
        form.text("note"),
        form.text("on_missed"),
    )
    undo = None
    if before is not None and before["is_paused"]:
        values = {"note": before["note"], "until": before["until"], "viewer_zone": "UTC"}
        undo = (f"/schedules/{schedule_id}/pause", values)
    elif before is not None and not before["is_active"]:
        undo = (f"/schedules/{schedule_id}/disable", {})
    return done(f"Resumed “{names.of_schedule(conn, schedule_id)}”.", undo=undo)


def disable(request: Request, conn: Connection, form: Form) -> Response:
    """Back to what a disabled schedule was before it was resumed."""
    schedule_id = request.path_params["id"]
    one(
        conn,
        "select public.fn_patch_workflow_schedule(%s, '{\"is_active\": false}')",
        schedule_id,
    )
    return done(f"Disabled “{names.of_schedule(conn, schedule_id)}”.")


def run_now(request: Request, conn: Connection, form: Form) -> Response:
    schedule_id = request.path_params["id"]
    made = one(
        conn,
        "select r.id, r.status from public.fn_run_workflow_schedule_now(%s::uuid) as r",
        schedule_id,
    )
    name = names.of_schedule(conn, schedule_id)
    waits = made is not None and made["status"] == "pending_approval"
    message = f"A run of “{name}” waits for approval." if waits else f"A run of “{name}” is made."
    return done(message, link=("Open it", f"/runs/{made['id'] if made else ''}"))


def delete(request: Request, conn: Connection, form: Form) -> Response:
    schedule_id = request.path_params["id"]
    name = names.of_schedule(conn, schedule_id)
    one(conn, "select public.fn_delete_workflow_schedule(%s::uuid)", schedule_id)
    return done(f"Deleted “{name}”.", go="/" if form.get("go") == "observe" else None)


routes = [
    Route("/schedules/{id:uuid}", reads(show)),
    Route("/schedules/{id:uuid}/pause", writes(pause), methods=["POST"]),
    Route("/schedules/{id:uuid}/resume", writes(resume), methods=["POST"]),
    Route("/schedules/{id:uuid}/run", writes(run_now), methods=["POST"]),
    Route("/schedules/{id:uuid}/delete", writes(delete), methods=["POST"]),
    Route("/schedules/{id:uuid}/disable", writes(disable), methods=["POST"]),
]
