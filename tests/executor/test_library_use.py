"""Wrong use of the library, and its import."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from lf_sql import Executor, Run
from lf_sql.errors import LfSqlError
from tests.executor.conftest import Place, at_work
from tests.support.database import wait_until


def test_wrong_use_is_said_at_once() -> None:
    executor = Executor()
    executor.handler("a")(print)
    for wrong in (
        lambda: executor.handler("a")(print),
        lambda: executor.handler("b", kind="battle")(print),
        lambda: executor.handler(kind="war")(print),
        lambda: executor.handler("c", limit=0)(print),
        lambda: Executor(concurrency=0),
        lambda: Executor(lease=0.5),
        lambda: Executor(grace=-1),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()


@pytest.mark.parametrize("option", ["concurrency", "lease", "poll", "grace"])
def test_no_option_is_not_a_number(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option} must be .*, not nan"):
        Executor(**{option: float("nan")})  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), 1.5])
def test_runs_are_counted_in_whole_numbers(limit: float) -> None:
    with pytest.raises(ValueError, match="whole number"):
        Executor(concurrency=limit)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="whole number"):
        Executor().handler("a", limit=limit)(print)  # type: ignore[arg-type]


@pytest.mark.parametrize("grace", [float("inf"), 1e12])
def test_a_grace_without_end_is_all_the_time_that_runs_want(
    place: Place, monkeypatch: pytest.MonkeyPatch, grace: float
) -> None:
    raised: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    begun, gate = threading.Event(), threading.Event()
    before = set(threading.enumerate())  # an earlier test's may still be there
    executor = Executor(place.dsn, grace=grace, poll=grace)

    @executor.default
    def handle(run: Run) -> bool:
        begun.set()
        gate.wait()
        return run.cancelled

    (run,) = place.start("endless")
    with at_work(executor):
        assert begun.wait(120)
        executor.stop()
        threads = set(threading.enumerate()) - before
        timers = [one for one in threads if isinstance(one, threading.Timer)]
        assert (timers, raised) == ([], [])  # one that has failed has told it by then
        gate.set()
        assert place.ended(run).status == "completed"
    assert place.result(run) is False


def test_a_wait_without_end_is_one_until_it_is_cancelled(place: Place) -> None:
    executor = Executor(place.dsn)
    executor.default(lambda run: run.wait_cancelled(float("inf")))
    (run,) = place.start("waits")
    with at_work(executor):
        wait_until(lambda: place.row(run).status == "running")
        executor.stop()
        executor.stop()
        assert place.ended(run).status == "completed"
    assert place.result(run) is True


def test_the_library_costs_nothing_until_it_is_used() -> None:
    script = (
        "import sys, lf_sql; assert 'psycopg' not in sys.modules; from lf_sql import Executor, Run"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_second_loop_in_a_thread_is_refused_in_words() -> None:
    async def inside() -> None:
        Executor().run()

    with pytest.raises(LfSqlError, match="runs in this thread already") as caught:
        asyncio.run(inside())
    assert caught.value.hint == "await executor.serve()"
