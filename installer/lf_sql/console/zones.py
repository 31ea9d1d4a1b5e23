"""Time zones: those to suggest, and the viewer's own."""

from __future__ import annotations

from starlette.requests import Request

from lf_sql.console.database import rows
from lf_sql.db import Connection

NAMES = (
    "select z.name from pg_catalog.pg_timezone_names as z "
    "where z.name = 'UTC' or z.name ~ '^(?!Etc/|SystemV/)[A-Z][A-Za-z_]+/' order by z.name"
)


def known_zones(request: Request, conn: Connection) -> list[str]:
    """The zones to suggest: asked once a process, since the server reads 600 files for it."""
    state = request.app.state
    if not hasattr(state, "zones"):
        state.zones = [row["name"] for row in rows(conn, NAMES)]
    zones: list[str] = state.zones
    return zones


def viewer_zone(request: Request, conn: Connection) -> str:
    """The zone that the page's script has put into a cookie, if this server knows it."""
    zone = request.cookies.get("viewer_zone", "UTC")
    return zone if zone in known_zones(request, conn) else "UTC"
