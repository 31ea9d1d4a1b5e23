"""The console's way to the database: a few connections, and every transaction as one tenant."""

from __future__ import annotations

import json
import queue
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID

import psycopg

from lf_sql import db, older, preflight
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

CONNECTIONS = 4
PATIENCE = 10.0  # seconds that a request waits for a free connection

# What a transaction of the console is, whatever role it is connected as.
BECOME = (
    "select pg_catalog.set_config('request.jwt.claims', %s, true), "
    "pg_catalog.set_config('role', 'authenticated', true), "
    "pg_catalog.set_config('transaction_read_only', %s, true), "
    "pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true), "
    "pg_catalog.set_config('timezone', 'UTC', true), "
    "pg_catalog.set_config('statement_timeout', '20s', true)"
)


class DatabaseGoneError(Exception):
    """No connection to the database; it may come back."""


class Database:
    """Connections that are made when needed, kept while they work, and dropped when they break."""

    def __init__(self, dsn: str | None, user_id: UUID) -> None:
        self._dsn = dsn
        self._claims = json.dumps({"sub": str(user_id), "role": "authenticated"})
        self._free: queue.LifoQueue[Connection | None] = queue.LifoQueue()
        for _ in range(CONNECTIONS):
            self._free.put(None)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A read-only transaction as the tenant."""
        with self._transaction(writes=False) as conn:
            yield conn

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction as the tenant."""
        with self._transaction(writes=True) as conn:
            yield conn

    def close(self) -> None:
        """Close what is free; called when the server stops."""
        with suppress(queue.Empty):
            while True:
                conn = self._free.get_nowait()
                if conn is not None:
                    conn.close()

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Connection]:
        try:
            conn = self._free.get(timeout=PATIENCE)
        except queue.Empty:
            raise DatabaseGoneError("every connection is busy") from None
        try:
            conn = self._begin(conn, writes)
            yield conn
            conn.execute("commit")
        except psycopg.Error as error:
            if conn is None or conn.closed:
                raise DatabaseGoneError(str(error)) from error
            with suppress(psycopg.Error):
                conn.execute("rollback")
            older.note(error, conn)
            raise
        finally:
            if conn is not None and not conn.closed:
                with suppress(psycopg.Error):
                    if conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                        conn.execute("rollback")
            self._free.put(None if conn is None or conn.closed else conn)

    def _begin(self, conn: Connection | None, writes: bool) -> Connection:
        """Begin on the connection kept; where it has died meanwhile, on a new one."""
        for fresh in (False, True):
            try:
                if conn is None or fresh:
                    conn = db.connect(self._dsn, application_name="lf-sql console")
                conn.begin()
                # The session is kept, and our objects may have been replaced since.
                preflight.check(conn)
                conn.execute(BECOME, [self._claims, "off" if writes else "on"])
                return conn
            except LfSqlError as error:
                raise DatabaseGoneError(error.message) from error
            except psycopg.Error:
                if fresh or conn is None or not conn.closed:
                    raise
        raise AssertionError("unreachable")


def rows(conn: Connection, sql: str, *args: Any) -> list[dict[str, Any]]:
    """All rows of a query."""
    return conn.execute(sql.encode(), args or None).fetchall()


def one(conn: Connection, sql: str, *args: Any) -> dict[str, Any] | None:
    """The first row of a query, or None."""
    return conn.execute(sql.encode(), args or None).fetchone()
