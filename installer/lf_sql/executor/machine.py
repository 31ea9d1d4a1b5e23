"""What an executor does: claims runs, hands them out, says how they ended, until it is stopped.

Whether a claim, a heartbeat or a result counts is the database's to say; a run whose lease is lost
is left alone, and its handler told. What the server goes through is waited for. Claims, heartbeats
and results have a thread and a connection each, so that no handler, and no loop that one blocks,
stands in their way.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from lf_sql import db, environment
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.executor.claims import AT_ONCE, Claims
from lf_sql.executor.desk import Desk, Outcome
from lf_sql.executor.handlers import Handler, Handlers
from lf_sql.executor.leases import Leases
from lf_sql.executor.log import log
from lf_sql.executor.reports import Reports
from lf_sql.executor.workflows import FRESH, Workflows
from lf_sql.link import Link, Outage, connect, first_connection, pauses, words
from lf_sql.trouble import kind_of
from lf_sql.wake import Wake

CHANNEL = "lf_workflow_runs"
PATIENCE = 30.0  # seconds to wait for an address without a server, at the start
LAST_WAIT = 15.0  # seconds for handlers once nothing waits for the server
SWEEP = 0.25  # seconds between claims while one handler is full and another is not
PUT_OFF = 30.0  # seconds for which a run is given back that is too much for its handler


@dataclass(frozen=True)
class Options:
    """How it works."""

    concurrency: int = 10  # runs at once
    lease: float = 300.0  # seconds
    poll: float = 5.0  # seconds without a notification: retries and available_at make none
    once: bool = False  # end when there is nothing to claim
    application: str = "lf-sql executor"


class Machine:
    """`run` returns when it was stopped and what was under way has ended."""

    def __init__(
        self,
        dsn: str | None,
        handlers: Handlers,
        options: Options,
        loop: asyncio.AbstractEventLoop | None = None,
        on_end: Callable[[Outcome], None] = lambda _: None,
    ) -> None:
        self.id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(6)}"
        self._dsn = dsn
        self._options = options
        self._handlers = handlers
        self._stop = threading.Event()
        self._gone = threading.Event()  # set at the very end: nothing waits for the server then
        self._wake = Wake()
        self._lock = threading.Lock()
        self._trouble: LfSqlError | None = None
        self._sweep_at = 0.0
        self._outage = Outage(log.warning)
        self._ear = Link("claim", self._listening, self._outage, self._gone)
        self._link = Link("work", self._connect, self._outage, self._gone)
        self._beats = Link("heartbeat", self._connect, self._outage, self._gone)
        self._leases = Leases(self._beats, self._outage, options.lease, self._gone, self._give_up)
        # With `once` nothing comes later: what there is now must be known.
        self._workflows = Workflows(handlers, self._ear, 0.0 if options.once else FRESH)
        self._claims = Claims(
            self.id, self._ear, self._leases, options.lease, self._stop, self._workflows
        )
        self._reports = Reports(self._link, self._outage, self._gone)
        self._desk = Desk(
            handlers,
            options.concurrency,
            self._leases,
            self._reports,
            loop,
            self._wake.set,
            on_end,
            lambda text: environment.clean(text, dsn),
            self._give_up,
        )

    def run(self) -> None:
        """Claim and hand out until stopped, then wait for what is under way."""
        self._check()
        self._leases.start()
        self._reports.start()
        log.info("executor %s is waiting for runs", self.id, extra={"executor": self.id})
        try:
            while not self._stop.is_set():
                is_idle = not self._desk.is_busy
                claimed = self._take()
                if self._options.once and is_idle and not claimed:
                    break
                if not claimed:
                    self._ear.wait(self._wake, self._pause())
            self._drain()
        finally:
            self._gone.set()
            self._leases.close()
            self._reports.close()
            self._desk.close()
            self._link.close()
            self._ear.close()
            self._wake.close()
        if self._trouble is not None:
            raise self._trouble

    def stop(self) -> None:
        """Claim no more; `run` returns once what is under way has ended and been told."""
        self._stop.set()
        self._wake.set()

    def abandon(self) -> None:
        """End what is under way too: its attempts fail and are tried again by policy."""
        self.stop()
        for attempt in self._leases.held():
            attempt.end()

    def leave(self) -> None:
        """What the server has not taken yet is left undelivered."""
        self._gone.set()
        self._reports.leave()
        self.stop()

    def ask(self, query: str, params: Any, who: str) -> list[dict[str, Any]]:
        """The answer to one statement of a handler's, for as long as it takes."""
        return self._link.rows(query, params, who=who)

    def _connect(self) -> Connection:
        return connect(self._dsn, self._options.application, {"timezone": "UTC"})

    def _listening(self) -> Connection:
        conn = self._connect()
        conn.add_notify_handler(lambda _: self._wake.set())
        conn.execute(f"listen {CHANNEL}")
        return conn

    def _check(self) -> None:
        """Wait for a server that is not ready; for an address without a server only for a while."""
        patience = 0.0 if self._options.once else PATIENCE
        for pause in pauses():
            with first_connection(self._connect, self._outage, self._stop, patience) as conn:
                try:
                    return db.require_installed(conn)
                except psycopg.Error as error:
                    if kind_of(error) != "server" or self._stop.wait(pause):
                        raise
        return None

    def _give_up(self, error: Exception) -> None:
        """Wrong use: no more claims, and the process ends with this line."""
        with self._lock:
            if self._trouble is None:
                hint = db.describe(error)[1] if isinstance(error, psycopg.Error) else None
                if isinstance(error, LfSqlError):
                    self._trouble = error
                else:
                    self._trouble = LfSqlError(words(error), hint or "see lf-sql verify")
        self.stop()

    def _take(self) -> int:
        """Claim as many as there is room for, and begin with each."""
        left, rooms = self._desk.room()
        free = [handler for handler, room in rooms if room > 0]
        if left < 1 or not free:
            return 0
        if self._handlers.default in free and len(rooms) > 1:
            return self._take_any(left, [room for _, room in rooms], free)
        limit = min([left, *(room for _, room in rooms if room > 0)])
        taken = self._claim(limit, free)
        if taken < limit:
            return taken
        # There may be more, and handlers with much room need not wait for those with little.
        left, rooms = self._desk.room()
        most = max(room for _, room in rooms)
        roomy = [(handler, room) for handler, room in rooms if room > most // 2]
        if 0 < len(roomy) < len(free):
            limit = min([left, *(room for _, room in roomy)])
            taken += self._claim(limit, [handler for handler, _ in roomy])
        return taken

    def _take_any(self, left: int, rooms: Sequence[int], free: Sequence[Handler]) -> int:
        """The same where the default handler has room: a claim can name workflows, not leave some
        out, so that what is too much for one that is full is put off."""
        limit = min(left, max(rooms))
        is_one_full = min(rooms) < 1
        if self._options.once:  # nothing is put off that would then be left
            limit = min(limit, *rooms)
        if is_one_full and time.monotonic() < self._sweep_at:
            return 0
        taken = self._claim(limit, free)
        if is_one_full:  # others' runs may stand behind those of the one that is full
            self._sweep_at = time.monotonic() + SWEEP
        return taken

    def _claim(self, limit: int, handlers: Sequence[Handler]) -> int:
        if limit < 1:
            return 0
        try:
            rows, sent_at = self._claims.claim(min(limit, AT_ONCE), handlers)
        except (psycopg.Error, LfSqlError) as error:
            self._give_up(error)
            return 0
        too_many = self._desk.take(rows, sent_at)
        if too_many:
            for attempt in too_many:
                self._leases.drop(attempt)
            self._claims.give_back(too_many, PUT_OFF)
            self._sweep_at = time.monotonic() + SWEEP
        return len(rows) if self._options.once else len(rows) - len(too_many)

    def _pause(self) -> float:
        """Seconds until the next claim, if no notification comes before."""
        most = 0.2 if self._options.once else self._options.poll
        others = (self._sweep_at - time.monotonic(), self._workflows.look_again)
        return min([most, *(seconds for seconds in others if seconds > 0)])

    def _drain(self) -> None:
        unbegun = self._desk.unbegun()
        for attempt in unbegun:
            self._leases.drop(attempt)
        if unbegun:
            self._claims.give_back(unbegun, 0)
        if self._desk.is_busy:
            log.info("stopping: %s runs are under way", self._desk.running)
        self._desk.wait(self._gone, LAST_WAIT)
