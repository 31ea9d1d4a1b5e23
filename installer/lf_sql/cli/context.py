"""What every command shares: the connection, whom it acts as, how it prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import click

from lf_sql import db
from lf_sql.cli.params import Text
from lf_sql.db import Connection, require_installed
from lf_sql.plain import dumps, plain

__all__ = [
    "Options",
    "acting",
    "adopt",
    "command_name",
    "connect",
    "connect_cron",
    "cron_option",
    "emit",
    "emit_one",
    "note",
    "options",
    "require_installed",
]

Row = Mapping[str, Any]


@dataclass
class Options:
    """The shared options, wherever on the line they stood."""

    dsn: str | None = None
    as_user: str | None = None
    as_json: bool = False


def options() -> Options:
    """The shared options of the running command."""
    return click.get_current_context().ensure_object(Options)


def adopt(command: click.Command) -> click.Command:
    """Give a command, and all below it, the shared options: they may stand before or after it.

    Text that no database could take is refused as wrong usage, before anything is done.
    """
    names = {param.name for param in command.params}
    command.params += [option for option in _shared() if option.name not in names]
    for param in command.params:
        if param.type is click.STRING:
            param.type = Text()
    if isinstance(command, click.Group):
        for child in command.commands.values():
            adopt(child)
    return command


def _shared() -> list[click.Option]:
    def remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value:
            setattr(ctx.ensure_object(Options), str(param.name), value)

    return [
        click.Option(
            ["--dsn"],
            metavar="DSN",
            expose_value=False,
            callback=remember,
            help="Where the database is: a URL or libpq's key=value form.",
        ),
        click.Option(
            ["--as", "as_user"],
            metavar="USER_UUID",
            expose_value=False,
            callback=remember,
            help="Act as this tenant (the sub of his JWT).",
        ),
        click.Option(
            ["--json", "as_json"],
            is_flag=True,
            expose_value=False,
            callback=remember,
            help="Print JSON.",
        ),
    ]


def command_name() -> str:
    """The running command as it was typed: `schedule backfill`."""
    return click.get_current_context().command_path.partition(" ")[2]


@contextmanager
def connect(application_name: str | None = None, is_patient: bool = False) -> Iterator[Connection]:
    """The connection of the running command: autocommit, nothing prepared, closed at the end."""
    name = application_name or f"lf-sql {click.get_current_context().info_name}"
    warnings: list[str] = []
    conn = db.connect(options().dsn, application_name=name, is_patient=is_patient)
    conn.add_notice_handler(lambda notice: warnings.append(notice.message_primary or ""))
    try:
        with conn:
            yield conn
    finally:
        for line in warnings:  # at the end: a bar may have been on the terminal
            if line.startswith("lf-sql: "):
                note(f"warning: {line.removeprefix('lf-sql: ')}")


def cron_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--cron-dsn, for commands that look at the pg_cron jobs."""
    return click.option(
        "--cron-dsn",
        envvar="LF_SQL_CRON_DSN",
        metavar="DSN",
        help="The database of the same server in which pg_cron lives, where it is another one "
        "[LF_SQL_CRON_DSN].",
    )(command)


@contextmanager
def connect_cron(dsn: str | None) -> Iterator[Connection | None]:
    """The connection of --cron-dsn; None where there is none."""
    if not dsn:
        yield None
        return
    name = f"lf-sql {click.get_current_context().info_name}"
    with db.connect(dsn, application_name=name, is_patient=True) as conn:
        yield conn


@contextmanager
def acting(conn: Connection, user_id: UUID | str | None = None) -> Iterator[Connection]:
    """A transaction as the tenant given, else as that of --as, else as the connected role."""
    user = user_id or options().as_user
    with conn.transaction():
        if user is not None:
            try:
                claims = json.dumps({"sub": str(UUID(str(user))), "role": "authenticated"})
            except ValueError:
                raise click.UsageError(f"--as wants the uuid of a user, not {user!r}") from None
            conn.execute(
                "select pg_catalog.set_config('request.jwt.claims', %s, true), "
                "pg_catalog.set_config('role', 'authenticated', true)",
                [claims],
            )
        yield conn


def emit(
    rows: Iterable[Row], columns: Sequence[str] | None = None, *, empty: str = "nothing"
) -> None:
    """Rows as a table on a terminal, tab-separated in a pipe, JSON with --json."""
    rows = list(rows)
    columns = list(columns or (rows[0] if rows else []))
    if options().as_json:
        click.echo(dumps([dict(row) for row in rows], default=_plain))
    elif not sys.stdout.isatty():
        if columns:
            click.echo("\t".join(columns))
        for row in rows:  # nothing is quoted, so that `cut` and `read` get what is there
            click.echo("\t".join(_cell(row.get(name)) for name in columns))
    elif not rows:
        click.echo(empty)
    else:
        table(rows, columns)


def emit_one(row: Row) -> None:
    """One row: name and value a line, a JSON object with --json."""
    if options().as_json:
        click.echo(dumps(dict(row), default=_plain))
        return
    separator = "\t" if not sys.stdout.isatty() else "  "
    width = max(map(len, row), default=0) if sys.stdout.isatty() else 0
    for name, value in row.items():
        click.echo(f"{name:<{width}}{separator}{_cell(value)}")


def note(line: str) -> None:
    """A line for a person, never in the way of what is piped."""
    click.echo(plain(line), err=True)


def table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Rows for the eye, wherever they go.

    Of ids the beginning, which is all that commands want; columns without a value are left out.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    digits = _digits_needed(rows, columns)
    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    filled = []
    for name in columns:
        values = [row.get(name) for row in rows]
        cells = [_short(value, digits) for value in values]
        if any(cells):
            filled.append(cells)
            drawn.add_column(
                name.replace("_", " "),
                overflow="fold",
                no_wrap=digits < 36 and any(isinstance(value, UUID) for value in values),
                min_width=10 if any(isinstance(value, datetime) for value in values) else None,
            )
    for line in zip(*filled, strict=True):
        drawn.add_row(*line)
    width = None if sys.stdout.isatty() else 120
    Console(highlight=False, markup=False, width=width).print(drawn)


def _digits_needed(rows: Sequence[Row], columns: Sequence[str]) -> int:
    """How much of an id tells it from the others shown; eight at least."""
    ids = {str(row[name]) for row in rows for name in columns if isinstance(row.get(name), UUID)}
    return next((n for n in (8, 13, 18) if len({i[:n] for i in ids}) == len(ids)), 36)


def _short(value: Any, digits: int) -> str:
    match value:
        case UUID():
            return str(value)[:digits]
        case datetime() if not value.utcoffset():
            return f"{value:%Y-%m-%d %H:%M:%S}Z"
    return _cell(value)


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds")
        case dict() | list():
            return plain(json.dumps(value, default=_plain, ensure_ascii=False))
    return plain(value)


def _plain(value: Any) -> Any:
    match value:
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
    return str(value)
