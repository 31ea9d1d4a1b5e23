"""How a request becomes a transaction: pages read, actions write, errors stay readable."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

import psycopg
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from lf_sql import db, older
from lf_sql.console.database import DatabaseGoneError
from lf_sql.console.form import Form, UnfitError
from lf_sql.console.render import is_partial, page, refused
from lf_sql.db import Connection

MAX_FIELDS = 100
log = logging.getLogger("lf_sql.console")

# Errors about the user's input; any other error is the server's own trouble.
ANSWERS = ("22", "23", "40001", "42501")

Endpoint = Callable[[Request], Awaitable[Response]]


def reads(handler: Callable[[Request, Connection], Response]) -> Endpoint:
    """A page: a read-only transaction as the tenant."""

    def work(request: Request) -> Response:
        with request.app.state.database.reading() as conn:
            return handler(request, conn)

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(_guarded, work, request)

    return endpoint


def writes(handler: Callable[[Request, Connection, Form], Response]) -> Endpoint:
    """An action: a transaction as the tenant, committed when the handler returns."""
    return _posted(handler, writing=True)


def asks(handler: Callable[[Request, Connection, Form], Response]) -> Endpoint:
    """A question that comes as a form: a read-only transaction as the tenant."""
    return _posted(handler, writing=False)


def _posted(handler: Callable[[Request, Connection, Form], Response], *, writing: bool) -> Endpoint:
    def work(request: Request, form: Form) -> Response:
        database = request.app.state.database
        with database.writing() if writing else database.reading() as conn:
            return handler(request, conn, form)

    async def endpoint(request: Request) -> Response:
        try:
            body = (await request.body()).decode("utf-8", "replace")
        except ClientDisconnect:  # or the body is larger than what is read
            return PlainTextResponse("The form is too large.", 413)
        try:
            pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FIELDS)
        except ValueError:
            return PlainTextResponse("The form has too many fields.", 413)
        form = Form([(name, value.replace("\x00", "")) for name, value in pairs])
        return await run_in_threadpool(_guarded, work, request, form)

    return endpoint


def is_answer(error: psycopg.Error) -> bool:
    """Does the error tell the user what to change?"""
    return (error.sqlstate or "").startswith(ANSWERS)


def _guarded(work: Callable[..., Response], request: Request, *args: Form) -> Response:
    request.state.started = time.monotonic()
    try:
        return work(request, *args)
    except DatabaseGoneError:
        if is_partial(request):
            return Response(status_code=503, headers={"HX-Reswap": "none"})
        return page(request, "gone.html", status=503, active="")
    except UnfitError as error:
        return refused(error.message, error.hint, error.field)
    except psycopg.Error as error:
        message, way_out = db.describe(error)
        hint = " ".join(filter(None, (error.diag.message_detail, error.diag.message_hint)))
        if older.said(error):
            hint = way_out or ""
        if not is_answer(error):
            log.error("%s %s: %s", request.method, request.url.path, message)
        if is_partial(request):
            return refused(message, hint, error.diag.column_name or "")
        status = 404 if error.sqlstate == "42501" else 500
        return page(request, "error.html", status=status, active="", message=message, hint=hint)
