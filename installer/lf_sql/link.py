"""Connections of processes that outlive the server: they reconnect, with growing pauses."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from lf_sql import db
from lf_sql.db import Connection
from lf_sql.errors import CannotConnect, LfSqlError, Stopped
from lf_sql.trouble import ends_session, is_read_only, kind_of
from lf_sql.wake import Wake

T = TypeVar("T")

# Our objects are missing: a new session checks the owners before it calls anything.
GONE = {"3F000", "42P01", "42883"}
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0  # seconds
START = "start"

# A peer that is gone without closing the connection is noticed within 15 seconds.
KEEPALIVE = {
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 15000,
}


def connect(
    dsn: str | None, application_name: str, settings: Mapping[str, str] | None = None
) -> Connection:
    """A session that may write, on the first of the DSN's hosts that gives one."""
    dsn = db.resolve_dsn(dsn)
    with suppress(psycopg.ProgrammingError):  # db.connect says what is wrong with it
        given = {**KEEPALIVE, **conninfo_to_dict(dsn), "target_session_attrs": "read-write"}
        dsn = make_conninfo(dsn, **given)
    conn = db.connect(dsn, application_name=application_name)
    try:
        row = conn.execute(
            "select pg_catalog.current_setting('transaction_read_only') = 'on' as is_read_only, "
            "(select pg_catalog.count(pg_catalog.set_config(s.key, s.value, false)) "
            "from pg_catalog.jsonb_each_text(%s::jsonb) as s) as set",
            [json.dumps({"idle_session_timeout": "0", **(settings or {})})],
        ).fetchone()
    except psycopg.Error as error:
        conn.close()
        raise CannotConnect(db.describe(error)[0], None, kind_of(error)) from error
    if row and row["is_read_only"]:
        conn.close()
        raise CannotConnect("cannot connect: the session is read-only", None, "server")
    return conn


def pauses() -> Iterator[float]:
    """Seconds to wait: they grow, and differ a little between processes."""
    pause = FIRST_PAUSE
    while True:
        yield pause * random.uniform(0.8, 1.2)
        pause = min(pause * 2, LONGEST_PAUSE)


def words(error: Exception) -> str:
    """The error as one line."""
    if isinstance(error, psycopg.Error):
        state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
        return db.describe(error)[0] + state
    return error.message if isinstance(error, LfSqlError) else str(error)


class Outage:
    """Reports once that the server is lost, and once that it is back, whichever thread notices.

    And once where one is there, but takes no writes: a standby, or a switch that is under way.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._troubled: set[str] = set()
        self._since = 0.0
        self._is_read_only = False

    def lost(self, who: str, error: Exception) -> None:
        with self._lock:
            if not self._troubled:
                self._since = time.monotonic()
                is_gone = isinstance(error, CannotConnect) or ends_session(error)
                what = "connection lost" if is_gone else "the server cannot now"
                if who == START:
                    what = "waiting for the server"
                self._say(f"{what}: {words(error)}; next try soon, then every few seconds")
                self._is_read_only = False
            if is_read_only(error) and not self._is_read_only:
                self._is_read_only = True
                self._say("the server is read-only: waiting until one takes writes")
            self._troubled.add(who)

    def back(self, who: str) -> None:
        with self._lock:
            if who in self._troubled:
                self._troubled.discard(who)
                if not self._troubled:
                    self._say(f"the server is back after {time.monotonic() - self._since:.0f} s")


def first_connection(
    make: Callable[[], Connection], outage: Outage, stop: threading.Event, patience: float = 0.0
) -> Connection:
    """Wait for the server without limit, for an address without a server `patience` seconds."""
    until = time.monotonic() + patience
    for pause in pauses():
        try:
            conn = make()
        except CannotConnect as error:
            is_hopeless = error.kind == "nobody" and time.monotonic() >= until
            if error.kind == "usage" or is_hopeless:
                raise
            outage.lost(START, error)
            if stop.wait(pause):
                raise
        else:
            outage.back(START)
            return conn
    raise AssertionError("pauses() never ends")


class Link:
    """One connection for one kind of statement; each may be repeated, since it has a fence."""

    def __init__(
        self, name: str, make: Callable[[], Connection], outage: Outage, gone: threading.Event
    ) -> None:
        self._name = name
        self._make = make
        self._outage = outage
        self._gone = gone  # set: no thread waits for the server any more
        self._lock = threading.Lock()
        self._conn: Connection | None = None

    def _session(self) -> Connection:
        conn = self._make()
        try:
            db.require_installed(conn)
        except BaseException:
            conn.close()
            raise
        return conn

    def run(self, work: Callable[[Connection], T], who: str | None = None) -> T:
        """Do `work`, once; a session that is unusable after an error is closed.

        `who` is for the log: which thread fails while others are served.
        """
        with self._lock:
            try:
                if self._conn is None:
                    self._conn = self._session()
                result = work(self._conn)
            except (psycopg.Error, LfSqlError) as error:
                self._failed(error, who)
                raise
        self._outage.back(who or self._name)
        return result

    def once(
        self, query: str, params: Sequence[Any] = (), who: str | None = None
    ) -> list[dict[str, Any]]:
        """Run one statement, once."""
        return self.run(lambda conn: conn.execute(query.encode(), params).fetchall(), who)

    def wait(self, wake: Wake, timeout: float) -> None:
        """Until woken, by a notification too where the session listens, or so many seconds."""
        with self._lock:
            conn = None if self._conn is None or self._conn.closed else self._conn
            if not wake.wait(timeout, None if conn is None else conn.fileno()) or conn is None:
                return
            try:
                conn.pgconn.consume_input()
                while conn.pgconn.notifies():
                    pass
            except psycopg.Error as error:
                self._failed(error, None)

    def _failed(self, error: Exception, who: str | None) -> None:
        is_gone = isinstance(error, psycopg.Error) and error.sqlstate in GONE
        if self._conn is not None and (self._conn.broken or ends_session(error) or is_gone):
            self._conn.close()
            self._conn = None
        if kind_of(error) == "server":
            self._outage.lost(who or self._name, error)

    def rows(
        self,
        query: str,
        params: Sequence[Any] = (),
        stop: threading.Event | None = None,
        on_doubt: Callable[[], None] = lambda: None,
        who: str | None = None,
    ) -> list[dict[str, Any]]:
        """Run it until the server has answered, or raise Stopped once `stop` is set.

        `on_doubt` is called where the server may have done it though no answer came.
        """
        stop = stop or self._gone
        for pause in pauses():
            try:
                return self.once(query, params, who)
            except (psycopg.Error, LfSqlError) as error:
                if kind_of(error) != "server":
                    raise
                if isinstance(error, psycopg.Error) and ends_session(error):
                    on_doubt()
                if stop.wait(pause) or self._gone.is_set():
                    raise Stopped(words(error)) from error
        raise AssertionError("pauses() never ends")

    def close(self) -> None:
        with self._lock:
            if self._conn is not None:
                self._conn.close()
                self._conn = None
