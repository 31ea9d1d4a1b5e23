"""Before an upgrade locks anything: its indexes on large tables, built while everybody works on.

`create index` in a migration reads the whole table under the upgrade's locks. Here the same index
is built by CREATE INDEX CONCURRENTLY, under a name of its own, and the migration only renames it.
What cannot be built ahead (a column comes with the same migration, a session does not end) is built
by the migration, and so is one whose table the migration has put another in the place of.
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
DROP_WAIT = "1s"  # what cannot be dropped now is dropped by the next install
PREFIX = "lf_ahead_"
NAMES = f"^{PREFIX}[0-9a-f]{{16}}$"  # sql/queries/catalogue.sql leaves them out
SETTINGS = {
    "statement_timeout": "0",
    "transaction_timeout": "0",
    "default_tablespace": "",
    "default_transaction_read_only": "off",
}
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
    def early(self) -> str:
        return f"{self.schema}.{self.early_name}"

    @property
    def place(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def early_statement(self) -> str:
        return (
            f"create {self.unique}index concurrently {self.early_name} "
            f"on {self.schema}.{self.table}{self.rest}"
        )

    @property
    def taken(self) -> str:
        """The rename; the plain statement where the early one is gone, or is another table's."""
        return f"""do $ahead$
begin
  if (
    select x.indrelid from pg_catalog.pg_index as x
    where x.indexrelid = pg_catalog.to_regclass('{self.schema}.{self.early_name}')
  ) = '{self.schema}.{self.table}'::pg_catalog.regclass then
    alter index {self.schema}.{self.early_name} rename to {self.name};
  else
    {self.statement}
  end if;
end
$ahead$;"""  # noqa: S608


def indexes(migrations: Sequence[Migration]) -> list[Index]:
    return [
        Index(found[0], found[1] or "", *found.group(2, 3, 4, 5))
        for migration in migrations
        for found in _INDEX.finditer(migration.sql)
    ]


def renamed(sql: str, built: Sequence[Index]) -> str:
    """A migration's text with the indexes that are there already."""
    for index in built:
        sql = sql.replace(index.statement, index.taken)
    return sql


@contextmanager
def built(
    conn: Connection,
    pending: Callable[[], Sequence[Migration]] | None,
    wait: float,
    say: Callable[[str], None],
) -> Iterator[list[Index]]:
    """Those that could be built; what the upgrade has not taken is dropped at the end.

    One installer at a time: who comes second finds nothing `pending` any more. None: nothing is,
    and what an earlier upgrade has left is dropped.
    """
    is_needed = pending is not None or bool(left(conn))
    # A pooler may pass each statement to another session.
    if not is_needed or not conn.is_pinned or not _turn(conn, wait):
        yield []
        return
    try:
        with _built(conn, indexes(pending()) if pending else [], wait, say) as done:
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
    for name, value in SETTINGS.items():
        _set(conn, name, value)
    rows = _rows(conn)
    done: list[Index] = []
    try:
        there = _there(conn)
        whole = {(one.name, one.table) for one in there if one.is_valid}
        useful = {(index.early, index.place) for index in wanted} & whole
        _clear(conn, [one for one in there if (one.name, one.table) not in useful])
        for index in wanted:
            if rows.get(index.place, 0) < LEAST_ROWS:
                continue
            if (index.early, index.place) in useful or _build(conn, index, wait, say):
                done.append(index)
        yield done
    finally:
        with suppress(psycopg.Error):
            _clear(conn, _there(conn))
            _set(conn, "lock_timeout", "0")


def _build(conn: Connection, index: Index, wait: float, say: Callable[[str], None]) -> bool:
    say(f"index {index.name}, beside the work")
    _set(conn, "lock_timeout", f"{max(int(wait * 1000), 1)}ms")
    try:
        conn.execute(index.early_statement.encode())
    except psycopg.Error:
        if conn.closed:
            raise
        _clear(conn, [one for one in _there(conn) if one.name == index.early])
        return False
    return True


@dataclass(frozen=True)
class Early:
    """An index that was built ahead, by whichever try."""

    name: str
    table: str
    is_valid: bool


def _clear(conn: Connection, unwanted: Sequence[Early]) -> None:
    """Drops them; one that somebody uses stays, for the next install."""
    _set(conn, "lock_timeout", DROP_WAIT)
    for one in unwanted:
        try:
            conn.execute(f"drop index concurrently if exists {one.name}".encode())
        except psycopg.Error:
            if conn.closed:
                raise


def left(conn: Connection) -> list[str]:
    """The names of those that an upgrade has left behind: of no use, and with a cost."""
    return [one.name for one in _there(conn)]


def _there(conn: Connection) -> list[Early]:
    rows = conn.execute(
        "select n.nspname || '.' || c.relname as name, x.indisvalid as is_valid, "
        "m.nspname || '.' || t.relname as table "
        "from pg_catalog.pg_class as c "
        "join pg_catalog.pg_namespace as n on n.oid = c.relnamespace "
        "join pg_catalog.pg_index as x on x.indexrelid = c.oid "
        "join pg_catalog.pg_class as t on t.oid = x.indrelid "
        "join pg_catalog.pg_namespace as m on m.oid = t.relnamespace "
        "where c.relname ~ %s and n.nspname = any (%s) and not exists ("
        "select 1 from pg_catalog.pg_constraint as o where o.conindid = c.oid)",
        [NAMES, list(OWN_SCHEMAS)],
    )
    return [Early(row["name"], row["table"], row["is_valid"]) for row in rows.fetchall()]


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
