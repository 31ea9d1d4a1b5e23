"""Who a command acts as: the tenant of --as, or the owner of the row that it names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import click
import psycopg
from psycopg import sql

from lf_sql.cli import lookup
from lf_sql.cli.context import acting, command_name, connect, note, options, require_installed
from lf_sql.cli.lookup import Found
from lf_sql.cli.progress import progress
from lf_sql.db import Connection, describe
from lf_sql.errors import LfSqlError


@contextmanager
def as_owner_of(word: str, text: str) -> Iterator[tuple[Connection, Found]]:
    """A transaction as the owner of the row that `text` names, and the row."""
    with installed() as conn:
        found = find(conn, word, text)
        with acting(conn, found.user_id):
            yield conn, found


@contextmanager
def as_tenant() -> Iterator[Connection]:
    """A transaction as the tenant of --as, or as the only tenant that there is."""
    with installed() as conn:
        user = options().as_user
        if user is None:
            rows = conn.execute("select user_id from lensers.profiles limit 2").fetchall()
            if len(rows) > 1:
                raise click.UsageError("there are several tenants: say whose with --as USER_UUID")
            if not rows:
                raise LfSqlError(
                    "there is no tenant yet",
                    "lf-sql tenant create HANDLE --user-id UUID, the sub of its JWT",
                )
            user = rows[0]["user_id"]
        with acting(conn, user):
            yield conn


def of_tenant(conn: Connection) -> Any:
    """The profile's id of the tenant of --as, or of the only tenant that there is."""
    user = options().as_user
    rows = conn.execute(
        "select p.id from lensers.profiles as p "
        "where %(user)s::text is null or p.user_id::text = lower(%(user)s::text) limit 2",
        {"user": user},
    ).fetchall()
    if len(rows) > 1:
        raise click.UsageError("there are several tenants: say whose with --as USER_UUID")
    if not rows:
        raise LfSqlError("there is no such tenant yet", "lf-sql tenant create HANDLE")
    return rows[0]["id"]


@contextmanager
def as_asked() -> Iterator[Connection]:
    """For reading: as the tenant of --as, else as the connected role, which may see everybody."""
    with installed() as conn, acting(conn):
        yield conn


@contextmanager
def installed() -> Iterator[Connection]:
    """The connection to a database in which lf-sql is installed; print only after it.

    Long work within it shows its progress.
    """
    with connect() as conn, progress(command_name()):
        require_installed(conn)
        conn.execute("select pg_catalog.set_config('timezone', 'UTC', false)")
        if options().as_user:
            with acting(conn):  # raises an error where no tenant has this user id
                pass
        yield conn


@contextmanager
def of_its_state() -> Iterator[None]:
    """An error of the server within it is about a row's state: bad news, not wrong usage."""
    try:
        yield
    except psycopg.errors.InvalidParameterValue as error:
        raise LfSqlError(*describe(error)) from None


def find(conn: Connection, word: str, text: str, of: Found | None = None) -> Found:
    """The row that `text` names: the tenant's of --as, or of the owner of another row."""
    return lookup.find(conn, word, text, of.user_id if of else options().as_user)


def id_of(conn: Connection, word: str, text: str | None) -> UUID | None:
    """The id of the row that `text` names; None where no name is given, which an empty one is."""
    return None if text is None else find(conn, word, text).id


def tell_namesakes(conn: Connection, word: str, name: str) -> None:
    """What was just made has a name that another has: from now on the name means neither."""
    count = lookup.called(conn, word, name, options().as_user)
    if count > 1:
        note(f'there are {count} {word}s called "{name}" now: say which by its id')


def one(conn: Connection, query: str, params: Any = ()) -> dict[str, Any]:
    """The one row of a function that returns one."""
    row = conn.execute(query.encode(), params).fetchone()
    if row is None:
        raise LfSqlError("the server gave no answer")
    return row


def call(conn: Connection, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """The row that a function of public gives, its parameters by name and without their p_."""
    named = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(f"p_{key}"), sql.Placeholder(key))
        for key in values
    )
    query = sql.SQL("select f.* from public.{}({}) as f").format(sql.Identifier(name), named)
    row = conn.execute(query, values).fetchone()
    if row is None:
        raise LfSqlError("the server gave no answer")
    return row
