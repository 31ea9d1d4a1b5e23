"""How a request becomes a transaction: pages read, actions write, errors stay readable."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

import psycopg
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from lf_sql import db
from lf_sql.console.database import DatabaseGoneError
from lf_sql.console.render import is_partial, page, refused
from lf_sql.db import Connection

MAX_FIELDS = 100
log = logging.getLogger("lf_sql.console")

# What the database says to the user about his input; anything else is trouble of the server's own.
ANSWERS = ("22", "23", "40001", "42501")

# Which field a message of the database is about: the first pattern that is found in it.
FIELDS = (
    (r"(approval|retry|failure|queue)_policy", r"\1_policy"),
    (r"inputs_rotation", "rotation"),
    (r"pre_dispatch_condition|filter", "condition"),
    (r"inputs_template", "inputs"),
    (r"type json|payload|rules", "json"),
    (r"(start|end|run)_at", r"\1_at"),
    (r"time ?zone", "timezone"),
    (r"cron|frequency|day_of_month|\bdays?\b.*choice", "cron_expr"),
    (r"jitter|type integer", "jitter_ms"),
    (r"interval|type bigint", "every"),
    (r"on_missed", "missed"),
    (r"type date|dates", "dates"),
    (r"calendar.*name|name.*calendar", "name"),
    (r"calendar", "calendar_id"),
    (r"assignee", "assignee"),
    (r"version", "workflow_version"),
    (r"workflow|title", "workflow_id"),
    (r"operation", "operation"),
    (r"endpoint", "endpoint"),
    (r"name", "name"),
    (r"paused_until|type timestamp", "until"),
)

Endpoint = Callable[[Request], Awaitable[Response]]


class UnfitError(Exception):
    """A field of a form that does not reach the database: which, what is wrong, and the way out."""

    def __init__(self, field: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.field, self.message, self.hint = field, message, hint


class Form(dict[str, str]):
    """The fields of a form: the last value of each, blanks cut off; lists by `many`."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        super().__init__((name, value.strip()) for name, value in pairs)
        self._pairs = pairs

    def many(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key == name]

    def text(self, name: str) -> str | None:
        """The field, NULL where it is left empty."""
        return self.get(name) or None


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
        except ClientDisconnect:  # or more of it than is read
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


def field_of(message: str) -> str:
    """The field of a form that an error speaks of; empty where it is the form as a whole."""
    for pattern, name in FIELDS:
        if found := re.search(pattern, message, re.I):
            return found.expand(name)
    return ""


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
        message, _ = db.describe(error)
        hint = " ".join(filter(None, (error.diag.message_detail, error.diag.message_hint)))
        if not is_answer(error):
            log.error("%s %s: %s", request.method, request.url.path, message)
        if is_partial(request):
            return refused(message, hint, field_of(message))
        status = 404 if error.sqlstate == "42501" else 500
        return page(request, "error.html", status=status, active="", message=message, hint=hint)
