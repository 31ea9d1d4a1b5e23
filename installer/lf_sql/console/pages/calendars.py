"""Calendars: which there are, what they name, who uses them, and how they are changed."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import charts, names, rules
from lf_sql.console.database import one, rows
from lf_sql.console.form import Form, day, parsed
from lf_sql.console.handlers import reads, writes
from lf_sql.console.render import done, is_partial, page
from lf_sql.console.zones import known_zones
from lf_sql.db import Connection

USERS = 50  # schedules that are listed beside a calendar

LIST = """
select c.*, u.users, d.next_date
from public.fn_get_schedule_calendars() as c
cross join lateral (
  select count(*) as users from lenses.workflow_schedules as s where s.calendar_id = c.id
) as u
cross join lateral (
  select min(x) as next_date
  from public.fn_get_calendar_dates(
    c.id, (now() at time zone c.timezone)::date, (now() at time zone c.timezone)::date + 400) as x
) as d
order by c.is_seed, lower(c.name), c.id
"""

ONE = """
select c.*, (now() at time zone c.timezone)::date as today
from public.fn_get_schedule_calendars() as c
where c.id = %s
"""

USED_BY = names.named("""
select s.id, {schedule_name} as name, s.on_holiday, s.is_active, s.next_run_at
from lenses.workflow_schedules as s
join lenses.workflows as w on w.id = s.workflow_id
where s.calendar_id = %s
order by 2, s.id
limit %s
""")

YEARS = """
select array(
  select public.fn_get_calendar_dates(%s, make_date(%s, 1, 1), make_date(%s, 12, 31))) as dates
"""

# What the form's list of rules may begin with.
EXAMPLES = (
    ("Every Saturday and Sunday", {"weekdays": ["SAT", "SUN"]}),
    ("A day of the year", {"month_day": "12-25"}),
    ("The same, moved off weekends", {"month_day": "01-01", "observed": True}),
    ("The last Monday of May", {"nth": {"weekday": "MON", "n": -1, "month": 5}}),
    ("Good Friday", {"easter": -2}),
    ("Orthodox Easter", {"orthodox_easter": 0}),
)


def listing(request: Request, conn: Connection) -> Response:
    template = "_calendars.html" if is_partial(request) else "calendars.html"
    return page(request, template, active="calendars", calendars=rows(conn, LIST))


def _names(conn: Connection) -> dict[str, str]:
    found = rows(conn, "select c.id, c.name from public.fn_get_schedule_calendars() as c")
    return {str(row["id"]): row["name"] for row in found}


def show(request: Request, conn: Connection) -> Response:
    calendar_id = request.path_params["id"]
    found = one(conn, ONE, calendar_id)
    if found is None:
        message = "There is no calendar of that id that is yours or a seed."
        return page(request, "error.html", status=404, active="", message=message, hint=None)
    this = found["today"].year
    years = []
    for number in (this, this + 1):
        dates = (one(conn, YEARS, calendar_id, number, number) or {}).get("dates") or []
        years.append((number, charts.year(number, dates, [], found["today"]), len(dates)))
    known = _names(conn)
    users = rows(conn, USED_BY, calendar_id, USERS + 1)
    return page(
        request,
        "calendar.html",
        active="calendars",
        c=found,
        years=years,
        rules=[rules.say(rule, known) for rule in found["rules"]],
        dates=[day for day in found["dates"] if day >= found["today"]][:100],
        past=sum(day < found["today"] for day in found["dates"]),
        users=users[:USERS],
        more=len(users) > USERS,
    )


def edit(request: Request, conn: Connection) -> Response:
    """The form: an own calendar, or a new one."""
    found: dict[str, Any] = {
        "id": None, "name": "", "kind": "skip_dates", "timezone": "", "dates": [], "rules": [],
    }  # fmt: skip
    if "id" in request.path_params:
        stored = one(conn, ONE, request.path_params["id"])
        if stored is None or stored["is_seed"]:
            message = "There is no calendar of that id that is yours to change."
            return page(request, "error.html", status=404, active="", message=message, hint=None)
        found = stored
    references = [
        (f"All dates of {name}", {"calendar": key})
        for key, name in _names(conn).items()
        if key != str(found["id"])
    ]
    return page(
        request,
        "calendar_edit.html",
        active="calendars",
        c=found,
        examples=[(text, json.dumps(rule)) for text, rule in (*EXAMPLES, *references)],
        rules_text=_lines(found["rules"]),
        zones=known_zones(request, conn),
    )


def _lines(found: list[Any]) -> str:
    """Rules as JSON, one a line."""
    return "[\n" + ",\n".join(f"  {json.dumps(rule)}" for rule in found) + "\n]" if found else "[]"


def save(request: Request, conn: Connection, form: Form) -> Response:
    dates = [day(text, "dates") for text in re.split(r"[\s,;]+", form.get("dates", "")) if text]
    given = (
        form.get("name", ""),
        form.get("kind", ""),
        form.get("timezone") or "UTC",
        dates,
        json.dumps(parsed(form.text("rules") or "[]", "rules")),
    )
    if "id" in request.path_params:
        calendar_id: UUID | None = request.path_params["id"]
        one(
            conn,
            "select public.fn_update_schedule_calendar(%s, %s, %s, %s, %s::date[], %s::jsonb)",
            calendar_id,
            *given,
        )
    else:
        made = one(
            conn,
            "select c.id from public.fn_create_schedule_calendar("
            "%s, %s, %s, %s::date[], null, %s::jsonb) as c",
            *given,
        )
        calendar_id = made["id"] if made else None
    return done("Saved.", go=f"/calendars/{calendar_id}")


def copy(request: Request, conn: Connection, form: Form) -> Response:
    """A copy of a calendar as the tenant's own: how a seed is changed."""
    calendar_id = request.path_params["id"]
    name = _names(conn).get(str(calendar_id), "calendar")
    made = one(
        conn,
        "select c.id from public.fn_create_schedule_calendar(%s, null, null, null, %s) as c",
        f"{name}, copy",
        calendar_id,
    )
    return done("Copied.", go=f"/calendars/{made['id'] if made else ''}/edit")


def delete(request: Request, conn: Connection, form: Form) -> Response:
    one(conn, "select public.fn_delete_schedule_calendar(%s::uuid)", request.path_params["id"])
    return done("Deleted.", go="/calendars")


routes = [
    Route("/calendars", reads(listing)),
    Route("/calendars/new", reads(edit)),
    Route("/calendars/save", writes(save), methods=["POST"]),
    Route("/calendars/{id:uuid}", reads(show)),
    Route("/calendars/{id:uuid}/edit", reads(edit)),
    Route("/calendars/{id:uuid}/save", writes(save), methods=["POST"]),
    Route("/calendars/{id:uuid}/copy", writes(copy), methods=["POST"]),
    Route("/calendars/{id:uuid}/delete", writes(delete), methods=["POST"]),
]
