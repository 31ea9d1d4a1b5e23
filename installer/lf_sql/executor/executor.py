"""The library's face: handlers by workflow, and a process that gives them its runs."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from lf_sql.errors import LfSqlError
from lf_sql.executor.desk import Outcome
from lf_sql.executor.handlers import Function, Handler, Handlers
from lf_sql.executor.machine import Machine, Options

F = TypeVar("F", bound=Function)

LAST_WORDS = 2.0  # seconds for tasks that are cancelled as the process ends


def refuse_a_second_loop(instead: str) -> None:
    """LfSqlError where an event loop runs in this thread already, which asyncio bears only once."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise LfSqlError("an event loop runs in this thread already", instead)


class Executor:
    """Claims runs and gives each to the handler of its workflow.

    `dsn` None is LF_SQL_DSN, DATABASE_URL or libpq's own variables; the role needs service_role's
    rights. `concurrency`: runs at once. `lease`: seconds after which another executor may have the
    runs of one that has died; it is extended three times in that time, and a handler learns as
    often that its run was cancelled. `poll`: seconds after which it looks for runs though no
    notification came. `grace`: seconds that runs have to end once it is to stop; None: all the
    time they want. `once`: end when nothing is left to claim. Runs of workflows without a handler
    are left alone, for another executor. `on_end` gets what became of each attempt, in the threads
    that tell it. ValueError: a number that makes no sense.
    """

    def __init__(
        self,
        dsn: str | None = None,
        *,
        concurrency: int = 10,
        lease: float = 300.0,
        poll: float = 5.0,
        grace: float | None = None,
        once: bool = False,
        application: str = "lf-sql executor",
        on_end: Callable[[Outcome], None] | None = None,
    ) -> None:
        if not isinstance(concurrency, int) or concurrency < 1:
            raise ValueError(f"concurrency must be a whole number, 1 or more, not {concurrency}")
        if not 1 <= lease <= 86_400:
            raise ValueError(f"lease must be 1 second to a day, not {lease}")
        if not poll > 0:  # NaN is not either
            raise ValueError(f"poll must be more than 0 seconds, not {poll}")
        if grace is not None and not grace >= 0:
            raise ValueError(f"grace must be 0 seconds or more, not {grace}")
        self.dsn = dsn
        self.options = Options(concurrency, lease, poll, once, application)
        self.handlers = Handlers()
        is_endless = grace is None or grace > threading.TIMEOUT_MAX
        self._grace = None if is_endless else grace
        self.on_end = on_end or _ignore
        self._machine: Machine | None = None
        self._lock = threading.Lock()
        self._signals = 0

    def handler(
        self,
        title: str | None = None,
        /,
        *,
        id: UUID | str | None = None,
        kind: str | None = None,
        limit: int | None = None,
    ) -> Callable[[F], F]:
        """Decorate the function that does the runs of a workflow: `handler("nightly report")`.

        By title, `id` or `kind` (`workflow`, `battle`); without any it is the default. Of several
        that fit, the id outranks the title, the title the kind, the kind the default. `limit`: runs
        of this handler at once. A plain function has a thread of its own, an `async` one is a task.
        It gets a `Run`, and returns the result, as JSON has it; what it raises fails the attempt.
        ValueError: a second handler for the same key, several keys, or a bad key or limit.
        """

        def register(function: F) -> F:
            most = self.options.concurrency if limit is None else limit
            self.handlers.add(Handler.of(function, most), title, id=id, kind=kind)
            return function

        return register

    def default(self, function: F) -> F:
        """Decorate the function for runs that no other handler fits.

        ValueError: there is one already.
        """
        return self.handler()(function)

    def run(self) -> None:
        """Work until SIGTERM, SIGINT or `stop`, then finish what is under way.

        A second signal ends what is under way, a third leaves what the server has not taken.
        LfSqlError: the database cannot be used so.
        """
        refuse_a_second_loop("await executor.serve()")
        loop = asyncio.new_event_loop()
        try:
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(self.serve(signals=True))
        finally:
            _close(loop)

    async def serve(self, *, signals: bool = False) -> None:
        """The same within a loop that is there already, and without signals unless asked for.

        Cancelling it ends what is under way; its attempts fail and are tried again by policy.
        """
        loop = asyncio.get_running_loop()
        machine = self._start(loop)
        if signals and threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self._on_signal)
        await self._finish(machine, loop)

    def stop(self) -> None:
        """As a signal: a second call ends what is under way, a third leaves what is undelivered.

        From any thread; `run` or `serve` returns when it is done.
        """
        self._on_signal()

    async def drain_all(self) -> list[Outcome]:
        """Work until nothing is pending; what became of each attempt. For `lf_sql.testing`."""
        outcomes: list[Outcome] = []
        loop = asyncio.get_running_loop()
        await self._finish(self._start(loop, True, outcomes.append), loop)
        return outcomes

    def _start(
        self,
        loop: asyncio.AbstractEventLoop,
        once: bool = False,
        on_end: Callable[[Outcome], None] | None = None,
    ) -> Machine:
        with self._lock:
            if self._machine is not None:
                raise RuntimeError("this executor is at work already")
            self._signals = 0
            options = replace(self.options, once=once or self.options.once)
            seen = on_end or self.on_end
            self._machine = Machine(self.dsn, self.handlers, options, loop, seen)
            return self._machine

    async def _finish(self, machine: Machine, loop: asyncio.AbstractEventLoop) -> None:
        over = loop.create_future()
        threading.Thread(target=_run, args=[machine, loop, over], name="executor").start()
        try:
            while True:
                try:
                    return await asyncio.shield(over)
                except asyncio.CancelledError:
                    if over.done():
                        raise
                    await asyncio.to_thread(machine.abandon)
                    await asyncio.wait([over])
                    raise
        finally:
            with self._lock:
                self._machine = None

    def ask(self, query: str, params: Any, who: str) -> list[dict[str, Any]]:
        """For handlers of lf-sql's own: the answer to one statement, for as long as it takes."""
        machine = self._machine
        assert machine is not None
        return machine.ask(query, params, who)

    def _on_signal(self) -> None:
        with self._lock:
            machine = self._machine
            self._signals += 1
            count = self._signals
        if machine is None:
            return
        machine.stop()
        if count == 1 and self._grace is not None:
            timer = threading.Timer(self._grace, machine.abandon)
            timer.daemon = True
            timer.start()
        elif count == 2:
            threading.Thread(target=machine.abandon, daemon=True).start()  # it waits for locks
        elif count > 2:
            machine.leave()


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """As asyncio.run does, without waiting for a task that swallows its cancellation."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=LAST_WORDS))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


def _ignore(_: Outcome) -> None:
    """The result is not needed."""


def _run(machine: Machine, loop: asyncio.AbstractEventLoop, over: asyncio.Future[None]) -> None:
    error: BaseException | None = None
    try:
        machine.run()
    except BaseException as raised:
        error = raised

    def tell() -> None:
        if over.done():
            return
        if error is None:
            over.set_result(None)
        else:
            over.set_exception(error)

    with suppress(RuntimeError):  # the loop has gone
        loop.call_soon_threadsafe(tell)
