"""Turns a command's exit into its run's verdict: a result or a cause of failure, and credits."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import psycopg

from lf_sql import db
from lf_sql.command import Ended
from lf_sql.executor.failures import Verdict, countable
from lf_sql.trouble import kind_of

RESULT_MOST = 16 * 1024 * 1024  # bytes of a command's output that can become a result

# The database reads the text, as it will when it stores it.
READ = (
    "select case pg_catalog.jsonb_typeof(v.result -> 'spent_credits') when 'number' "
    "then (v.result -> 'spent_credits')::numeric end as spent "
    "from (select %s::jsonb as result) as v"
)


def judge(ask: Callable[..., list[dict[str, Any]]], timeout: float | None, ended: Ended) -> Verdict:
    """`ask` runs one statement for as long as it takes; `timeout` is the run's, in seconds."""
    text, trouble = _text(ended)
    spent = Decimal(0)
    if text.strip():
        try:
            (row,) = ask(READ, [text])
            spent = row["spent"] or Decimal(0)
            if spent < 0:
                spent, trouble = Decimal(0), f"spent_credits is {spent}: it must be 0 or more"
        except psycopg.Error as error:
            if kind_of(error) != "run":
                raise
            trouble = _unreadable(error)
    if ended.is_timed_out:
        return Verdict("timeout", f"no end after {(timeout or 0) * 1000:.0f} ms", spent)
    if ended.code:
        said = f"exit code {ended.code}: {ended.error}".rstrip(": ")
        return Verdict("provider_error", said, spent)
    if trouble:
        return Verdict("contract_violated", trouble, spent)
    return Verdict(None, text if text.strip() else "", spent)


def spent_by(ended: Ended) -> Decimal:
    """What a command that was ended had printed of it, where that is whole."""
    with suppress(ValueError, ArithmeticError, RecursionError):
        result = json.loads(ended.output, parse_float=Decimal, parse_int=Decimal)
        spent = result.get("spent_credits") if isinstance(result, dict) else None
        if isinstance(spent, Decimal) and spent > 0:
            return countable(spent)
    return Decimal(0)


def _text(ended: Ended) -> tuple[str, str | None]:
    """The output as text, and why it can be no result."""
    if ended.is_too_long:
        return "", f"result is longer than {RESULT_MOST} bytes"
    try:
        text = ended.output.decode()
    except UnicodeDecodeError:
        return "", "result not storable: it is no UTF-8 text"
    if "\0" in text:
        return "", "result not storable: it is no UTF-8 text"
    return text, None


def _unreadable(error: psycopg.Error) -> str:
    if isinstance(error, psycopg.errors.InvalidTextRepresentation):
        return f"result is no JSON: {error.diag.message_detail or error.diag.message_primary}"
    return f"result not storable: {db.describe(error)[0]}"
