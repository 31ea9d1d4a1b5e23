"""Connections and the small things that most tests need."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import namedtuple_row

T = TypeVar("T")


class Database(psycopg.Connection[Any]):
    """An autocommit connection; rows are named tuples.

    `forgiving`: within a transaction a statement that fails undoes itself alone.
    """

    dsn: str
    dbname: str
    forgiving = False

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        if self.forgiving and self.info.transaction_status is TransactionStatus.INTRANS:
            with self.transaction():
                return super().execute(query, params, **options)
        return super().execute(query, params, **options)

    def value(self, query: str, params: Any = None) -> Any:
        """The first column of the first row; None where there is none."""
        row = self.execute(query, params).fetchone()
        return row[0] if row else None

    def row(self, query: str, params: Any = None) -> Any:
        """The one row that there must be."""
        rows = self.execute(query, params).fetchall()
        assert len(rows) == 1, f"{len(rows)} rows, not one: {query}"
        return rows[0]

    def rows(self, query: str, params: Any = None) -> list[Any]:
        return self.execute(query, params).fetchall()

    def column(self, query: str, params: Any = None) -> list[Any]:
        """The first column of every row."""
        return [row[0] for row in self.execute(query, params).fetchall()]

    def another(self, user: str | None = None) -> Database:
        """A second session on the same database; the caller closes it."""
        return connect(f"{self.dsn} user={user}" if user else self.dsn)


def connect(dsn: str) -> Database:
    conn = Database.connect(
        dsn, autocommit=True, prepare_threshold=None, row_factory=namedtuple_row
    )
    conn.dsn = dsn
    conn.dbname = conn.info.dbname
    return conn


@dataclass(frozen=True)
class Tenant:
    """A lenser: `id` is the profile's, `user_id` the `sub` of his JWT."""

    id: uuid.UUID
    user_id: uuid.UUID
    handle: str


def make_tenant(conn: Database, handle: str | None = None) -> Tenant:
    user_id = uuid.uuid4()
    handle = handle or f"tenant-{user_id.hex[:8]}"
    profile = conn.value(
        "insert into lensers.profiles (user_id, handle, display_name) values (%s, %s, %s) "
        "returning id",
        [user_id, handle, handle.title()],
    )
    return Tenant(profile, user_id, handle)


@contextmanager
def as_user(
    conn: Database, sub: Tenant | uuid.UUID | str | None, role: str = "authenticated"
) -> Iterator[Database]:
    """A transaction as PostgREST opens it: role and claims are local. `sub` None: no subject.

    Within another transaction, which goes on, both are afterwards what they were.
    """
    subject = sub.user_id if isinstance(sub, Tenant) else sub
    claims = {"role": role} if subject is None else {"role": role, "sub": str(subject)}
    become = (
        "select set_config('request.jwt.claims', %s, true) as c, set_config('role', %s, true) as r"
    )
    before = conn.execute(
        "select coalesce(current_setting('request.jwt.claims', true), ''), current_setting('role')"
    ).fetchone()
    with conn.transaction():
        conn.execute(become, [json.dumps(claims), role])
        yield conn
        conn.execute(become, before)


# Seconds: what is not a fact by then will not become one, however loaded the machine is.
PATIENCE = 60.0


def wait_until(
    fact: Callable[[], T], timeout: float = PATIENCE, interval: float = 0.05, what: str = ""
) -> T:
    """Poll until `fact()` is true, and return it; an AssertionError after `timeout` seconds."""
    give_up = time.monotonic() + timeout
    pause = threading.Event()
    while True:
        result = fact()
        if result:
            return result
        assert time.monotonic() < give_up, f"not within {timeout} s: {what or fact}"
        pause.wait(interval)


def wait_until_blocked(conn: Database, other: Database) -> None:
    """Until the session of `other` waits for a lock, as `conn` sees it."""
    blocked = "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
    wait_until(lambda: conn.rows(blocked, [other.info.backend_pid]))
