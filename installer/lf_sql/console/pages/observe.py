"""Observe: every schedule of the tenant, workflow and gateway alike."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql import newest_run
from lf_sql.console import names
from lf_sql.console.database import one
from lf_sql.console.handlers import reads
from lf_sql.console.render import is_partial, page
from lf_sql.db import Connection

PAGE_SIZE = 50
MAX_PAGE = 100_000

# Sort keys that a client may name, and what they are in SQL.
SORTS = {
    "name": "lower(m.name)",
    "type": "m.type",
    "expression": "m.expression",
    "timezone": "m.timezone",
    "status": "m.status",
    "next": "m.next_run_at",
    "last": "m.last_run_at",  # when it was made
}
STATUSES = ("enabled", "paused", "disabled", "finished")
TYPES = ("cron", "interval", "once")
KINDS = ("workflow", "gateway")

# The page that the filter and the order ask for; and, where some rows are on display already, those
# rows as they stand, so that nothing moves while someone looks.
LIST = names.named(f"""
with every as materialized (
  select o.*, {{observed_name}} as name
  from public.fn_observe_schedules() as o
),
matching as (
  select m.*
  from every as m
  where (%(status)s = '' or m.status = %(status)s)
    and (%(type)s = '' or m.type = %(type)s)
    and (%(kind)s = '' or m.resource_type = %(kind)s)
    and (
      %(q)s = ''
      or position(lower(%(q)s) in lower(concat_ws(
        ' ', m.resource, m.label, m.expression, m.description, m.timezone, m.last_status, m.assignee
      ))) > 0
    )
),
wanted as (
  select array(
    select m.schedule_id from matching as m order by {{order}} limit %(limit)s offset %(offset)s
  ) as ids, (select count(*) from matching) as total
)
select
  e.*, k.id, r.trigger_mode, coalesce({newest_run.MOVED}, e.last_run_at) as moved_at,
  w.total, w.ids <> coalesce(%(keep)s::uuid[], w.ids) as is_moved
from wanted as w
left join lateral unnest(coalesce(%(keep)s::uuid[], w.ids)) with ordinality as k (id, place) on true
left join every as e on e.schedule_id = k.id
left join lenses.workflow_schedules as s on s.id = e.schedule_id
{newest_run.JOIN}
order by k.place
""")  # noqa: S608

WAITING = (
    "select count(*) as waiting from agents.team_runs as t where t.approval_status = 'pending'"
)


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


def _kept(request: Request) -> list[str] | None:
    """The ids of the rows on display, in their order; None for a list that is requested again."""
    kept = []
    for text in request.query_params.get("keep", "").split(",")[:PAGE_SIZE]:
        try:
            kept.append(str(UUID(text)))
        except ValueError:
            return None
    return kept


def observe(request: Request, conn: Connection) -> Response:
    query, kept = _query(request), _kept(request)
    order = f"{SORTS[query['sort']]} {query['dir']} nulls last, lower(m.name), m.schedule_id"

    def listed() -> list[dict[str, Any]]:
        offset = (query["page"] - 1) * PAGE_SIZE
        args = {**query, "keep": kept, "limit": PAGE_SIZE, "offset": offset}
        text = LIST.replace("{order}", order)
        return conn.execute(text.encode(), args).fetchall()

    found = listed()
    total = int(found[0]["total"])
    pages = max(1, -(-total // PAGE_SIZE))
    if query["page"] > pages and kept is None:
        query["page"] = pages
        found = listed()
    shown = [row for row in found if row["id"] is not None]
    counts = one(conn, WAITING)
    context = {
        "rows": shown,
        "keep": ",".join(str(row["id"]) for row in shown),
        "is_moved": bool(found[0]["is_moved"]),
        "total": total,
        "pages": pages,
        "first": (query["page"] - 1) * PAGE_SIZE + 1,
        "query": query,
        "link": lambda **changes: link(query, **changes),
        "here": link(query),
        "is_filtered": any(query[k] for k in ("q", "status", "type", "kind")),
        "waiting": counts["waiting"] if counts else 0,
    }
    if is_partial(request):
        response = page(request, "_rows.html", **context)
        if request.headers.get("hx-source", "").endswith("#filter"):
            response.headers["HX-Replace-Url"] = link(query)
        return response
    return page(request, "observe.html", active="observe", **context)


routes = [Route("/", reads(observe))]
