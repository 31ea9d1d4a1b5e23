"""The driver without pg_cron: one leader ticks, others stand by and take over.

Slots are decided and written by the database; this process only knows when to call. Its clock does
not matter: the server says how long to wait. Leadership is an optimisation, never what keeps a slot
from being dispatched twice.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import psycopg

from lf_sql import __version__, bundle, db
from lf_sql.db import Connection
from lf_sql.errors import CannotConnect, LfSqlError
from lf_sql.lanes import Lanes
from lf_sql.link import Outage, connect, first_connection, pauses, words
from lf_sql.pooler import refuse_pooler, server_pid
from lf_sql.purge import NightlyPurge
from lf_sql.trouble import ends_session, kind_of

LOCK_CLASS, LOCK_OBJECT = 0x6C662D73, 0x716C2031  # "lf-s", "ql 1"
BEAT = 5.0  # seconds between heartbeats
SILENCE = 30.0  # a leader that is silent for longer has hung
STANDBY_POLL = 1.0
TRIES = 5  # of a tick that fails by our own fault, before the process gives up
PATIENCE = 30.0  # seconds to wait for an address without a server, at the start


@dataclass(frozen=True)
class Settings:
    """The environment's word; it outranks lenses.dispatch_settings for this worker."""

    tick_ms: int = 1000
    lookahead_ms: int = 60_000
    max_catchup: int | None = None

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Settings:
        """Raise ValueError with one line where a value makes no sense."""
        return cls(
            tick_ms=_number(environ, "TICK_MS", 1000, 10, 600_000),
            lookahead_ms=_number(environ, "LOOKAHEAD_MS", 60_000, 0, 600_000),
            max_catchup=_number(environ, "MAX_CATCHUP_PER_TICK", None, 1, 10_000),
        )


def _number(
    environ: Mapping[str, str], name: str, default: int | None, least: int, most: int
) -> int:
    text = environ.get(name, "").strip()
    if not text:
        return default  # type: ignore[return-value]
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise ValueError(f"{name} is {text!r}: it must be a whole number from {least} to {most}")
    return int(text)


class Worker:
    """One process. `run` returns when `stop` is set; it raises LfSqlError if it cannot go on."""

    def __init__(
        self, dsn: str | None, settings: Settings, stop: threading.Event, say: Callable[[str], None]
    ) -> None:
        self.settings = settings
        self.id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(6)}"
        self._dsn = dsn
        self._stop = stop
        self._say = say
        self._is_leader = False
        self._has_lock = False
        self._leaderless = 0  # looks at the lock in a row that found no worker that leads
        self._squatter: str | None = None  # the role that holds it then
        self._is_frozen = False
        self._schema: int | None = None  # the oid of lenses when it was last asked whose it is
        self._beat_at = 0.0
        self._failures = 0
        self._outage = Outage(say)
        self._pauses = pauses()
        self._purge = NightlyPurge(self._connect, say)
        self._lanes = Lanes(lambda: connect(dsn, "lf-sql worker lane"), stop, say)

    def run(self) -> None:
        """Serve until stopped; what the server goes through is waited for, however long."""
        is_met = is_known = False
        while not self._stop.is_set():
            try:
                if is_met:
                    conn = self._connect()
                else:
                    conn = first_connection(self._connect, self._outage, self._stop, PATIENCE)
                    is_met = True
                with conn:
                    db.require_installed(conn)
                    if not is_known:
                        refuse_pooler(self._connect)
                        is_known = True
                    self._serve(conn)
            except (psycopg.Error, LfSqlError) as error:
                is_nobody = isinstance(error, CannotConnect) and error.kind == "nobody"
                if kind_of(error) != "server" or (is_nobody and not is_met):
                    raise
                self._is_leader = self._has_lock = False
                self._lanes.fit(1)
                self._wait(error)

    def _connect(self) -> Connection:
        return connect(self._dsn, "lf-sql worker")

    def _wait(self, error: Exception) -> None:
        """Each time a little longer, with one line for all of it."""
        self._outage.lost("worker", error)
        self._stop.wait(next(self._pauses))

    def _served(self) -> None:
        """The server works."""
        self._outage.back("worker")
        self._pauses = pauses()
        self._failures = 0

    def _serve(self, conn: Connection) -> None:
        pid = server_pid(conn)
        self._beat(conn)
        self._say(f"worker {self.id} is connected (server process {pid})")
        try:
            while not self._stop.is_set():
                try:
                    wake = self._act(conn, pid)
                except psycopg.Error as error:
                    if conn.closed or conn.broken or ends_session(error):
                        raise  # the session is unusable; the lock goes with it
                    self._endure(error)
                    self._schema = None
                else:
                    self._served()
                    self._stop.wait(wake)
        finally:
            if not conn.closed and not conn.broken and self._stop.is_set():
                self._goodbye(conn)

    def _act(self, conn: Connection, pid: int) -> float:
        """A tick, or a look at who leads; the seconds until the next."""
        self._ask_whose(conn)
        if not self._has_lock and not self._try_to_lead(conn):
            return STANDBY_POLL
        return self._tick_and_ask(conn, pid)

    def _ask_whose(self, conn: Connection) -> None:
        """After any error, and where the schema is another one: a stranger's is never called."""
        row = conn.execute(
            "select n.oid from pg_catalog.pg_namespace as n where n.nspname = 'lenses'"
        ).fetchone()
        found = row["oid"] if row else None
        if found is None or found != self._schema:
            db.ask_again(conn)
            self._schema = found

    def _try_to_lead(self, conn: Connection) -> bool:
        """Whether to tick: with the lock, or while who holds it is no worker that leads."""
        was_leader = self._is_leader
        row = conn.execute(
            "select pg_catalog.pg_try_advisory_lock(%s, %s) as is_mine", [LOCK_CLASS, LOCK_OBJECT]
        ).fetchone()
        self._has_lock = bool(row and row["is_mine"])
        if self._has_lock:
            self._say("leading")
        self._is_leader = self._has_lock or self._leads_without_lock(conn)
        if self._is_leader:
            self._purge.lead()
        if self._is_leader != was_leader or time.monotonic() - self._beat_at >= BEAT:
            self._beat(conn)
        return self._is_leader

    def _leads_without_lock(self, conn: Connection) -> bool:
        """Ticks are safe side by side, so a lock that no worker holds stops no worker."""
        row = conn.execute(
            bundle.query("worker_leader").encode(),
            {"class": LOCK_CLASS, "object": LOCK_OBJECT, "silence": SILENCE, "me": self.id},
        ).fetchone()
        if row is None:
            return self._is_leader
        if row["is_silent"]:
            self._end_session(conn, row["pid"])
        self._leaderless = 0 if row["has_leader"] else self._leaderless + 1
        if self._leaderless < 2:  # a worker that has just taken it may have no heartbeat yet
            return False
        if not self._is_leader or self._squatter != row["role_name"]:
            self._squatter = row["role_name"]
            self._say(
                f"server process {row['pid']} (role {row['role_name']}) holds the leader's lock "
                "and is no worker that leads: ticking all the same"
            )
        return True

    def _end_session(self, conn: Connection, pid: int) -> None:
        """About a leader that is silent and does not end (a stopped process)."""
        self._say(f"the leader (server process {pid}) is silent; ending its session")
        try:
            conn.execute("select pg_catalog.pg_terminate_backend(%s)", [pid])
        except psycopg.errors.InsufficientPrivilege as error:
            self._say(db.describe(error)[0])

    def _tick_and_ask(self, conn: Connection, pid: int) -> float:
        """One tick; the seconds until the next."""
        self._tick(conn)
        row = conn.execute(
            "select pg_catalog.pg_backend_pid() as pid, lenses.fn_next_wake(%s::integer) as wake",
            [self.settings.lookahead_ms],
        ).fetchone()
        assert row is not None
        if row["pid"] != pid:
            raise LfSqlError(
                "the connection was moved to another server process: this is a transaction pooler",
                "connect to PostgreSQL itself, or to a pooler in session mode",
            )
        wake = self.settings.tick_ms / 1000
        if row["wake"] is not None:
            wake = min(wake, max(row["wake"] / 1000, 0.0) + 0.001)
        return wake

    def _endure(self, error: psycopg.Error) -> None:
        """The server's own troubles pass; ours get a few tries, and then the process ends."""
        if kind_of(error) == "server":
            self._wait(error)
            return
        self._say(f"tick failed: {words(error)}")
        self._failures += 1
        if self._failures >= TRIES:
            message, hint = db.describe(error)
            raise LfSqlError(f"the tick fails: {message}", hint or "see lf-sql verify") from error
        self._stop.wait(min(0.25 * 2**self._failures, 2.0))

    def _tick(self, conn: Connection) -> None:
        """One tick; its own row alone does not wait for the disk."""
        row = conn.execute(
            "select pg_catalog.set_config('synchronous_commit', 'off', true), "
            "lenses.fn_tick_begin('worker', %s::integer) as tick, l.lanes, l.wanted "
            "from lenses.fn_lanes() as l",
            [self.settings.max_catchup],
        ).fetchone()
        tick: int | None = row["tick"] if row else None
        if (tick is None) != self._is_frozen:
            self._is_frozen = tick is None
            self._say("dispatching is frozen" if self._is_frozen else "dispatching again")
        if row and tick is not None:
            self._lanes.fit(row["lanes"])
            self._lanes.help(row["wanted"], tick, self.settings.max_catchup)
            while not self._stop.is_set() and self._step(conn, tick):
                self._beat_in_time(conn)
            conn.execute(
                "select pg_catalog.set_config('synchronous_commit', 'off', true), "
                "lenses.fn_tick_end(%s::bigint)",
                [tick],
            )
        self._beat_in_time(conn)

    @staticmethod
    def _step(conn: Connection, tick: int) -> bool:
        row = conn.execute("select lenses.fn_tick_step(%s::bigint) as goes_on", [tick]).fetchone()
        return bool(row and row["goes_on"])

    def _beat_in_time(self, conn: Connection) -> None:
        if time.monotonic() - self._beat_at >= BEAT:
            self._beat(conn)

    def _beat(self, conn: Connection) -> None:
        conn.execute(
            "select lenses.fn_worker_heartbeat(%s, %s, %s, %s, %s, %s)",
            [
                self.id,
                socket.gethostname(),
                os.getpid(),
                self._is_leader,
                __version__,
                self._lanes.living,
            ],
        )
        self._beat_at = time.monotonic()

    def _goodbye(self, conn: Connection) -> None:
        self._purge.stop()
        self._lanes.leave()
        try:
            conn.execute("select lenses.fn_remove_worker(%s::text)", [self.id])
        except psycopg.Error as error:  # its heartbeat grows old instead
            self._say(f"no goodbye: {words(error)}")
        self._say("stopped")
