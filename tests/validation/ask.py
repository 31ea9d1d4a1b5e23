"""How the tables of this folder ask the database."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import psycopg
import pytest

MISSING = object()
Json = Any


def passes(conn: psycopg.Connection, filter_: Json, payload: Json) -> bool:
    """What fn_eval_filter says; both arguments are Python values, or JSON text as RawJson."""
    row = conn.execute(
        "select automation.fn_eval_filter(%s::jsonb, %s::jsonb)", (text(filter_), text(payload))
    ).fetchone()
    assert row is not None
    return row[0]


class RawJson(str):
    """JSON written out, where Python's own values would lose digits or levels."""

    __slots__ = ()


def text(value: Json) -> str | None:
    if value is None or isinstance(value, RawJson):
        return value
    return json.dumps(value, ensure_ascii=False)


def under(value: Json) -> dict[str, Json]:
    """A payload with the value at /v, or without it."""
    return {} if value is MISSING else {"v": value}


def accepted(conn: psycopg.Connection, call: str, *args: Any) -> None:
    conn.execute(f"select {call}", args)


def refused(conn: psycopg.Connection, call: str, *args: Any, naming: Iterable[str] = ()) -> str:
    """Asserts 22023 with a hint, each of naming in the message; returns the message."""
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(f"select {call}", args)
    error = caught.value
    assert error.sqlstate == "22023", f"{error.sqlstate}: {error}"
    message = error.diag.message_primary or ""
    for word in naming:
        assert word in message, message
    assert error.diag.message_hint, f"no hint: {message}"
    assert len(message) < 600, "a message must not repeat its input whole"
    return message


CHECK_FILTER = "automation.fn_check_filter(%s::jsonb)"
EVAL_FILTER = "automation.fn_eval_filter(%s::jsonb, '{}')"


def filter_accepted(conn: psycopg.Connection, filter_: Json) -> None:
    for call in (CHECK_FILTER, EVAL_FILTER):
        accepted(conn, call, text(filter_))


def filter_refused(conn: psycopg.Connection, filter_: Json, *naming: str) -> None:
    """Refused for storing and at evaluation alike."""
    for call in (CHECK_FILTER, EVAL_FILTER):
        refused(conn, call, text(filter_), naming=naming)
