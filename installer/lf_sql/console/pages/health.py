"""Health: what `lf-sql schedule health` says to the tenant."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console.database import rows
from lf_sql.console.handlers import reads
from lf_sql.console.render import is_partial, page
from lf_sql.db import Connection


def health(request: Request, conn: Connection) -> Response:
    lines = rows(conn, "select h.* from public.fn_schedule_health() as h")
    context: dict[str, Any] = {
        "general": [line for line in lines if line["schedule_id"] is None],
        "findings": [line for line in lines if line["schedule_id"] is not None][:500],
        "total": sum(line["schedule_id"] is not None for line in lines),
        "is_bad": any(line["state"] == "bad" for line in lines),
    }
    template = "_health.html" if is_partial(request) else "health.html"
    return page(request, template, active="health", **context)


routes = [Route("/health", reads(health))]
