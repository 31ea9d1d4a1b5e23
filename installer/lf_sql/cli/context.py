"""What every command shares: the connection, whom it acts as, how it prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import click

from lf_sql import db, durations, tenancy
from lf_sql.cli import where
from lf_sql.cli.params import Filled, Text
from lf_sql.cli.terminal import prose, record
from lf_sql.cli.terminal.table import Column, of_names
from lf_sql.cli.terminal.table import show as show_table
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
    "emit_ids",
    "emit_one",
    "is_for_a_person",
    "note",
    "options",
    "require_installed",
]

Row = Mapping[str, Any]


class Options:
    """The shared options, wherever on the line they were given."""

    def __init__(self) -> None:
        self.as_user: str | None = None
        self.as_json = False
        self.cell: str | None = None
        self.directory: str | None = None
        self._dsn: str | None = None

    @property
    def dsn(self) -> str | None:
        """Of --dsn, else of the cell: that of --cell, or that of the tenant of --as.

        None where neither is given, or there is no directory.
        """
        if self._dsn and self.cell:
            raise click.UsageError("--dsn and --cell both say where: give one of them")
        if self._dsn is None:
            self._dsn = where.dsn(self.directory, self.cell, self.as_user)
        return self._dsn

    @dsn.setter
    def dsn(self, value: str | None) -> None:
        self._dsn = value

    @property
    def given_dsn(self) -> str | None:
        """Of --dsn alone."""
        return self._dsn


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
            type=Filled(),
            metavar="DSN",
            expose_value=False,
            callback=remember,
            help="Where the database is: a URL or libpq's key=value form.",
        ),
        click.Option(
            ["--cell"],
            type=Filled(),
            metavar="NAME",
            expose_value=False,
            callback=remember,
            shell_complete=where.complete,
            help="The cell of this name, by the directory.",
        ),
        click.Option(
            ["--as", "as_user"],
            type=Filled(),
            metavar="USER_UUID",
            expose_value=False,
            callback=remember,
            help="Act as this tenant (the sub of its JWT).",
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
        type=Filled(),
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
                tenant = UUID(str(user))
            except ValueError:
                raise click.UsageError(f"--as wants the uuid of a user, not {user!r}") from None
            tenancy.become(conn, tenant)
            if user_id is None:
                tenancy.require(conn, tenant)
        yield conn


def emit(
    rows: Iterable[Row],
    columns: Sequence[str] | None = None,
    *,
    empty: str = "nothing",
    view: Callable[[Sequence[Row]], Sequence[Column]] | None = None,
    is_wide: bool = False,
) -> None:
    """Rows as a table on a terminal, tab-separated in a pipe, JSON with --json.

    `view` makes the table's columns; without it they are `columns`.
    """
    rows = list(rows)
    columns = list(columns or (rows[0] if rows else []))
    if options().as_json:
        click.echo(dumps([dict(row) for row in rows], default=_plain))
    elif not sys.stdout.isatty():
        if columns:
            click.echo("\t".join(columns))
        for row in rows:  # nothing is quoted, so that `cut` and `read` get the values
            click.echo("\t".join(_cell(row.get(name)) for name in columns))
    elif not rows:
        click.echo(empty)
    else:
        show_table(rows, view(rows) if view else of_names(columns, rows), is_wide)


def emit_one(row: Row) -> None:
    """One row: name and value a line, a JSON object with --json."""
    if options().as_json:
        click.echo(dumps(dict(row), default=_plain))
    elif sys.stdout.isatty():
        record.show(dict(_spelt(name, value) for name, value in row.items()))
    else:
        for name, value in row.items():
            click.echo(f"{name}\t{_cell(value)}")


def _spelt(name: str, value: Any) -> tuple[str, Any]:
    """A column for a person; milliseconds as the span that they are."""
    if name.endswith("_ms") and isinstance(value, int):
        name, value = name.removesuffix("_ms"), durations.spelt(value)
    return name.replace("_", " "), value


def emit_ids(rows: Iterable[Row]) -> None:
    """Ids alone, one a line; an array with --json."""
    ids = [str(row["id"]) for row in rows]
    if options().as_json:
        click.echo(dumps(ids))
    else:
        for one in ids:
            click.echo(one)


def is_for_a_person() -> bool:
    """Whether what is printed is read on a terminal, not by a program."""
    return sys.stdout.isatty() and not options().as_json


def note(line: str) -> None:
    """A line for a person, on stderr, so that it does not mix with piped output."""
    prose.aside(line)


def table(rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Rows for the eye, wherever they go."""
    show_table(rows, of_names(columns, rows))


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
