"""Runs handed out to their handlers, as many as each may have, and what becomes of each attempt."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from lf_sql.errors import Stopped
from lf_sql.executor import spans
from lf_sql.executor.failures import Verdict, capped, verdict_of
from lf_sql.executor.handlers import Handler, Handlers
from lf_sql.executor.leases import Attempt, Leases
from lf_sql.executor.log import log
from lf_sql.executor.reports import Item, Reports, Untold
from lf_sql.executor.run import Run
from lf_sql.executor.threads import Threads
from lf_sql.executor.work import work_async, work_plain
from lf_sql.link import words
from lf_sql.trouble import kind_of

Status = Literal["completed", "failed", "left", "lost"]


@dataclass(frozen=True)
class Outcome:
    """What became of an attempt: `completed`, `failed`, `left` to another process, or `lost`:
    cancelled, its lease gone, or not taken by the database."""

    run: Run
    status: Status
    verdict: Verdict
    said: str


@dataclass(eq=False)
class Job:
    """An attempt on its way through the desk."""

    attempt: Attempt
    run: Run
    handler: Handler | None
    earlier: Sequence[Attempt]
    claimed_at: int  # nanoseconds since 1970
    is_settled: bool = False


class Desk:
    """`take` puts runs in line, `begin` hands out; `wake` is called when there is room again."""

    def __init__(
        self,
        handlers: Handlers,
        concurrency: int,
        leases: Leases,
        reports: Reports,
        loop: asyncio.AbstractEventLoop | None,
        wake: Callable[[], None],
        on_end: Callable[[Outcome], None],
        clean: Callable[[str], str],
        give_up: Callable[[Exception], None],
    ) -> None:
        self._handlers = handlers
        self._concurrency = concurrency
        self._leases = leases
        self._reports = reports
        self._loop = loop
        self._wake = wake
        self._on_end = on_end
        self._clean = clean
        self._give_up = give_up
        self._threads = Threads("run")
        self._tasks: set[asyncio.Task[None]] = set()
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._running = 0
        self._untold = 0  # ended, and not yet accepted

    @property
    def running(self) -> int:
        """Runs that a handler has."""
        return self._running

    @property
    def is_busy(self) -> bool:
        with self._lock:
            return self._is_busy()

    def _is_busy(self) -> bool:
        return bool(self._running or self._untold) or any(h.waiting for h in self._handlers.all())

    def room(self) -> tuple[int, list[tuple[Handler, int]]]:
        """How many runs could be taken now, and how many of them each handler has room for."""
        with self._lock:
            most = self._concurrency
            left = max(0, min(most, most + most // 2 - self._untold) - self._running)
            return left, [(handler, handler.room) for handler in self._handlers.all()]

    def take(self, rows: Sequence[dict[str, Any]], sent_at: float) -> list[Attempt]:
        """Claimed runs; those that are too many for their handler, or have none, come back."""
        too_many, now = [], time.time_ns()
        for row in rows:
            attempt, earlier = self._leases.add(row, sent_at)
            run = Run(attempt, self._append)
            job = Job(attempt, run, self._handlers.find(row), earlier, now)
            with self._lock:
                if job.handler is None or job.handler.room < 1:
                    too_many.append(attempt)
                else:
                    job.handler.waiting.append(job)
        self._leases.look()
        self.begin()
        return too_many

    def begin(self) -> None:
        """Hand out what waits, where its handler has a place."""
        begun = []
        with self._lock:
            for handler in self._handlers.all():
                while (
                    handler.waiting
                    and handler.running < handler.limit
                    and self._running < self._concurrency
                ):
                    handler.running += 1
                    self._running += 1
                    begun.append(handler.waiting.popleft())
        tasks = [job for job in begun if job.handler and job.handler.is_async]
        if tasks:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._begin_tasks, tasks)
        for job in begun:
            if job.handler and not job.handler.is_async:
                self._threads.begin(partial(self._work, job))

    def unbegun(self) -> list[Attempt]:
        """Remove and return the jobs that no worker has begun."""
        with self._lock:
            found = [job.attempt for h in self._handlers.all() for job in h.waiting]
            for handler in self._handlers.all():
                handler.waiting.clear()
        return found

    def wait(self, gone: threading.Event, last: float) -> None:
        """Until nothing is under way; once `gone` is set, `last` seconds at most."""
        with self._idle:
            while self._is_busy() and not gone.is_set():
                self._idle.wait(0.5)
            self._idle.wait_for(lambda: not self._running, last)

    def close(self) -> None:
        self._threads.close()

    def _begin_tasks(self, jobs: Sequence[Job]) -> None:
        for job in jobs:
            task = asyncio.ensure_future(self._work_async(job))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _work(self, job: Job) -> None:
        assert job.handler is not None
        settle = partial(self._settle, job)
        try:
            with self._span(job).current():
                work_plain(job.handler, job.run, job.attempt, job.earlier, settle)
        except BaseException as error:
            self._broken(job, error)
        finally:
            self._over(job)

    async def _work_async(self, job: Job) -> None:
        assert job.handler is not None
        settle = partial(self._settle, job)
        try:
            with self._span(job).current():
                await work_async(job.handler, job.run, job.attempt, job.earlier, settle)
        except BaseException as error:
            self._broken(job, error)
        finally:
            self._over(job)

    def _span(self, job: Job) -> spans.Span:
        job.run.span = spans.begin(job.run, job.claimed_at)
        return job.run.span

    def _append(self, attempt: Attempt, event_type: str, payload: str) -> None:
        def done(_: Verdict | None, error: Exception | None) -> None:
            if error is not None:
                said = "run %s: the event %s was not written: %s"
                log.warning(said, attempt.id, event_type, words(error))

        self._reports.put(Item(attempt, done, event=(event_type, payload)))

    def _over(self, job: Job) -> None:
        """No worker has it any more."""
        job.attempt.over.set()
        with self._lock:
            self._running -= 1
            if job.handler is not None:
                job.handler.running -= 1
            self._idle.notify_all()
        self.begin()
        self._wake()

    def _broken(self, job: Job, error: BaseException) -> None:
        """What is around its handler raised: a run that nobody ends would be held for ever."""
        log.error("run %s: it could not be worked on", job.attempt.id, exc_info=error)
        job.attempt.ended()
        self._settle(job, verdict_of(error, job.run.spent))

    def _settle(self, job: Job, verdict: Verdict) -> None:
        """How its attempt ended; the first report counts."""
        attempt = job.attempt
        text = verdict.text if verdict.cause is None else self._clean(verdict.text)
        told = capped(replace(verdict, text=text), attempt.row)  # before anything is marked
        with self._lock:
            if job.is_settled:
                return
            job.is_settled = True
            self._untold += 1
        if attempt.is_lost:
            self._lost(job, verdict, "the lease is lost, left to whoever has it now")
        elif job.run.is_left and verdict.cause is None:
            self._book(job, verdict)
            self._end(job, "left", verdict, "left to whoever was told")
        else:
            self._reports.put(Item(attempt, partial(self._told, job, told), told))

    def _told(
        self, job: Job, verdict: Verdict, told: Verdict | None, error: Exception | None
    ) -> None:
        if isinstance(error, Stopped):
            self._end(job, "lost", verdict, f"left undelivered: {error.message}")
        elif error is not None:
            self._end(job, "lost", verdict, f"{words(error)}; its lease decides")
            if kind_of(error) == "usage" and not isinstance(error, Untold):
                self._give_up(error)
        elif told is None:
            self._lost(job, verdict, "too late, the run is not ours any more")
        elif told.cause is None:
            self._end(job, "completed", told, "completed")
        else:
            first = told.text.splitlines()[0] if told.text else told.cause
            self._end(job, "failed", told, f"failed: {first}")

    def _lost(self, job: Job, verdict: Verdict, said: str) -> None:
        self._book(job, verdict)
        self._end(job, "lost", verdict, said)

    def _book(self, job: Job, verdict: Verdict) -> None:
        """Credits are booked, even if another executor has the run now."""
        if verdict.spent <= 0:
            return
        with self._lock:
            self._untold += 1

        def done(told: Verdict | None, error: Exception | None) -> None:
            if error is not None or told is None:
                why = "nobody there takes it" if error is None else words(error)
                said = "run %s: %s credits of attempt %s were not booked: %s"
                log.error(said, job.attempt.id, verdict.spent, job.attempt.number, why)
            self._one_less()

        self._reports.put(Item(job.attempt, done, booked=verdict))

    def _end(self, job: Job, status: Status, verdict: Verdict, said: str) -> None:
        attempt = job.attempt
        self._leases.drop(attempt)
        try:
            self._say_end(job, status, verdict, said)
        finally:
            self._one_less()

    def _say_end(self, job: Job, status: Status, verdict: Verdict, said: str) -> None:
        attempt = job.attempt
        about = {
            "run_id": attempt.id,
            "attempt": attempt.number,
            "workflow": attempt.row["title"],
            "status": status,
            "cause": verdict.cause,
        }
        level = logging.INFO if status in ("completed", "left") else logging.WARNING
        log.log(level, "run %s: %s", attempt.id, said, extra=about)
        job.run.span.end(status, verdict.cause, said)
        try:
            self._on_end(Outcome(job.run, status, verdict, said))
        except BaseException:  # as of a handler: nobody ends this thread
            log.exception("run %s: on_end raised", attempt.id, extra=about)

    def _one_less(self) -> None:
        with self._lock:
            self._untold -= 1
            self._idle.notify_all()
        self._wake()
