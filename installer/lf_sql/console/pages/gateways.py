"""Gateways and their crons."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console.database import one, rows
from lf_sql.console.form import Form, parsed
from lf_sql.console.handlers import reads, writes
from lf_sql.console.render import done, is_partial, page
from lf_sql.db import Connection

OPERATIONS = ("capability_refresh", "health_probe", "maintenance_window")

LIST = """
select g.*, c.total, c.active, c.next_run_at, c.last_run_at
from public.fn_get_gateways() as g
cross join lateral (
  select count(*) as total, count(*) filter (where x.is_active) as active,
    min(x.next_run_at) filter (where x.is_active) as next_run_at, max(x.last_run_at) as last_run_at
  from agents.gateway_crons as x
  where x.gateway_id = g.id
) as c
"""


def listing(request: Request, conn: Connection) -> Response:
    template = "_gateways.html" if is_partial(request) else "gateways.html"
    return page(request, template, active="gateways", gateways=rows(conn, LIST))


def show(request: Request, conn: Connection) -> Response:
    gateway_id = request.path_params["id"]
    gateway = one(conn, "select g.* from public.fn_get_gateways() as g where g.id = %s", gateway_id)
    if gateway is None:
        message = "There is no gateway of that id that is yours."
        return page(request, "error.html", status=404, active="", message=message, hint=None)
    context: dict[str, Any] = {
        "g": gateway,
        "crons": rows(
            conn,
            "select c.*, public.fn_cron_describe(c.cron_expr) as english "
            "from public.fn_gateway_cron_list(%s::uuid) as c",
            gateway_id,
        ),
        "runs": rows(
            conn, "select r.* from public.fn_get_gateway_cron_runs(%s, 20) as r", gateway_id
        ),
        "operations": OPERATIONS,
    }
    is_runs = request.query_params.get("part") == "runs"
    part = "_gateway_runs.html" if is_runs else "_gateway.html"
    template = part if is_partial(request) else "gateway.html"
    return page(request, template, active="gateways", **context)


def save(request: Request, conn: Connection, form: Form) -> Response:
    found = one(
        conn,
        "select g.id from public.fn_upsert_gateway(%s, %s, %s) as g",
        request.path_params.get("id"),
        form.get("name", ""),
        form.get("endpoint", ""),
    )
    if "id" in request.path_params:
        return done("Saved.")
    return done("Saved.", go=f"/gateways/{found['id'] if found else ''}")


def delete(request: Request, conn: Connection, form: Form) -> Response:
    one(conn, "select public.fn_delete_gateway(%s::uuid)", request.path_params["id"])
    return done("Deleted.", go="/gateways")


def _payload(form: Form) -> str:
    return json.dumps(parsed(form.text("payload") or "{}", "payload"))


def add(request: Request, conn: Connection, form: Form) -> Response:
    one(
        conn,
        "select public.fn_gateway_cron_add(%s, %s, %s, %s, %s::jsonb)",
        request.path_params["id"],
        form.get("operation", ""),
        form.get("cron_expr", ""),
        form.get("timezone") or "UTC",
        _payload(form),
    )
    return done("Added.")


NAME = """
select c.operation || ' of ' || g.name as name
from agents.gateway_crons as c
join agents.gateways as g on g.id = c.gateway_id
where c.id = %s
"""


def _name(request: Request, conn: Connection) -> str:
    found = one(conn, NAME, request.path_params["id"])
    return str(found["name"]).replace("_", " ") if found else "cron"


def edit(request: Request, conn: Connection, form: Form) -> Response:
    one(
        conn,
        "select public.fn_gateway_cron_update(%s, %s, %s, %s, %s::jsonb)",
        request.path_params["id"],
        form.get("operation", ""),
        form.get("cron_expr", ""),
        form.get("timezone") or "UTC",
        _payload(form),
    )
    return done(f"Saved “{_name(request, conn)}”.")


def switch(request: Request, conn: Connection, form: Form) -> Response:
    cron_id, is_active = request.path_params["id"], form.get("is_active") == "true"
    one(
        conn,
        "select public.fn_gateway_cron_update(%s, p_is_active => %s)",
        cron_id,
        is_active,
    )
    word, back = ("on", "false") if is_active else ("off", "true")
    undo = (f"/gateway-crons/{cron_id}/switch", {"is_active": back})
    return done(f"Switched {word} “{_name(request, conn)}”.", undo=undo)


def run_now(request: Request, conn: Connection, form: Form) -> Response:
    one(conn, "select public.fn_gateway_cron_run(%s::uuid)", request.path_params["id"])
    return done(f"A run of “{_name(request, conn)}” is made.")


def remove(request: Request, conn: Connection, form: Form) -> Response:
    name = _name(request, conn)
    one(conn, "select public.fn_gateway_cron_remove(%s::uuid)", request.path_params["id"])
    return done(f"Removed “{name}”.")


routes = [
    Route("/gateways", reads(listing)),
    Route("/gateways/save", writes(save), methods=["POST"]),
    Route("/gateways/{id:uuid}", reads(show)),
    Route("/gateways/{id:uuid}/save", writes(save), methods=["POST"]),
    Route("/gateways/{id:uuid}/delete", writes(delete), methods=["POST"]),
    Route("/gateways/{id:uuid}/crons", writes(add), methods=["POST"]),
    Route("/gateway-crons/{id:uuid}/save", writes(edit), methods=["POST"]),
    Route("/gateway-crons/{id:uuid}/switch", writes(switch), methods=["POST"]),
    Route("/gateway-crons/{id:uuid}/run", writes(run_now), methods=["POST"]),
    Route("/gateway-crons/{id:uuid}/remove", writes(remove), methods=["POST"]),
]
