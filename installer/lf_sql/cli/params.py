"""What people write on a command line, as values: durations, instants, JSON."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from lf_sql.durations import duration
from lf_sql.listening import bare

LONGEST_NAME = 200  # characters


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


class Filled(Text):
    """Text that says something: empty, as of a variable that is not set, is wrong usage.

    The type of options that say where, as whom or by which name, and mean something else without.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return refuse_blank(self, super().convert(value, param, ctx), param, ctx)


class Name(Text):
    """What something new is called, in `most` characters."""

    def __init__(self, most: int = LONGEST_NAME) -> None:
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        if not text.strip() or len(text) > self.most:
            said = f"{len(text)}" if text.strip() else "none"
            self.fail(f"it has 1 to {self.most} characters, not {said}", param, ctx)
        return text


class FilledPath(click.Path):
    """A file or folder; an empty name is not the working folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        refuse_blank(self, str(value), param, ctx)
        return super().convert(value, param, ctx)


def refuse_blank(
    kind: click.ParamType, text: str, param: click.Parameter | None, ctx: click.Context | None
) -> str:
    """The text; fails where nothing is in it."""
    if not text.strip():
        must_be = param is not None and param.required and param.nargs == 1
        said = "give a value" if must_be else "give a value, or leave it out"
        kind.fail(f"it is empty: {said}", param, ctx)
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

    `sign` -1: a duration reaches back from now; 1: it lies ahead. `is_wall`: a time without an
    offset stays without a zone, for the command to read on a schedule's clock.
    """

    name = "time"

    def __init__(self, sign: int, is_wall: bool = False) -> None:
        self.sign = sign
        self.is_wall = is_wall

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        found = duration(str(value))
        try:
            if found is not None:
                return (datetime.now(UTC) + self.sign * found).astimezone()
            at = datetime.fromisoformat(str(value).strip())
            return at if self.is_wall and at.tzinfo is None else at.astimezone()
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
            what = "cannot read standard input" if text == "-" else text[1:]
            self.fail(f"{what}: {error.strerror}", param, ctx)
        except RecursionError:
            self.fail("this JSON is nested too deep", param, ctx)
        except ValueError as error:
            self.fail(f"this is no JSON: {error}", param, ctx)
        if not is_utf8(text):
            self.fail(f"{text!r} is not UTF-8: write it in UTF-8", param, ctx)
        return text


class Address(click.ParamType):
    """HOST:PORT, as host and port; an IPv6 host stands in brackets."""

    name = "address"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        host, _, port = str(value).rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
            self.fail(f"{value!r} is no address: write HOST:PORT, as 127.0.0.1:9187", param, ctx)
        return _bare(self, host, param, ctx), int(port)


class Host(Filled):
    """A name or an address to listen on; an IPv6 address may stand in brackets."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return _bare(self, super().convert(value, param, ctx), param, ctx)


def _bare(
    kind: click.ParamType, host: str, param: click.Parameter | None, ctx: click.Context | None
) -> str:
    try:
        return bare(host)
    except ValueError as error:
        kind.fail(str(error), param, ctx)


LISTEN = click.option(
    "--listen",
    type=Address(),
    metavar="HOST:PORT",
    help="Serve the figures over HTTP until stopped.",
)
