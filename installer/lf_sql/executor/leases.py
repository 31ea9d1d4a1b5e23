"""The runs that an executor holds: their leases kept, and told of where one is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import psycopg

from lf_sql.errors import LfSqlError
from lf_sql.link import Link, Outage, pauses
from lf_sql.trouble import ends_session, kind_of

GRACE = 10.0  # seconds for what was told to end to do so
AT_ONCE = 1000  # runs that one call takes
DISTURBED = ("55P03", "40P01")  # blocked by a lock: then each run is tried by itself

# A row that another session has locked must not delay the heartbeats of other runs; the limit is
# this statement's.
LIMITED = """
with limited as materialized (select pg_catalog.set_config('lock_timeout', %s, true))
"""
BEAT = f"""
{LIMITED}
select %s as worker_id, %s as id from limited where lenses.fn_heartbeat_workflow_run(
  %s, %s, pg_catalog.make_interval(secs => %s), %s)
"""  # noqa: S608
BEATS = f"""
{LIMITED}
select h.worker_id, lenses.fn_heartbeat_workflow_runs(
  h.worker_id, h.ids, pg_catalog.make_interval(secs => %s))::text as id
from limited, (
  select u.worker_id, pg_catalog.array_agg(u.id) as ids
  from rows from (pg_catalog.unnest(%s::text[]), pg_catalog.unnest(%s::uuid[]))
    as u (worker_id, id)
  group by u.worker_id
) as h
"""  # noqa: S608


class Watcher(Protocol):
    """What works on an attempt; called from other threads."""

    def held(self, until: float, kill_at: float) -> None:
        """The lease reaches so far, by the monotonic clock: end in between at the latest."""

    def lost(self) -> None:
        """Another executor has the run now: end; the result no longer counts."""

    def end(self) -> None:
        """The process is about to end: end too; the result still counts."""


W = TypeVar("W", bound=Watcher)


class Attempt:
    """One attempt of a run, from its claim until its end has been told."""

    def __init__(self, row: dict[str, Any], sent_at: float, lease: float) -> None:
        self.row = row
        self.id: str = row["id"]
        self.number: int = row["attempt"]
        self.worker_id: str = row["worker_id"]
        self.over = threading.Event()  # no worker has it any more, or ever had
        self.told_to_stop = threading.Event()  # for the handler: lost, over time, or to be ended
        self.beat_at = 0.0
        self.until = 0.0
        self._lease = lease
        self._lock = threading.Lock()
        self._watcher: Watcher | None = None
        self.knows_it = False  # its worker has been told that it is lost
        self._hold(sent_at, row.get("lease_left") or lease)

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
        return self.knows_it or time.monotonic() >= self.until

    def held(self, sent_at: float) -> None:
        """A heartbeat sent then was accepted."""
        with self._lock:
            self._hold(sent_at, self._lease)

    def _hold(self, sent_at: float, lease: float) -> None:
        # The server counts from a later moment, so that its lease ends after all of these.
        margin = min(GRACE, lease / 5)
        self.until, self._kill_at = sent_at + lease - margin, sent_at + lease - margin / 5
        self.beat_at = sent_at + lease / 3
        if self._watcher is not None:
            self._watcher.held(self.until, self._kill_at)

    def lose(self) -> None:
        """Another executor has it now: its worker must end, and no other may begin."""
        with self._lock:
            self.knows_it = True
            self.told_to_stop.set()
            if self._watcher is not None:
                self._watcher.lost()

    def begin(self, start: Callable[[], W]) -> W | None:
        """Set its worker, unless the lease is lost already."""
        with self._lock:
            if self.is_lost:
                return None
            watcher = start()
            self._watcher = watcher
            watcher.held(self.until, self._kill_at)
            return watcher

    def ended(self) -> None:
        """No worker has it any more, and nothing is left to end."""
        with self._lock:
            self._watcher = None

    def end(self) -> None:
        """Ask its worker to end; the result still counts."""
        with self._lock:
            self.told_to_stop.set()
            if self._watcher is not None:
                self._watcher.end()


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
        self._lock = threading.Lock()
        self._held: dict[tuple[str, str], Attempt] = {}
        self._left: dict[
            tuple[str, str], float
        ] = {}  # dropped, though its lease on the server is still valid
        self._changed = threading.Event()
        self._tries = pauses()

    def start(self) -> None:
        threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def add(self, row: dict[str, Any], sent_at: float) -> tuple[Attempt, list[Attempt]]:
        """A run that was claimed, and its earlier attempts here, which are lost."""
        attempt = Attempt(row, sent_at, self._lease)
        with self._lock:
            earlier = [other for other in self._held.values() if other.id == attempt.id]
            self._held[attempt.key] = attempt
        for other in earlier:
            other.lose()
        return attempt, earlier

    def look(self) -> None:
        """There are new ones: their first heartbeat may be the next."""
        self._changed.set()

    def drop(self, attempt: Attempt) -> None:
        """Its end has been reported, or is another executor's to report."""
        now = time.monotonic()
        with self._lock:
            self._held.pop(attempt.key, None)
            if len(self._left) > AT_ONCE:
                self._left = {key: until for key, until in self._left.items() if until > now}
            self._left[attempt.key] = now + self._lease
        self._outage.back(attempt.id)
        self._outage.back(attempt.beats)

    def held(self) -> list[Attempt]:
        with self._lock:
            return list(self._held.values())

    def known(self) -> set[tuple[str, str]]:
        """The attempts that are or were here, as long as the server may call them running."""
        with self._lock:
            return {*self._held, *self._left}

    def close(self) -> None:
        self._changed.set()

    def _run(self) -> None:
        while not self._gone.is_set():
            now = time.monotonic()
            ours = []
            for attempt in self.held():
                if not attempt.is_lost:
                    ours.append(attempt)
                elif not attempt.knows_it:
                    attempt.lose()
            # Those whose turn comes soon go along, so that all that are held are one call.
            if any(attempt.beat_at <= now for attempt in ours):
                self._beat_all([a for a in ours if a.beat_at <= now + self._lease / 12])
            now = time.monotonic()
            ours = [attempt for attempt in self.held() if not attempt.knows_it]
            nearest = min((min(a.beat_at, a.until) for a in ours), default=now + self._lease)
            self._changed.wait(max(nearest - now, 0.02))
            self._changed.clear()
        self._link.close()

    def _beat_all(self, due: Sequence[Attempt]) -> None:
        for start in range(0, len(due), AT_ONCE):
            if not self._beat(due[start : start + AT_ONCE]):
                return

    def _beat(self, some: Sequence[Attempt]) -> bool:
        """False where there is no use in trying the next ones at once."""
        sent_at = time.monotonic()
        limit = f"{max(int(self._lease * 100), 100)}ms"
        try:
            if len(some) == 1:
                (one,) = some
                key = [one.worker_id, one.id, one.id, one.worker_id, self._lease, one.number]
                rows = self._link.once(BEAT, [limit, *key], one.beats)
            else:
                keys = [[a.worker_id for a in some], [a.id for a in some]]
                rows = self._link.once(BEATS, [limit, self._lease, *keys])
        except (psycopg.Error, LfSqlError) as error:
            if len(some) > 1 and getattr(error, "sqlstate", None) in DISTURBED:
                return all(self._beat([attempt]) for attempt in some)
            if kind_of(error) == "usage":
                self._give_up(error)
            pause = min(next(self._tries), max(self._lease / 20, 0.05))
            for other in some if isinstance(error, psycopg.Error) else self.held():
                other.beat_at = max(other.beat_at, time.monotonic() + pause)
            return isinstance(error, psycopg.Error) and not ends_session(error)
        self._tries = pauses()
        ours = {(row["id"], row["worker_id"]) for row in rows}
        for attempt in some:
            if attempt.key in ours:
                attempt.held(sent_at)
            else:
                attempt.lose()
        return True
