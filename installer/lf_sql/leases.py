"""The runs that an executor holds: their leases kept, their commands ended where one is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg

from lf_sql.command import GRACE, Running
from lf_sql.errors import LfSqlError
from lf_sql.keeper import Keeper
from lf_sql.link import Link, Outage, pauses
from lf_sql.trouble import ends_session, kind_of

# A row that somebody holds keeps no other run from its heartbeat; the limit is this statement's.
BEAT = """
with limited as materialized (select pg_catalog.set_config('lock_timeout', %s, true))
select lenses.fn_heartbeat_workflow_run(
  %s, %s, pg_catalog.make_interval(secs => %s), %s) as is_ours
from limited
"""


class Attempt:
    """One attempt of a run, from its claim until its end has been told."""

    def __init__(self, run: dict[str, Any], sent_at: float, lease: float, keeper: Keeper) -> None:
        self.run = run
        self.id: str = run["id"]
        self.number: int = run["attempt"]
        self.worker_id: str = run["worker_id"]
        self.over = threading.Event()  # its command has ended, or never began
        self._keeper = keeper
        self._lease = lease
        self._lock = threading.Lock()
        self._running: Running | None = None
        self._is_lost = False
        self.beat_at = 0.0
        self._hold(sent_at, run.get("lease_left") or lease)

    @property
    def key(self) -> tuple[str, str]:
        return self.id, self.worker_id

    @property
    def beats(self) -> str:
        """Who its heartbeats are, in an outage."""
        return f"heartbeat {self.id}"

    @property
    def is_lost(self) -> bool:
        """By the server's word, or since the lease is over by our own clock."""
        return self._is_lost or time.monotonic() >= self._until

    def held(self, sent_at: float) -> None:
        """A heartbeat sent then was accepted."""
        with self._lock:
            self._hold(sent_at, self._lease)

    def _hold(self, sent_at: float, lease: float) -> None:
        # The server counts from a later moment, so that its lease ends after all of these.
        margin = min(GRACE, lease / 5)
        self._until, self._kill_at = sent_at + lease - margin, sent_at + lease - margin / 5
        self.beat_at = sent_at + lease / 3
        if self._running is not None:
            self._keeper.keep(self._running.group, self._until, self._kill_at)

    def lose(self) -> None:
        """It is somebody else's now: end its command, and do not begin it."""
        with self._lock:
            self._is_lost = True
            if self._running is not None:
                self._running.abandon()

    def begin(self, start: Callable[[], Running]) -> Running | None:
        """The command, unless the lease is lost already."""
        with self._lock:
            if self.is_lost:
                return None
            self._running = start()
            self._keeper.keep(self._running.group, self._until, self._kill_at)
            return self._running

    def end(self) -> None:
        """Ask the command to end; how it ends counts."""
        with self._lock:
            if self._running is not None:
                self._running.end()

    def ended(self) -> None:
        """Nothing of the command is left that must be ended."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            self._keeper.forget(running.group)
            if self.is_lost:
                running.clear()
        self.over.set()


class Leases:
    """A thread with a link of its own, so that no heartbeat waits behind another statement."""

    def __init__(
        self,
        link: Link,
        outage: Outage,
        lease: float,
        gone: threading.Event,
        give_up: Callable[[Exception], None],
    ) -> None:
        self._link = link
        self._outage = outage
        self._lease = lease
        self._gone = gone
        self._give_up = give_up
        self._keeper = Keeper()
        self._lock = threading.Lock()
        self._held: dict[tuple[str, str], Attempt] = {}
        self._changed = threading.Event()
        self._tries = pauses()

    def start(self) -> None:
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def add(self, run: dict[str, Any], sent_at: float) -> tuple[Attempt, list[Attempt]]:
        """A run that was claimed, and its earlier attempts here, whose commands are ended."""
        attempt = Attempt(run, sent_at, self._lease, self._keeper)
        with self._lock:
            earlier = [other for other in self._held.values() if other.id == attempt.id]
            self._held[attempt.key] = attempt
        for other in earlier:
            other.lose()
        self._changed.set()
        return attempt, earlier

    def drop(self, attempt: Attempt) -> None:
        """Its end has been told, or is somebody else's."""
        with self._lock:
            self._held.pop(attempt.key, None)
        self._outage.back(attempt.id)
        self._outage.back(attempt.beats)

    def held(self) -> list[Attempt]:
        with self._lock:
            return list(self._held.values())

    def close(self) -> None:
        self._changed.set()
        self._keeper.close()

    def _run(self) -> None:
        while not self._gone.is_set():
            now = time.monotonic()
            for attempt in self.held():
                if attempt.beat_at <= now and not self._beat(attempt):
                    break
            now = time.monotonic()
            nearest = min((a.beat_at for a in self.held()), default=now + self._lease)
            self._changed.wait(max(nearest - now, 0.02))
            self._changed.clear()
        self._link.close()

    def _beat(self, attempt: Attempt) -> bool:
        """False where there is no use in trying the next one at once."""
        sent_at = time.monotonic()
        try:
            most = f"{max(int(self._lease * 100), 100)}ms"
            given = [most, attempt.id, attempt.worker_id, self._lease, attempt.number]
            (row,) = self._link.once(BEAT, given, attempt.beats)
        except (psycopg.Error, LfSqlError) as error:
            if kind_of(error) == "usage":
                self._give_up(error)
            pause = min(next(self._tries), max(self._lease / 20, 0.05))
            for other in [attempt] if isinstance(error, psycopg.Error) else self.held():
                other.beat_at = max(other.beat_at, time.monotonic() + pause)
            return isinstance(error, psycopg.Error) and not ends_session(error)
        self._tries = pauses()
        if row["is_ours"]:
            attempt.held(sent_at)
        else:
            attempt.lose()
            attempt.beat_at = time.monotonic() + self._lease
        return True
