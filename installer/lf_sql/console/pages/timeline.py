"""Timeline: who fires when over an hour, a day or a week, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import charts, names
from lf_sql.console.handlers import reads
from lf_sql.console.render import is_partial, page
from lf_sql.console.zones import viewer_zone
from lf_sql.db import Connection

PAGE_SIZE = 30
MAX_PAGE = 100_000


@dataclass(frozen=True)
class Span:
    """How much is shown: `cells` a row, and the words of `to_char` for the axis."""

    cells: int
    ticks: int
    axis: str
    begin: str  # the unit that it begins with
    length: str


SPANS = {
    "hour": Span(60, 6, "HH24:MI", "hour", "1 hour"),
    "day": Span(96, 8, "HH24:MI", "day", "1 day"),
    "week": Span(168, 7, "Dy DD Mon", "day", "7 days"),
}

# The stretch that holds the instant asked for, on the viewer's clock; its neighbours and its axis.
FRAME = """
select f.start_at, f.end_at, now() as now,
  (f.wall - %(length)s::interval) at time zone %(zone)s as before_at, f.end_at as after_at,
  to_char(f.wall, 'FMDay, FMDD FMMonth YYYY') as day, to_char(f.wall, 'HH24:MI') as clock,
  array(
    select to_char(f.wall + (i * %(length)s::interval) / %(ticks)s, %(axis)s)
    from generate_series(0, %(ticks)s - 1) as i
  ) as axis
from (
  select w.wall, w.wall at time zone %(zone)s as start_at,
    (w.wall + %(length)s::interval) at time zone %(zone)s as end_at
  from (
    select date_trunc(
      %(begin)s,
      coalesce(nullif(%(at)s, '')::timestamptz, now()) at time zone %(zone)s) as wall
  ) as w
) as f
"""

# By name; for an hour only who fires in it, the first to fire first.
BY_NAME = names.named("""
with every as (
  select s.id, 'workflow' as kind, s.id as page_id, {schedule_name} as name, s.is_active
  from lenses.workflow_schedules as s
  join lenses.workflows as w on w.id = s.workflow_id
  union all
  select c.id, 'gateway', g.id, c.operation || ' of ' || g.name, c.is_active
  from agents.gateway_crons as c
  join agents.gateways as g on g.id = c.gateway_id
),
matching as materialized (
  select * from every as e where %(q)s = '' or position(lower(%(q)s) in lower(e.name)) > 0
)
select m.*, c.total, null::bigint as slots
from (select count(*) as total from matching) as c
left join lateral (
  select * from matching
  order by lower(matching.name), matching.id limit %(limit)s offset %(offset)s
) as m on true
""")
FIRING = names.named("""
select d.schedule_id as id, d.resource_type as kind, d.slots, o.is_active,
  coalesce(o.page_id, d.schedule_id) as page_id, o.name, count(*) over () as total
from public.fn_schedules_due_between(%(start)s, %(end)s, 500) as d
join lateral (
  select s.id as page_id, {schedule_name} as name, s.is_active
  from lenses.workflow_schedules as s
  join lenses.workflows as w on w.id = s.workflow_id
  where s.id = d.schedule_id
  union all
  select g.id, c.operation || ' of ' || g.name, c.is_active
  from agents.gateway_crons as c
  join agents.gateways as g on g.id = c.gateway_id
  where c.id = d.schedule_id
) as o on true
where %(q)s = '' or position(lower(%(q)s) in lower(o.name)) > 0
order by d.first_at, lower(o.name), d.schedule_id
limit %(limit)s offset %(offset)s
""")

PAST = """
select x.schedule_id as id, x.run_at as at, x.run_at_last as until, x.slot_count as slots, x.status
from lenses.schedule_slots as x
where x.schedule_id = any(%(ids)s) and x.run_at < %(end)s and x.run_at_last >= %(start)s
union all
select r.gateway_cron_id, r.scheduled_for, r.scheduled_for, 1,
  case r.status when 'completed' then 'SUCCESS' when 'failed' then 'FAILED' else 'ENQUEUED' end
from agents.gateway_cron_runs as r
where r.gateway_cron_id = any(%(gateways)s)
  and r.scheduled_for >= %(start)s and r.scheduled_for < %(end)s
"""
# What comes, as the preview has it; of gateways, and where the preview lists no more, the slots of
# the rule, cell by cell.
COMING = """
with previewed as materialized (
  select i.id, p.tick_at as at, p.decision
  from unnest(%(flows)s::uuid[]) as i (id)
  cross join lateral public.fn_preview_schedule_ticks(i.id, %(cells)s, %(end)s - now()) as p
  where %(end)s > now()
),
open as materialized (
  select i.id, max(p.at) + interval '1 microsecond' as start_at
  from unnest(%(active)s::uuid[]) as i (id)
  left join previewed as p on p.id = i.id
  group by i.id
  having count(p.at) = %(cells)s or i.id <> all(%(flows)s::uuid[])
)
select p.id, p.at, p.decision
from previewed as p
where p.at >= %(start)s and p.at < %(end)s
union all
select o.id, g.slot_at, 'dispatch'
from open as o
cross join generate_series(0, %(cells)s - 1) as k
cross join lateral (
  select greatest(%(start)s + k * c.width, now(), o.start_at) as start_at,
    %(start)s + (k + 1) * c.width as end_at
  from (select (%(end)s - %(start)s) / %(cells)s as width) as c
) as f
cross join lateral public.fn_get_slots(
  array[o.id], least(f.start_at, f.end_at - interval '1 microsecond'), f.end_at, 60) as g
where f.start_at < f.end_at
"""


def _query(request: Request) -> dict[str, Any]:
    given = request.query_params
    number = given.get("page", "1")[:7]
    return {
        "span": given.get("span") if given.get("span") in SPANS else "day",
        "at": given.get("at", "")[:40].replace("\x00", ""),
        "q": given.get("q", "").strip()[:200].replace("\x00", ""),
        "page": min(max(int(number), 1), MAX_PAGE) if number.isascii() and number.isdigit() else 1,
    }


def link(query: dict[str, Any], **changes: Any) -> str:
    parts = {k: v for k, v in {**query, **changes}.items() if v and (k, v) != ("page", 1)}
    return f"/timeline?{urlencode(parts)}"


def timeline(request: Request, conn: Connection) -> Response:
    query, zone = _query(request), viewer_zone(request, conn)
    span = SPANS[query["span"]]
    frame = conn.execute(FRAME.encode(), {**vars(span), "zone": zone, "at": query["at"]}).fetchone()
    assert frame is not None
    start, end = frame["start_at"], frame["end_at"]
    listed = conn.execute(
        (FIRING if query["span"] == "hour" else BY_NAME).encode(),
        {
            "q": query["q"],
            "start": start,
            "end": end,
            "limit": PAGE_SIZE,
            "offset": (query["page"] - 1) * PAGE_SIZE,
        },
    ).fetchall()
    shown = [row for row in listed if row["id"] is not None]
    marks = _marks(conn, shown, span, start, end)
    total = int(listed[0]["total"]) if listed else 0
    context = {
        "rows": [(row, marks[row["id"]]) for row in shown],
        "frame": frame,
        "span": query["span"],
        "cell_count": span.cells,
        "spans": tuple(SPANS),
        "now_at": 100 * ((frame["now"] - start) / (end - start)),
        "total": total,
        "pages": max(1, -(-total // PAGE_SIZE)),
        "first": (query["page"] - 1) * PAGE_SIZE + 1,
        "query": query,
        "link": lambda **changes: link(query, **changes),
        "zone": zone,
    }
    template = "_timeline.html" if is_partial(request) else "timeline.html"
    response = page(request, template, active="timeline", **context)
    if is_partial(request):
        response.headers["HX-Replace-Url"] = link(query)
    return response


def _marks(
    conn: Connection, shown: list[dict[str, Any]], span: Span, start: datetime, end: datetime
) -> dict[Any, list[charts.Cell]]:
    """A row's cells that hold something: what was, by the ledger, and what comes."""
    active = [row for row in shown if row["is_active"]]
    args = {
        "ids": [row["id"] for row in shown if row["kind"] == "workflow"],
        "gateways": [row["id"] for row in shown if row["kind"] == "gateway"],
        "flows": [row["id"] for row in active if row["kind"] == "workflow"],
        "active": [row["id"] for row in active],
        "cells": span.cells,
        "start": start,
        "end": end,
    }
    past = conn.execute(PAST.encode(), args).fetchall()
    coming = conn.execute(COMING.encode(), args).fetchall()
    found: dict[Any, list[charts.Cell]] = {}
    for row in shown:
        was = [each for each in past if each["id"] == row["id"]]
        comes = [each for each in coming if each["id"] == row["id"]]
        found[row["id"]] = charts.cells(was, comes, start, end, span.cells)
    return found


routes = [Route("/timeline", reads(timeline))]
