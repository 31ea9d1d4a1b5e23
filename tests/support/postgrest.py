"""A stand-in for PostgREST, for tests with the real clients: /rpc/NAME by its documented rules, nothing else of it.

One transaction a request, as authenticator becoming the role of the JWT; read-only for GET and for functions that are
not VOLATILE; arguments by name; SQLSTATE to HTTP status."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import psycopg
import uvicorn
from psycopg import sql
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

SECRET = b"a secret of the tests alone, 32+ bytes"
FUNCTIONS = """
select p.provolatile <> 'v' as is_reading, p.proretset as is_set,
  p.prorettype = 'void'::regtype as is_void, p.pronargs - p.pronargdefaults as wanted,
  coalesce(p.proargnames[1:p.pronargs], '{}') as names,
  array(select format_type(t, null) from unnest(p.proargtypes::oid[]) as t) as types
from pg_proc as p where p.pronamespace = 'public'::regnamespace and p.proname = %s and p.prokind = 'f'
"""
STATUS = {
    "42501": 403, "23503": 409, "23505": 409, "25006": 405, "42883": 404, "42P01": 404, "P0001": 400,
    "22023": 400, "57P01": 503, "21000": 500,
}  # fmt: skip
CLASSES = {"08": 503, "09": 500, "0L": 403, "0P": 403, "25": 500, "28": 403, "2D": 500, "38": 500,
           "39": 500, "3B": 500, "40": 500, "53": 503, "54": 500, "55": 500, "57": 500, "58": 500,
           "F0": 500, "HV": 500, "P0": 500, "XX": 500}  # fmt: skip


def status_of(state: str, is_anonymous: bool) -> int:
    if state == "42501" and is_anonymous:
        return 401
    if state.startswith("PT") and state[2:].isdigit():
        return int(state[2:])
    return STATUS.get(state, CLASSES.get(state[:2], 400))


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signature(text: str) -> str:
    return encoded(hmac.new(SECRET, text.encode(), hashlib.sha256).digest())


def token(claims: Mapping[str, Any]) -> str:
    """A JWT (HS256) of these claims, an hour long."""
    body = {"exp": int(time.time()) + 3600, **claims}
    text = ".".join(encoded(json.dumps(part).encode()) for part in ({"alg": "HS256"}, body))
    return f"{text}.{signature(text)}"


class Refused(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.response = JSONResponse(
            {"code": code, "message": message, "details": None, "hint": None}, status
        )


def claims_of(request: Request) -> dict[str, Any]:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if not given or kind.lower() != "bearer":
        return {"role": "anon"}
    text, _, signed = given.rpartition(".")
    if not hmac.compare_digest(signature(text), signed):
        raise Refused(401, "PGRST301", "JWSError JWSInvalidSignature")
    body = text.partition(".")[2]
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    if claims["exp"] < time.time():
        raise Refused(401, "PGRST303", "JWT expired")
    return {"role": "anon", **claims}


def select_call(conn: psycopg.Connection[Any], name: str, arguments: Mapping[str, Any]) -> Any:
    """The one function of that name that takes these names, and all that it wants."""
    fitting = [
        f
        for f in conn.execute(FUNCTIONS, [name]).fetchall()
        if set(arguments) <= set(f.names) and set(f.names[: f.wanted]) <= set(arguments)
    ]
    if len(fitting) != 1:
        known = ", ".join(sorted(arguments)) or "no parameters"
        code, status = ("PGRST203", 300) if fitting else ("PGRST202", 404)
        raise Refused(status, code, f"{len(fitting)} functions public.{name} with {known}")
    return fitting[0]


def answer(conn: psycopg.Connection[Any], request: Request, arguments: dict[str, Any]) -> Response:
    name = request.path_params["name"]
    claims = claims_of(request)
    function = select_call(conn, name, arguments)
    is_reading = function.is_reading or request.method == "GET"
    conn.execute("set transaction read only" if is_reading else "set transaction read write")
    settings = {
        "search_path": '"public"',
        "role": claims["role"],
        "request.jwt.claims": json.dumps(claims),
        "request.method": request.method,
        "request.path": request.url.path,
    }
    for setting, value in settings.items():
        conn.execute("select set_config(%s, %s, true)", [setting, value])
    types = dict(zip(function.names, function.types, strict=True))
    record = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(a), sql.SQL(types[a])) for a in arguments
    )
    named = sql.SQL(", ").join(
        sql.SQL("{} := pgrst_body.{}").format(sql.Identifier(a), sql.Identifier(a))
        for a in arguments
    )
    body = sql.SQL("lateral (select * from json_to_record(p.json_data) as _({})) pgrst_body,")
    statement = sql.SQL(
        "select coalesce(json_agg(pgrst_call), '[]') as result "
        "from (select %s::json as json_data) p, {} lateral public.{}({}) pgrst_call"
    ).format(body.format(record) if arguments else sql.SQL(""), sql.Identifier(name), named)
    rows = conn.execute(statement, [json.dumps(arguments)]).fetchone().result  # type: ignore[union-attr]
    if function.is_void:
        return Response(status_code=204)
    if "application/vnd.pgrst.object" in request.headers.get("accept", "") and function.is_set:
        if len(rows) != 1:
            raise Refused(406, "PGRST116", "Cannot coerce the result to a single JSON object")
        return JSONResponse(rows[0])
    return JSONResponse(rows if function.is_set else rows[0])


def rpc(request: Request, dsn: str, body: bytes) -> Response:
    """In one transaction, which an error undoes."""
    for header in ("content-profile", "accept-profile"):
        if request.headers.get(header, "public") != "public":
            return Refused(
                406, "PGRST106", "The schema must be one of the following: public"
            ).response
    is_anonymous = "authorization" not in request.headers
    try:
        arguments = (
            dict(request.query_params) if request.method == "GET" else json.loads(body or b"{}")
        )
        with psycopg.connect(dsn, row_factory=psycopg.rows.namedtuple_row) as conn:
            return answer(conn, request, arguments)
    except Refused as refused:
        return refused.response
    except psycopg.Error as error:
        state = error.sqlstate or "XX000"
        told = error.diag
        return JSONResponse(
            {
                "code": state,
                "message": told.message_primary,
                "details": told.message_detail,
                "hint": told.message_hint,
            },
            status_of(state, is_anonymous),
        )


@contextmanager
def serving(dsn: str) -> Iterator[str]:
    """The stand-in over a database, `dsn` of authenticator's; gives its URL."""

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(rpc, request, dsn, await request.body())

    paths = ("/rpc/{name}", "/rest/v1/rpc/{name}")
    app = Starlette(routes=[Route(path, endpoint, methods=["GET", "POST"]) for path in paths])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
