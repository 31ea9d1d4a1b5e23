"""Reports how attempts ended to the database until it answers; many at once.

A thread with a link of its own. What the server cannot take now is tried again after a pause, by
itself, so that a locked row delays no other.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import psycopg

from lf_sql.errors import LfSqlError, Stopped
from lf_sql.executor.failures import Verdict, refused
from lf_sql.executor.leases import Attempt
from lf_sql.executor.log import log
from lf_sql.link import Link, Outage, pauses, words
from lf_sql.trouble import ends_session, kind_of

AT_ONCE = 200  # results, or events, that one call takes
BYTES_AT_ONCE = 4 * 1024 * 1024

COMPLETE = "select lenses.fn_complete_workflow_run(%s, %s, %s::jsonb, %s, %s) as is_ours"
COMPLETES = "select lenses.fn_complete_workflow_runs(%s, %s::jsonb)::text as id"
FAIL = (
    "select lenses.fn_fail_workflow_run(%s, %s, %s, %s, %s, %s, "
    "pg_catalog.make_interval(secs => %s), %s) as is_ours"
)
BOOK = "select lenses.fn_book_run_credits(%s, %s, %s, %s) as is_ours"
EVENTS = (
    "select lenses.fn_append_run_event(e.run_id, e.worker_id, e.event_type, e.payload, e.attempt) "
    "from pg_catalog.jsonb_to_recordset(%s::jsonb) as e "
    "(run_id uuid, worker_id text, event_type text, payload jsonb, attempt integer)"
)
TOLD = (
    "select exists (select from lenses.workflow_run_events as e "
    "where e.run_id = %s and e.payload ->> 'worker_id' = %s and e.payload ->> 'from' = 'running' "
    "and e.payload ->> 'attempt' = %s and e.payload ->> 'cause' is not distinct from %s "
    "and coalesce(e.payload ->> 'error', '') = pg_catalog.left(%s, 2000)) as is_told"
)


class Untold(LfSqlError):
    """The database takes neither the result nor the failure."""


@dataclass
class Item:
    """Something to tell of an attempt. `done` gets what was accepted, None where the run is not
    ours any more, or the error that ended the tries."""

    attempt: Attempt
    done: Callable[[Verdict | None, Exception | None], None] = lambda *_: None
    verdict: Verdict | None = None  # its end, or
    event: tuple[str, str] | None = None  # an event, its payload as JSON, or
    booked: Verdict | None = None  # its credits when it was lost
    doubt: bool = False  # the server may have done it though no answer came
    refusals: int = 0
    not_before: float = 0.0
    pauses: Iterator[float] = field(default_factory=pauses)
    tries: int = 0

    def end(self, told: Verdict | None, error: Exception | None) -> None:
        """Call `done`; what it raises stops no other report."""
        try:
            self.done(told, error)
        except BaseException:
            log.exception("run %s: its end was told, but not heard", self.attempt.id)

    @property
    def size(self) -> int:
        return len(self.verdict.text) if self.verdict else len(self.event[1]) if self.event else 0


class Reports:
    """`put` returns at once; the thread ends when it is closed and nothing is left to tell."""

    def __init__(self, link: Link, outage: Outage, gone: threading.Event) -> None:
        self._link = link
        self._outage = outage
        self._gone = gone
        self._lock = threading.Condition()
        self._items: list[Item] = []
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="reports", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, item: Item) -> None:
        """Tell it, after what was put before of the same attempt."""
        with self._lock:
            self._items.append(item)
            self._lock.notify()

    def leave(self) -> None:
        """`gone` is set: wait no longer."""
        with self._lock:
            self._lock.notify()

    def close(self) -> None:
        """Wait until all has been told, or left."""
        with self._lock:
            self._is_closed = True
            self._lock.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._lock:
                while not (batch := self._next()):
                    if self._is_closed and not self._items:
                        return
                    self._lock.wait(self._pause())
            self._tell(batch)

    def _pause(self) -> float | None:
        nearest = min((item.not_before for item in self._items), default=None)
        return None if nearest is None else max(nearest - time.monotonic(), 0.0)

    def _next(self) -> list[Item]:
        """The first that may be tried now, and those that one call can take with it."""
        now = float("inf") if self._gone.is_set() else time.monotonic()
        batch: list[Item] = []
        passed: set[tuple[str, str]] = set()  # attempts that have something older to tell
        size = 0
        for item in self._items:
            key = item.attempt.key
            if key in passed or item.not_before > now or (batch and not _go_together(batch, item)):
                passed.add(key)
                continue
            batch.append(item)
            size += item.size
            if item.event is None:
                passed.add(key)
            if len(batch) >= AT_ONCE or size >= BYTES_AT_ONCE:
                break
        chosen = {id(item) for item in batch}
        self._items = [item for item in self._items if id(item) not in chosen]
        return batch

    def _tell(self, batch: list[Item]) -> None:
        left = batch
        try:
            if len(batch) > 1:
                left = self._many(batch)
                self._outage.back("together")
        except Exception as error:
            if kind_of(error) == "server":
                self._outage.lost("together", error)
                is_in_doubt = ends_session(error)
                for item in reversed(batch):  # each goes to the front again
                    item.doubt = item.doubt or is_in_doubt
                    item.tries += 1
                    self._again(item, error)
                return
        for item in left:
            self._one(item)

    def _again(self, item: Item, error: Exception) -> None:
        if self._gone.is_set():
            item.end(None, Stopped(words(error)))
            return
        item.not_before = time.monotonic() + next(item.pauses)
        with self._lock:
            self._items.insert(0, item)

    def _many(self, batch: Sequence[Item]) -> list[Item]:
        """One call for all; those of which it says nothing are left."""
        if batch[0].event is not None:
            records = ",".join(_event(item) for item in batch)
            self._link.once(EVENTS, [f"[{records}]"], "together")
            return []
        records = ",".join(_result(item) for item in batch)
        given = [batch[0].attempt.worker_id, f"[{records}]"]
        accepted = {row["id"] for row in self._link.once(COMPLETES, given, "together")}
        for item in batch:
            if item.attempt.id in accepted:
                item.end(item.verdict, None)
        return [item for item in batch if item.attempt.id not in accepted]

    def _one(self, item: Item) -> None:
        try:
            told = self._accepted(item)
        except Exception as error:
            kind = kind_of(error)
            if kind == "server":
                item.doubt = item.doubt or ends_session(error)
                item.tries += 1
                self._again(item, error)
            elif kind == "run" and item.verdict and isinstance(error, psycopg.Error):
                self._refused(item, item.verdict, error)
            else:
                item.end(None, error)
            return
        self._outage.back("together")  # one alone got through
        item.end(told, None)

    def _refused(self, item: Item, verdict: Verdict, error: psycopg.Error) -> None:
        item.refusals += 1
        item.verdict, item.doubt = refused(verdict, error), False
        if item.refusals == 3:  # the verdict, its refusal, the refusal without credits
            item.end(None, Untold(f"the database takes no end of it: {item.verdict.text}"))
        else:
            self._one(item)

    def _accepted(self, item: Item) -> Verdict | None:
        attempt = item.attempt
        who = [attempt.id, attempt.worker_id]
        if item.event is not None:
            self._link.once(EVENTS, [f"[{_event(item)}]"], attempt.id)
            return None
        if item.booked is not None:
            given = [*who, attempt.number, item.booked.spent]
            (row,) = self._link.once(BOOK, given, attempt.id)
            return item.booked if row["is_ours"] else None
        verdict = item.verdict
        assert verdict is not None
        if verdict.cause is None:
            given = [*who, verdict.text or None, verdict.spent, attempt.number]
            (row,) = self._link.once(COMPLETE, given, attempt.id)
        else:
            given = [*who, verdict.cause, verdict.text, verdict.spent, attempt.number]
            wishes = [verdict.retry_after, verdict.is_final]
            (row,) = self._link.once(FAIL, [*given, *wishes], attempt.id)
        if row["is_ours"] or (item.doubt and self._was_told(attempt, verdict)):
            return verdict
        return None

    def _was_told(self, attempt: Attempt, verdict: Verdict) -> bool:
        """Whether it was accepted when the connection broke before the answer came."""
        error = verdict.text if verdict.cause is not None else ""
        given = [attempt.id, attempt.worker_id, str(attempt.number), verdict.cause, error]
        try:
            (row,) = self._link.once(TOLD, given, attempt.id)
        except psycopg.Error as trouble:
            if kind_of(trouble) == "server":
                raise
            said = "run %s: whether it was accepted is not known: %s"
            log.warning(said, attempt.id, words(trouble))
            return False
        return bool(row["is_told"])


def _go_together(batch: Sequence[Item], item: Item) -> bool:
    """What one call can take: results of one worker id, or events, that have met no trouble."""
    first = batch[0]
    if first.tries or item.tries or (first.event is None) != (item.event is None):
        return False
    if item.event is not None:
        return True
    is_complete = all(i.verdict is not None and i.verdict.cause is None for i in (first, item))
    return is_complete and first.attempt.worker_id == item.attempt.worker_id


def _result(item: Item) -> str:
    """Its text is JSON by then: it was made so, or the database has read it."""
    assert item.verdict is not None
    result = f',"result":{item.verdict.text}' if item.verdict.text else ""
    return (
        f'{{"run_id":"{item.attempt.id}","attempt":{item.attempt.number},'
        f'"spent_credits":{item.verdict.spent:f}{result}}}'
    )


def _event(item: Item) -> str:
    assert item.event is not None
    name, payload = item.event
    return (
        f'{{"run_id":"{item.attempt.id}","worker_id":{json.dumps(item.attempt.worker_id)},'
        f'"attempt":{item.attempt.number},"event_type":"{name}","payload":{payload}}}'
    )
