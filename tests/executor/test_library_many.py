"""The library with many runs: how many it claims and holds, and how it stops."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from lf_sql import (
    Executor,
    Run,
)
from lf_sql.link import Link
from tests.executor.conftest import Place, at_work
from tests.support.database import wait_until


def test_many_are_claimed_held_and_completed_at_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    whole = Link.once

    def once(self: Link, query: str, *given: Any) -> Any:
        asked.append(query)
        return whole(self, query, *given)

    monkeypatch.setattr(Link, "once", once)

    def times(name: str) -> int:
        return sum(f"{name}(" in query for query in asked)

    executor = Executor(concurrency=40, lease=6)
    up: list[Run] = []

    @executor.default
    async def handle(run: Run) -> str:
        up.append(run)
        while not times("fn_heartbeat_workflow_runs"):
            await asyncio.sleep(0.02)
        return "x"

    runs = place.start("many", 40)
    place.all(executor)
    assert {place.row(run).status for run in runs} == {"completed"}
    # One at a time would be forty of each; how many there are hangs on how the machine is loaded.
    assert times("fn_claim_workflow_runs") <= 20
    assert times("fn_complete_workflow_runs") >= 1 and times("fn_complete_workflow_run") <= 20
    assert times("fn_heartbeat_workflow_run") == 0


def test_one_that_is_refused_stops_no_other(place: Place) -> None:
    executor = Executor(concurrency=20)
    executor.default(lambda run: run.inputs)
    bad = place.start("bad", inputs="x")
    executor.handler("bad")(lambda run: "a\0b")
    good = place.start("good", 9, inputs="y")
    place.all(executor)
    assert [place.result(run)["cause"] for run in bad] == ["contract_violated"]
    assert [place.result(run) for run in good] == ["y"] * 9


def test_no_more_is_claimed_than_there_are_places(place: Place) -> None:
    gate = threading.Event()
    executor = Executor(place.dsn, concurrency=3)
    executor.default(lambda run: gate.wait() and None)
    runs = place.start("busy", 8)
    with at_work(executor):
        wait_until(lambda: place.count("running") == 3)
        place.db.execute("notify lf_workflow_runs")
        (more,) = place.start("busy")
        assert (place.count("running"), place.count("pending")) == (3, 6)
        gate.set()
        for run in [*runs, more]:
            assert place.ended(run).status == "completed"


def test_a_handler_that_is_full_holds_up_no_other(place: Place) -> None:
    gate, inside = threading.Event(), set()
    most = 0
    executor = Executor(place.dsn, concurrency=6, poll=0.2)

    @executor.handler("slow", limit=2)
    def handle(run: Run) -> None:
        nonlocal most
        inside.add(run.id)
        most = max(most, len(inside))
        gate.wait()
        inside.discard(run.id)

    executor.handler("fast")(lambda run: 1)
    slow = place.start("slow", 30)
    fast = place.start("fast", 3)
    with at_work(executor):
        for run in fast:
            assert place.ended(run).status == "completed"
        assert not any(place.row(run).status == "completed" for run in slow)
        gate.set()
    assert most == 2
    assert all(place.row(run).attempt == 0 for run in slow if place.row(run).status == "pending")


def test_a_stop_lets_what_is_under_way_end_and_gives_the_rest_back(place: Place) -> None:
    up, gate = threading.Event(), threading.Event()
    executor = Executor(place.dsn, concurrency=4, lease=60)

    @executor.handler("one", limit=1)
    def handle(run: Run) -> str:
        up.set()
        gate.wait()
        return "done"

    runs = place.start("one", 2)
    with at_work(executor) as thread:
        assert up.wait(120)
        wait_until(lambda: place.count("running") == 2)  # one in line
        executor.stop()
        wait_until(lambda: place.count("pending") == 1)
        assert thread.is_alive()
        gate.set()
        thread.join(30)
        assert not thread.is_alive()
    rows = sorted((place.row(run).status, place.row(run).attempt) for run in runs)
    assert rows == [("completed", 1), ("pending", 0)]


def test_a_second_stop_ends_what_is_under_way(place: Place) -> None:
    up = threading.Event()
    executor = Executor(place.dsn)

    @executor.default
    async def handle(run: Run) -> None:
        up.set()
        await asyncio.Event().wait()

    (run,) = place.start("endless")
    with at_work(executor) as thread:
        assert up.wait(120)
        executor.stop()
        executor.stop()
        thread.join(30)
        assert not thread.is_alive()
    assert place.result(run)["cause"] == "provider_error"
