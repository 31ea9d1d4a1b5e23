"""Observe: every schedule of the tenant, workflow and gateway alike."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console.database import one, rows
from lf_sql.console.handlers import reads
from lf_sql.console.render import is_partial, page
from lf_sql.db import Connection

PAGE_SIZE = 50
MAX_PAGE = 100_000

# Sort keys that a client may name, and what they are in SQL.
SORTS = {
    "resource": "lower(o.resource)",
    "type": "o.type",
    "expression": "o.expression",
    "timezone": "o.timezone",
    "status": "o.status",
    "next": "o.next_run_at",
    "last": "o.last_run_at",
}
STATUSES = ("enabled", "paused", "disabled")
TYPES = ("cron", "interval")
KINDS = ("workflow", "gateway")

LIST = """
with matching as materialized (
  select o.*
  from public.fn_observe_schedules() as o
  where (%(status)s = '' or o.status = %(status)s)
    and (%(type)s = '' or o.type = %(type)s)
    and (%(kind)s = '' or o.resource_type = %(kind)s)
    and (
      %(q)s = ''
      or position(lower(%(q)s) in lower(concat_ws(
        ' ', o.resource, o.label, o.expression, o.description, o.timezone, o.last_status, o.assignee
      ))) > 0
    )
)
select o.*, c.total
from (select count(*) as total from matching) as c
left join lateral (
  select m.* from matching as m order by {order} limit %(limit)s offset %(offset)s
) as o on true
"""

COUNTS = """
select
  (select count(*) from agents.team_runs as t where t.approval_status = 'pending') as waiting,
  (
    select r.schedule_id
    from agents.team_runs as t
    join lenses.workflow_runs as r on r.id = t.workflow_run_id
    where t.approval_status = 'pending' and r.schedule_id is not null
    order by t.created_at
    limit 1
  ) as oldest_schedule_id
"""


def _choice(value: str | None, allowed: tuple[str, ...]) -> str:
    return value if value in allowed else ""


def _query(request: Request) -> dict[str, Any]:
    """What is asked for, every part of it one of ours."""
    given = request.query_params
    number = given.get("page", "1")[:7]
    return {
        "q": given.get("q", "").strip()[:200].replace("\x00", ""),
        "status": _choice(given.get("status"), STATUSES),
        "type": _choice(given.get("type"), TYPES),
        "kind": _choice(given.get("kind"), KINDS),
        "sort": _choice(given.get("sort"), tuple(SORTS)) or "next",
        "dir": _choice(given.get("dir"), ("asc", "desc")) or "asc",
        "page": min(max(int(number), 1), MAX_PAGE) if number.isascii() and number.isdigit() else 1,
    }


def link(query: dict[str, Any], **changes: Any) -> str:
    """The address of a view of the list; defaults are left out."""
    defaults = {"sort": "next", "dir": "asc", "page": 1}
    parts = {k: v for k, v in {**query, **changes}.items() if v and defaults.get(k) != v}
    return "/?" + urlencode(parts) if parts else "/"


def _list(conn: Connection, query: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    sort = SORTS[query["sort"]].replace("o.", "m.")
    order = f"{sort} {query['dir']} nulls last, lower(m.resource), m.schedule_id"
    args = {**query, "limit": PAGE_SIZE, "offset": (query["page"] - 1) * PAGE_SIZE}
    found = conn.execute(LIST.replace("{order}", order).encode(), args).fetchall()
    total = int(found[0]["total"]) if found else 0
    return [row for row in found if row["schedule_id"] is not None], total


def observe(request: Request, conn: Connection) -> Response:
    query = _query(request)
    listed, total = _list(conn, query)
    pages = max(1, -(-total // PAGE_SIZE))
    if query["page"] > pages:
        query["page"] = pages
        listed, total = _list(conn, query)
    context = {
        "rows": listed,
        "total": total,
        "pages": pages,
        "first": (query["page"] - 1) * PAGE_SIZE + 1,
        "query": query,
        "link": lambda **changes: link(query, **changes),
        "here": link(query),
        "is_filtered": any(query[k] for k in ("q", "status", "type", "kind")),
        "counts": one(conn, COUNTS),
    }
    if is_partial(request):
        response = page(request, "_rows.html", **context)
        if request.headers.get("hx-source", "").endswith("#filter"):
            response.headers["HX-Replace-Url"] = link(query)
        return response
    return page(request, "observe.html", active="observe", **context)


def waiting(request: Request, conn: Connection) -> Response:
    """Every run that waits for the tenant's decision."""
    found = rows(
        conn,
        "select r.id, r.schedule_id, r.scheduled_for, r.created_at, r.approval_expires_at, "
        "r.context_inputs, r.trigger_mode, w.title "
        "from agents.team_runs as t "
        "join lenses.workflow_runs as r on r.id = t.workflow_run_id "
        "join lenses.workflows as w on w.id = r.workflow_id "
        "where t.approval_status = 'pending' order by t.created_at limit 200",
    )
    template = "_waiting.html" if is_partial(request) else "waiting.html"
    return page(
        request, template, active="waiting", runs=found, here="/waiting", one_schedule=False
    )


routes = [
    Route("/", reads(observe)),
    Route("/waiting", reads(waiting)),
]
