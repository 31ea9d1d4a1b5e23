"""Before an upgrade locks anything: its indexes on large tables, built while everybody works on.

`create index` in a migration reads the whole table under the upgrade's locks. Here the same index
is built by CREATE INDEX CONCURRENTLY, under a name of its own, and the migration only renames it.
What cannot be built ahead (a column comes with the same migration, a session does not end) is built
by the migration.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg

from lf_sql.bundle import OWN_SCHEMAS, Migration, checksum
from lf_sql.db import Connection

LEAST_ROWS = 10_000  # a smaller table is indexed in no time
TURN_KEY = (1818653553, 3)  # beside those of lf_sql/locks.py
POLL = 0.1
PREFIX = "lf_ahead_"  # sql/queries/catalogue.sql leaves them out
_INDEX = re.compile(r"^create (unique )?index (\w+)\s+on (\w+)\.(\w+)\b([^;]*);", re.MULTILINE)


@dataclass(frozen=True)
class Index:
    """A `create index` of a migration."""

    statement: str
    unique: str
    name: str
    schema: str
    table: str
    rest: str

    @property
    def early_name(self) -> str:
        """The same for the same statement, so that a second try finds what the first has built."""
        return PREFIX + checksum(self.statement)[:16]

    @property
    def early_statement(self) -> str:
        return (
            f"create {self.unique}index concurrently {self.early_name} "
            f"on {self.schema}.{self.table}{self.rest}"
        )

    @property
    def rename(self) -> str:
        return f"alter index {self.schema}.{self.early_name} rename to {self.name};"


def indexes(migrations: Sequence[Migration]) -> list[Index]:
    return [
        Index(found[0], found[1] or "", *found.group(2, 3, 4, 5))
        for migration in migrations
        for found in _INDEX.finditer(migration.sql)
    ]


def renamed(sql: str, built: Sequence[Index]) -> str:
    """A migration's text with the indexes that are there already."""
    for index in built:
        sql = sql.replace(index.statement, index.rename)
    return sql


@contextmanager
def built(
    conn: Connection,
    pending: Callable[[], Sequence[Migration]] | None,
    wait: float,
    say: Callable[[str], None],
) -> Iterator[list[Index]]:
    """Those that could be built; what the upgrade has not taken is dropped at the end.

    One installer at a time: who comes second finds nothing `pending` any more. None: nothing is.
    """
    # A pooler may pass each statement to another session.
    if pending is None or not conn.is_pinned or not _turn(conn, wait):
        yield []
        return
    try:
        with _built(conn, indexes(pending()), wait, say) as done:
            yield done
    finally:
        with suppress(psycopg.Error):
            conn.execute("select pg_catalog.pg_advisory_unlock(%s, %s)", TURN_KEY)


def _turn(conn: Connection, wait: float) -> bool:
    """Polls for a lock of the session, since nobody may queue for an advisory lock here."""
    until = time.monotonic() + wait
    while True:
        row = conn.execute("select pg_catalog.pg_try_advisory_lock(%s, %s) as got", TURN_KEY)
        if row.fetchone()["got"]:  # type: ignore[index]
            return True
        if time.monotonic() > until:
            return False
        time.sleep(POLL)


@contextmanager
def _built(
    conn: Connection, wanted: Sequence[Index], wait: float, say: Callable[[str], None]
) -> Iterator[list[Index]]:
    if not wanted:
        yield []
        return
    for name in ("statement_timeout", "transaction_timeout", "default_tablespace"):
        _set(conn, name, "" if name == "default_tablespace" else "0")
    _set(conn, "lock_timeout", f"{max(int(wait * 1000), 1)}ms")
    rows = _rows(conn)
    done: list[Index] = []
    try:
        known = {index.early_name for index in wanted}
        there = _there(conn)
        for name, is_valid in there.items():
            if name.rpartition(".")[2] not in known or not is_valid:
                _drop(conn, name)
        for index in wanted:
            if rows.get(f"{index.schema}.{index.table}", 0) < LEAST_ROWS:
                continue
            if there.get(f"{index.schema}.{index.early_name}") or _build(conn, index, say):
                done.append(index)
        yield done
    finally:
        with suppress(psycopg.Error):
            for name in _there(conn):
                _drop(conn, name)
            _set(conn, "lock_timeout", "0")


def _build(conn: Connection, index: Index, say: Callable[[str], None]) -> bool:
    say(f"index {index.name}, beside the work")
    try:
        conn.execute(index.early_statement.encode())
    except psycopg.Error:
        if conn.closed:
            raise
        _drop(conn, f"{index.schema}.{index.early_name}")
        return False
    return True


def _drop(conn: Connection, name: str) -> None:
    conn.execute(f"drop index concurrently if exists {name}".encode())


def _there(conn: Connection) -> dict[str, bool]:
    """Names of indexes that were built ahead, by whichever try, and whether they are whole."""
    rows = conn.execute(
        "select n.nspname || '.' || c.relname as name, x.indisvalid as is_valid "
        "from pg_catalog.pg_class as c "
        "join pg_catalog.pg_namespace as n on n.oid = c.relnamespace "
        "join pg_catalog.pg_index as x on x.indexrelid = c.oid "
        "where pg_catalog.starts_with(c.relname::text, %s) and n.nspname = any (%s)",
        [PREFIX, list(OWN_SCHEMAS)],
    )
    return {row["name"]: row["is_valid"] for row in rows.fetchall()}


def _rows(conn: Connection) -> Mapping[str, float]:
    """About how many rows our tables have."""
    rows = conn.execute(
        "select n.nspname || '.' || c.relname as name, c.reltuples as rows "
        "from pg_catalog.pg_class as c "
        "join pg_catalog.pg_namespace as n on n.oid = c.relnamespace "
        "where c.relkind = 'r' and n.nspname = any (%s)",
        [list(OWN_SCHEMAS)],
    )
    return {row["name"]: row["rows"] for row in rows.fetchall()}


def _set(conn: Connection, name: str, value: str) -> None:
    """Of the session, where the server has such a setting."""
    conn.execute(
        "select pg_catalog.set_config(s.name, %s, false) from pg_catalog.pg_settings as s "
        "where s.name = %s",
        [value, name],
    )
