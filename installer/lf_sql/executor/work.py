"""A handler at work on one attempt, in a thread or as a task, and told what befalls it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

from lf_sql.executor.failures import (
    ContractViolated,
    RunFailed,
    TransientError,
    Verdict,
    verdict_of,
)
from lf_sql.executor.handlers import Handler
from lf_sql.executor.leases import GRACE, Attempt, Watcher
from lf_sql.executor.log import log
from lf_sql.executor.run import Run, dumps

Settle = Callable[[Verdict], None]


class Plain:
    """A plain handler looks at `run.cancelled` itself."""

    def __init__(self) -> None:
        self.is_ended = False

    def held(self, until: float, kill_at: float) -> None: ...

    def lost(self) -> None: ...

    def end(self) -> None:
        self.is_ended = True


class Task:
    """An `async` handler is cancelled."""

    def __init__(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
        self.is_ended = False
        self._loop = loop
        self._task = task

    def held(self, until: float, kill_at: float) -> None: ...

    def lost(self) -> None:
        self._loop.call_soon_threadsafe(self._task.cancel)

    def end(self) -> None:
        self.is_ended = True
        self.lost()


class Clock:
    """The time-out of a handler: it is told, and given a while.

    If it goes on, as a plain one may and an `async` one that swallows its cancellation, its
    attempt fails nevertheless; its place stays taken until it ends.
    """

    def __init__(
        self,
        seconds: float | None,
        attempt: Attempt,
        late: Callable[[], None],
        watcher: Watcher | None = None,
    ) -> None:
        self.is_over = False
        self._watcher = watcher
        self._attempt = attempt
        self._late = late
        self._timer = self._start(seconds, self._over) if seconds is not None else None

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _start(self, seconds: float, what: Callable[[], None]) -> threading.Timer:
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), what)
        timer.daemon = True
        timer.start()
        return timer

    def _over(self) -> None:
        self.is_over = True
        self._attempt.told_to_stop.set()
        if self._watcher is not None:
            self._watcher.lost()
        self._timer = self._start(GRACE, self._late)


def work_plain(
    handler: Handler, run: Run, attempt: Attempt, earlier: Sequence[Attempt], settle: Settle
) -> None:
    """In this thread. `settle` is called once it is known how the attempt ended: at its end, or
    before, where the handler is over its time and does not end."""
    for other in earlier:  # two of a run never work side by side
        other.over.wait()
    watcher = attempt.begin(Plain)
    if watcher is None:
        settle(Verdict(None, ""))
        return
    timeout = None if handler.keeps_time else run.timeout
    clock = Clock(timeout, attempt, lambda: settle(_timed_out(run)))
    try:
        verdict = _verdict(handler.function(run), run)
    except BaseException as error:
        verdict = _failed(error, run, watcher.is_ended)
    clock.stop()
    attempt.ended()
    settle(_timed_out(run) if clock.is_over else verdict)


async def work_async(
    handler: Handler, run: Run, attempt: Attempt, earlier: Sequence[Attempt], settle: Settle
) -> None:
    """As a task of this loop."""
    for other in earlier:
        await asyncio.to_thread(other.over.wait)
    task = asyncio.current_task()
    assert task is not None
    watcher = attempt.begin(lambda: Task(asyncio.get_running_loop(), task))
    if watcher is None:
        settle(Verdict(None, ""))
        return
    clock = Clock(run.timeout, attempt, lambda: settle(_timed_out(run)), watcher)
    try:
        verdict = _verdict(await handler.function(run), run)
    except BaseException as error:
        verdict = _failed(error, run, watcher.is_ended, quietly=clock.is_over)
    clock.stop()
    attempt.ended()
    settle(_timed_out(run) if clock.is_over else verdict)


def _verdict(result: Any, run: Run) -> Verdict:
    if isinstance(result, Verdict):
        return result
    try:
        text = "" if result is None or run.is_left else dumps(result)
    except ValueError as error:
        return verdict_of(ContractViolated(f"the handler's result is {error}"), run.spent)
    return Verdict(None, text, run.spent)


def _failed(error: BaseException, run: Run, is_ended: bool, quietly: bool = False) -> Verdict:
    run.span.raised(error)
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit) and is_ended:
        error = TransientError("the executor has ended before the run")
    elif not (run.cancelled or quietly or isinstance(error, RunFailed | TimeoutError)):
        about = {"run_id": str(run.id), "attempt": run.attempt, "workflow": run.workflow}
        log.error("run %s: its handler raised", run.id, exc_info=error, extra=about)
    return verdict_of(error, run.spent)


def _timed_out(run: Run) -> Verdict:
    return Verdict("timeout", f"no end after {(run.timeout or 0) * 1000:.0f} ms", run.spent)
