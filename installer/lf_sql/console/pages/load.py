"""Load: when the tenant's schedules fire, to help spread them."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import charts
from lf_sql.console.database import rows
from lf_sql.console.handlers import reads
from lf_sql.console.render import is_partial, page
from lf_sql.console.zones import viewer_zone
from lf_sql.db import Connection


def load(request: Request, conn: Connection) -> Response:
    zone = viewer_zone(request, conn)
    cells = rows(conn, "select l.* from public.fn_schedule_load(%s::text) as l", zone)
    template = "_load.html" if is_partial(request) else "load.html"
    return page(request, template, active="load", heat=charts.heat(cells), zone=zone)


routes = [Route("/load", reads(load))]
