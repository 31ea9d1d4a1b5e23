"""Handlers that do not do as they are told, and exceptions that cannot be told."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from lf_sql import Executor, Outcome, RateLimited, Run, RunFailed
from lf_sql.executor import spans, work
from lf_sql.executor.failures import verdict_of
from lf_sql.executor.threads import Threads
from tests.executor.conftest import Place, at_work
from tests.support.database import wait_until


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class Leaves(Exception):
    def __str__(self) -> str:
        raise SystemExit("enough")


class Odd(RunFailed):
    cause = 7  # type: ignore[assignment]


class NoCause(RunFailed):
    @property
    def cause(self) -> str:  # type: ignore[override]
        raise SystemExit("enough")


class NoWait(RunFailed):
    @property
    def retry_after(self) -> float:  # type: ignore[override]
        raise KeyboardInterrupt


WRONG = {
    "no words": Unspeakable,
    "no seconds": lambda: RateLimited("soon"),  # type: ignore[arg-type]
    "no cause": lambda: Odd("x"),
    "words that leave": Leaves,
    "a cause that leaves": NoCause,
    "a wait that leaves": NoWait,
}


@pytest.mark.parametrize("kind", [Unspeakable, Leaves, NoCause, NoWait])
def test_what_cannot_be_told_is_said_to_be_so(kind: type[Exception]) -> None:
    verdict = verdict_of(kind(), Decimal(2))
    assert verdict.cause == (RunFailed.cause if kind is NoWait else kind.__name__)
    assert verdict.text.startswith(f"{kind.__name__}, which cannot be told: ")
    assert verdict.spent == 2


@pytest.mark.parametrize("is_async", [False, True])
def test_whatever_is_raised_ends_the_attempt(place: Place, is_async: bool) -> None:
    executor = Executor(place.dsn)

    def plain(run: Run) -> None:
        raise WRONG[run.inputs]()

    async def task(run: Run) -> None:
        plain(run)

    executor.default(task if is_async else plain)
    runs = [place.start(name, inputs=name)[0] for name in WRONG]
    with at_work(executor):
        for run in runs:
            assert place.ended(run).status == "failed"


def test_a_task_that_swallows_its_time_out_keeps_only_its_place(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "GRACE", 0.1)
    gate = threading.Event()
    executor = Executor(place.dsn, concurrency=2)

    @executor.handler("stubborn")
    async def handle(run: Run) -> None:
        run.spend(1)
        while not gate.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.02)

    executor.handler("other")(lambda run: 1)
    (stubborn,) = place.start("stubborn", timeoutMs=100)
    with at_work(executor):
        row = place.ended(stubborn)
        assert (row.status, row.metadata["result"]["cause"]) == ("failed", "timeout")
        assert row.spent_credits == 1
        assert place.ended(place.start("other")[0]).status == "completed"
        gate.set()


PROGRAM = """
import asyncio, sys, time
from lf_sql import Executor
from lf_sql.executor import machine
machine.LAST_WAIT = 0.1
executor = Executor(sys.argv[1], once=True)
@executor.handler("task")
async def task(run):
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass
@executor.handler("plain")
def plain(run):
    while True:
        time.sleep(3600)
executor.run()
"""


def awaits(pid: int) -> bool:
    """Whether the process has a SIGTERM that it has not taken yet."""
    status = Path(f"/proc/{pid}/status").read_text()
    pending = [int(bits, 16) for bits in re.findall(r"^S\w+Pnd:\s*(\w+)$", status, re.M)]
    return any(bits >> (signal.SIGTERM - 1) & 1 for bits in pending)


@pytest.mark.parametrize("title", ["task", "plain"])
def test_a_third_signal_ends_the_process_whatever_its_handlers_do(place: Place, title: str) -> None:
    (run,) = place.start(title)
    command = [sys.executable, "-c", PROGRAM, place.dsn]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as executor:
        wait_until(lambda: place.row(run).status == "running")
        for _ in range(3):
            executor.send_signal(signal.SIGTERM)
            # Two of a kind that wait together are one.
            wait_until(lambda: executor.poll() is not None or not awaits(executor.pid))
        assert executor.wait(120) is not None
    assert place.row(run).status == "running"  # its lease decides


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("is_async", [False, True])
def test_whatever_on_end_raises_all_is_told(
    place: Place, kind: type[BaseException], is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Of runs that are told, and of those that are left, whose end no report tells."""
    ended: list[UUID] = []

    def on_end(outcome: Outcome) -> None:
        ended.append(outcome.run.id)
        raise kind("enough")

    executor = Executor(place.dsn, concurrency=1, poll=0.2, on_end=on_end)

    def plain(run: Run) -> None:
        if run.inputs == "left":
            run.leave()
        if run.inputs == "fails":
            raise RunFailed("no")

    async def task(run: Run) -> None:
        plain(run)

    executor.default(task if is_async else plain)
    with at_work(executor) as thread:
        for _ in range(2):
            (left,) = place.start("a", inputs="left")
            wait_until(lambda run=left: run in ended)  # type: ignore[misc]
            for inputs, status in (("fails", "failed"), ("fine", "completed")):
                (run,) = place.start("a", inputs=inputs)
                assert place.ended(run).status == status
                wait_until(lambda run=run: run in ended)  # type: ignore[misc]
        executor.stop()
        thread.join()
    assert len(ended) == 6
    raised = [r for r in caplog.records if r.getMessage().endswith("on_end raised")]
    assert len(raised) == 6 and all(r.exc_info for r in raised)


def test_what_ends_a_job_does_not_end_the_next() -> None:
    threads, again = Threads("test"), threading.Event()
    first: list[threading.Thread] = []

    def fails() -> None:
        first.append(threading.current_thread())
        raise SystemExit

    threads.begin(fails)
    wait_until(lambda: threads._idle == 1)
    threads.begin(again.set)
    assert again.wait(120)
    threads.close()
    first[0].join()


class Full(logging.Handler):
    """A log that cannot be written, and says so to whoever logs."""

    def emit(self, record: logging.LogRecord) -> None:
        raise SystemExit("no space left on device")


@pytest.fixture
def full_log() -> Iterator[None]:
    log, handler = logging.getLogger("lf_sql.executor"), Full()
    level = log.level
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    yield
    log.removeHandler(handler)
    log.setLevel(level)


@pytest.mark.usefixtures("full_log")
def test_a_thread_whose_failure_cannot_be_logged_does_the_next_job() -> None:
    threads, again = Threads("test"), threading.Event()

    def fails() -> None:
        raise ValueError

    threads.begin(fails)
    wait_until(lambda: threads._idle == 1)
    threads.begin(again.set)
    assert again.wait(20)
    threads.close()


@pytest.mark.usefixtures("full_log")
@pytest.mark.parametrize("is_async", [False, True])
def test_whatever_the_log_does_all_runs_end(place: Place, is_async: bool) -> None:
    """Those that fail too, and heartbeats go on when the server has ended their session."""
    ended: list[str] = []
    gate = threading.Event()
    executor = Executor(
        place.dsn, lease=3, poll=0.2, application="no log", on_end=lambda o: ended.append(o.status)
    )

    def plain(run: Run) -> None:
        if run.inputs == "fails":
            raise ValueError("no")
        run.wait_cancelled(0) or gate.wait()

    async def task(run: Run) -> None:
        await asyncio.to_thread(plain, run)

    executor.default(task if is_async else plain)
    (held,) = place.start("held")
    lease = "select lease_expires_at from lenses.workflow_runs where id = %s"
    with at_work(executor):
        assert place.ended(place.start("fails", inputs="fails")[0]).status == "failed"
        wait_until(lambda: place.row(held).status == "running")
        place.db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'no log'"
        )
        before = place.db.value("select clock_timestamp() + interval '3 seconds'")
        wait_until(lambda: place.db.value(lease, [held]) > before)
        gate.set()
        assert place.ended(held).status == "completed"
        wait_until(lambda: len(ended) == 2)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_run_whose_handler_cannot_be_called_fails(
    place: Place, is_async: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its place is free again: a run that nobody ends would be held for ever."""

    def begin(run: Run, claimed_at: int) -> None:
        if run.inputs == "no span":
            raise SystemExit("enough")

    begins = spans.begin
    monkeypatch.setattr(spans, "begin", lambda *given: begin(*given) or begins(*given))
    executor = Executor(place.dsn, concurrency=1, poll=0.2)

    async def task(run: Run) -> int:
        return 1

    executor.default(task if is_async else lambda run: 1)
    with at_work(executor):
        row = place.ended(place.start("a", inputs="no span")[0])
        assert (row.status, row.metadata["result"]["cause"]) == ("failed", "SystemExit")
        assert place.ended(place.start("a")[0]).status == "completed"
