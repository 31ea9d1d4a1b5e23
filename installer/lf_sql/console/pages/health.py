"""Health: what `lf-sql schedule health` says to the tenant, with buttons where it says commands."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import names
from lf_sql.console.database import one, rows
from lf_sql.console.form import Form
from lf_sql.console.handlers import reads, writes
from lf_sql.console.render import done, is_partial, page
from lf_sql.db import Connection

SHOWN = 500
# The first findings, and what holds of all of them: ten thousand need not come here.
LINES = """
select l.*, (
    select s.timezone from lenses.workflow_schedules as s
    where s.id = l.schedule_id and s.cron_expr is not null
  ) as zone
from (
  select h.*, row_number() over (partition by h.schedule_id is null order by h.place) as number,
    count(h.schedule_id) over () as total, bool_or(h.state = 'bad') over () as is_bad,
    bool_or(h.state <> 'ok') over () as is_worth
  from public.fn_schedule_health() with ordinality
  as h (check_name, state, label, detail, advice, schedule_id, place)
) as l
where l.schedule_id is null or l.number <= %s
order by l.place
"""
# Advice that a button can follow: what the command is, what the button says, where it posts to.
ADVICE = re.compile(r"^lf-sql schedule (resume|recompute|backfill) \S+(?: --since (\S+))?")
BUTTONS = {
    "resume": ("Resume", "resume"),
    "recompute": ("Recompute its next run", "recompute"),
    "backfill": ("Run what was dropped", "backfill"),
}
# Advice that is a page of the console: what the command is, what the link says, where it leads.
LINKS = (
    (re.compile(r"^lf-sql schedule preview (\S+)"), "What its next slots come to", "/schedules/"),
    (re.compile(r"^lf-sql schedule condition test (\S+)"), "Try its condition", "/builder/"),
    (re.compile(r"^lf-sql runs list --schedule (\S+)"), "Its runs", "/runs?schedule="),
)


def _with_button(line: dict[str, Any]) -> dict[str, Any]:
    found = ADVICE.match(line["advice"] or "")
    button: dict[str, Any] | None = None
    if found:
        text, action = BUTTONS[found[1]]
        button = {"text": text, "url": f"/schedules/{line['schedule_id']}/{action}"}
        if found[2]:
            button["values"] = {"since": found[2]}
    link = next(
        (
            {"text": text, "url": url + fits[1]}
            for pattern, text, url in LINKS
            if (fits := pattern.match(line["advice"] or ""))
        ),
        None,
    )
    return {**line, "button": button, "link": link}


def health(request: Request, conn: Connection) -> Response:
    lines = rows(conn, LINES, SHOWN)
    findings = [line for line in lines if line["schedule_id"] is not None]
    context: dict[str, Any] = {
        "general": [line for line in lines if line["schedule_id"] is None],
        "findings": [_with_button(line) for line in findings],
        "total": lines[0]["total"] if lines else 0,
        "is_bad": bool(lines and lines[0]["is_bad"]),
        "is_worth": bool(lines and lines[0]["is_worth"]),
    }
    template = "_health.html" if is_partial(request) else "health.html"
    return page(request, template, active="health", **context)


def recompute(request: Request, conn: Connection, form: Form) -> Response:
    schedule_id = request.path_params["id"]
    one(conn, "select public.fn_recompute_schedule(%s::uuid)", schedule_id)
    return done(f"The next run of “{names.of_schedule(conn, schedule_id)}” is recomputed.")


def backfill(request: Request, conn: Connection, form: Form) -> Response:
    schedule_id = request.path_params["id"]
    found = one(
        conn,
        "select public.fn_backfill_schedule(%s, nullif(%s, '')::timestamptz) ->> 'dispatched' as n",
        schedule_id,
        form.get("since", ""),
    )
    made = int(found["n"]) if found and found["n"] else 0
    name = names.of_schedule(conn, schedule_id)
    return done(f"{made} run{'' if made == 1 else 's'} of “{name}” made.")


routes = [
    Route("/health", reads(health)),
    Route("/schedules/{id:uuid}/recompute", writes(recompute), methods=["POST"]),
    Route("/schedules/{id:uuid}/backfill", writes(backfill), methods=["POST"]),
]
