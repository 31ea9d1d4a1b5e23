"""Why a server is not reached, in the user's words; without the password."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

import psycopg

from lf_sql.errors import CannotConnect
from lf_sql.trouble import kind_of_refusal


def scrub(text: str, given: Mapping[str, Any]) -> str:
    """The text without the password, in whatever form it may stand in it."""
    password = str(given.get("password") or os.environ.get("PGPASSWORD") or "")
    for form in {password, quote(password), quote(password, safe=""), unquote(password)} - {""}:
        text = text.replace(form, "********")
    return text


def connection_trouble(error: psycopg.Error, given: Mapping[str, Any]) -> CannotConnect:
    """Why there is no connection, and the way out; `given` is what was to be connected to."""
    text = scrub(" ".join(str(error).split()), given)
    state = error.sqlstate or ""
    known = [
        (r"password authentication failed|no password supplied|28P01", "check user and password"),
        (r"database \"?.*\"? does not exist", "create it first: createdb NAME, or correct --dsn"),
        (r"role \"?.*\"? does not exist", "correct the user in --dsn"),
        (
            r"no pg_hba.conf entry",
            "pg_hba.conf does not let this user in from here",
        ),
        (
            r"too many (clients|connections)|remaining connection slots",
            "the server is full: try again, or raise max_connections",
        ),
        (r"starting up|recovery mode|shutting down", "the server is not ready: try again"),
        (r"session is read-only|hot standby", "give the server that takes writes too: host=A,B"),
        (
            r"refused|No such file|could not translate|timeout|timed out|Network is unreachable"
            r"|Name or service|resolve|Is the server running",
            "no server answers there: start it, or give its address with --dsn or LF_SQL_DSN",
        ),
    ]
    hint = next(
        (hint for pattern, hint in known if re.search(pattern, f"{text} {state}")),
        "give the server's address with --dsn, LF_SQL_DSN or DATABASE_URL",
    )
    kind = kind_of_refusal(f"{text} {state}")
    text = re.sub(r"^(connection failed|connection is bad): ?", "", text)
    text = text.split(" Is the server running")[0]
    return CannotConnect(f"cannot connect: {text}", hint, kind)


def session_trouble(error: psycopg.Error, given: Mapping[str, Any]) -> CannotConnect:
    """An error before the session began: a server answers, but gave no session."""
    trouble = connection_trouble(error, given)
    if trouble.kind == "nobody":
        hint = "the server was there a moment ago: try again"
        return CannotConnect(trouble.message, hint, "server")
    return trouble
