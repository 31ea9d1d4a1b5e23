"""Why: what the database says about one minute of a schedule."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import names
from lf_sql.console.database import one
from lf_sql.console.handlers import reads
from lf_sql.console.render import is_partial, page
from lf_sql.console.zones import viewer_zone
from lf_sql.db import Connection

VERDICTS = {
    "fired": "good",
    "fires": "good",
    "skipped": "skip",
    "would_skip": "skip",
    "failed": "bad",
    "not_recorded": "bad",
    "waiting": "wait",
    "would_wait": "wait",
    "paused": "wait",
    "frozen": "wait",
}

# An instant as it is, or a wall time of the viewer's; without either, now.
EXPLAIN = """
select public.fn_explain_schedule(%s, coalesce(
  nullif(%s, '')::timestamptz, nullif(%s, '')::timestamp at time zone %s, now())) as answer
"""


def explain(request: Request, conn: Connection) -> Response:
    schedule_id, given = request.path_params["id"], request.query_params
    at, wall = (given.get(key, "")[:40].replace("\x00", "") for key in ("at", "wall"))
    found = one(conn, EXPLAIN, schedule_id, at, wall, viewer_zone(request, conn))
    answer = found["answer"] if found else {}
    template = "_explain.html" if is_partial(request) else "explain.html"
    return page(
        request,
        template,
        active="observe",
        id=schedule_id,
        name=names.of_schedule(conn, schedule_id),
        a=answer,
        tone=VERDICTS.get(answer["verdict"], "skip"),
    )


routes = [Route("/schedules/{id:uuid}/explain", reads(explain))]
