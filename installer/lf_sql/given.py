"""What people write on a command line, as values: durations, instants, JSON; completion."""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

UNITS = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "d": 86400,
    "w": 604800,
    "y": 31_622_400,
}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w|y)")


def duration(text: str) -> timedelta | None:
    """`90m`, `1h30m`, `2 d`; None where it is none, the longest there is where it is longer."""
    text = text.strip().lower()
    rest = _PART.sub("", text).strip()
    if not text or rest:
        return None
    try:
        return timedelta(seconds=sum(float(m[1]) * UNITS[m[2]] for m in _PART.finditer(text)))
    except OverflowError:
        return timedelta.max


def is_utf8(text: str) -> bool:
    """Whether it can be sent: bytes of an argument that are no UTF-8 arrive as lone surrogates."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


class Text(click.types.StringParamType):
    """Text that the database can take; the type of every option and argument without another."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        if not is_utf8(text):
            what = "it" if param and param.name == "dsn" else repr(text)  # a DSN has a password
            self.fail(f"{what} is not UTF-8: write it in UTF-8", param, ctx)
        return text


class Duration(click.ParamType):
    """Milliseconds, written as 6h, 90m, 1h30m, 30s."""

    name = "duration"

    def __init__(self, most: str = "10y") -> None:
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = duration(str(value))
        if found is None:
            self.fail(f"{value!r} is no duration: write 6h, 90m, 1h30m or 30s", param, ctx)
        if found > duration(self.most):  # type: ignore[operator]
            self.fail(f"{value} is too long: at most {self.most}", param, ctx)
        return round(found.total_seconds() * 1000)


class Instant(click.ParamType):
    """A point in time: ISO 8601, in the viewer's zone where none is written, or a duration.

    `sign` -1: a duration reaches back from now; 1: it lies ahead.
    """

    name = "time"

    def __init__(self, sign: int) -> None:
        self.sign = sign

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        found = duration(str(value))
        try:
            if found is not None:
                return (datetime.now(UTC) + self.sign * found).astimezone()
            return datetime.fromisoformat(str(value).strip()).astimezone()
        except (ValueError, OverflowError, OSError):
            if found is not None:
                self.fail(
                    f"{value} is too far from now: write a shorter one, or a time", param, ctx
                )
            self.fail(f"{value!r} is no time: write 2026-12-01T09:00Z, or 2h, 3d", param, ctx)


class Json(click.ParamType):
    """JSON as it stands, or @FILE, or - for standard input. Kept as text: the server reads it."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        try:
            if text == "-":
                text = sys.stdin.read()
            elif text.startswith("@"):
                text = Path(text[1:]).read_text(encoding="utf-8")
            json.loads(text)
        except OSError as error:
            self.fail(f"{text[1:]}: {error.strerror}", param, ctx)
        except RecursionError:
            self.fail("this JSON is nested too deep", param, ctx)
        except ValueError as error:
            self.fail(f"this is no JSON: {error}", param, ctx)
        if not is_utf8(text):
            self.fail(f"{text!r} is not UTF-8: write it in UTF-8", param, ctx)
        return text


def complete(word: str) -> Any:
    """Shell completion of ids (and names) of a kind; silent where the database does not answer."""

    def candidates(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from lf_sql import db, lookup
        from lf_sql.cli.context import Options

        os.environ.setdefault("PGCONNECT_TIMEOUT", "2")  # a key was pressed, somebody waits
        try:
            with db.connect(ctx.ensure_object(Options).dsn, application_name="lf-sql") as conn:
                rows = lookup.candidates(conn, word, incomplete)
        except Exception:  # a shell that is asked for a word has no use for an error
            return []
        return [CompletionItem(row[0], help=row[1]) for row in rows]

    return candidates
