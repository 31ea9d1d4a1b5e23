"""The console as an ASGI application."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from uuid import UUID

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from lf_sql.console.database import Database, one
from lf_sql.console.handlers import reads
from lf_sql.console.pages import (
    approvals,
    builder,
    calendars,
    explain,
    gateways,
    health,
    load,
    observe,
    runs,
    schedule,
    timeline,
)
from lf_sql.console.render import HERE, page
from lf_sql.console.security import Gate, Guard, allowed_hosts
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError


class _Quiet(logging.Filter):
    """Keeps the one-time token out of the server's log."""

    def filter(self, record: logging.LogRecord) -> bool:
        return "token=" not in record.getMessage()


def find_tenant(database: Database, user_id: UUID) -> str:
    """The name of the tenant whom the console is to act as."""
    with database.reading() as conn:
        row = one(
            conn,
            "select coalesce(p.display_name, p.handle, p.user_id::text) as name "
            "from lensers.profiles as p where p.id = (select lensers.get_auth_lenser_id())",
        )
    if row is None:
        raise LfSqlError(
            f"no tenant has the user id {user_id}",
            "--as wants the user_id of a row in lensers.profiles",
        )
    return str(row["name"])


def ping(request: Request, conn: Connection) -> Response:
    """Is the database there? Asked while the banner is shown."""
    one(conn, "select 1 as one")
    return Response(status_code=204)


async def not_found(request: Request, error: Exception) -> Response:
    message = "There is no such page."
    return page(request, "error.html", status=404, active="", message=message, hint=None)


def create_app(
    database: Database,
    gate: Gate,
    *,
    tenant: str,
    host: str = "127.0.0.1",
    extra_hosts: Iterable[str] = (),
) -> Starlette:
    """The application; `gate.link` is the token of its one-time address."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        database.close()

    app = Starlette(
        routes=[
            *observe.routes,
            *schedule.routes,
            *builder.routes,
            *runs.routes,
            *approvals.routes,
            *explain.routes,
            *timeline.routes,
            *load.routes,
            *calendars.routes,
            *gateways.routes,
            *health.routes,
            Route("/ping", reads(ping)),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        middleware=[Middleware(Guard, gate=gate, hosts=allowed_hosts(host, extra_hosts))],
        exception_handlers={404: not_found},
        lifespan=lifespan,
    )
    app.state.database = database
    app.state.gate = gate
    app.state.tenant = tenant
    logging.getLogger("uvicorn.access").addFilter(_Quiet())
    return app
