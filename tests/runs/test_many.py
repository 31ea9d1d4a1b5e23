"""Many completions and heartbeats in one call: each as one alone, and none in the way of another."""

from __future__ import annotations

import json
import threading
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.runs.world import World
from tests.support.database import Database


def complete(world: World, results: Any, worker: str = "w", schema: str = "lenses") -> set[UUID]:
    query = f"select {schema}.fn_complete_workflow_runs(%s, %s)"
    return set(world.db.column(query, [worker, json.dumps(results)]))


@pytest.mark.parametrize("schema", ["lenses", "public"])
def test_each_gets_its_own_result(world: World, schema: str) -> None:
    schedule = world.make_schedule()
    runs = [world.run(schedule), world.run(), world.run(schedule)]
    world.claim(limit=3)
    results = [
        {"run_id": str(run), "attempt": 1, "result": {"n": n}, "spent_credits": n}
        for n, run in enumerate(runs)
    ]
    assert complete(world, results, schema=schema) == set(runs)
    for n, run in enumerate(runs):
        row = world.row(run)
        assert (row.status, row.metadata["result"], row.spent_credits) == ("completed", {"n": n}, n)
    assert complete(world, results) == set()


def test_one_that_is_refused_stops_no_other(world: World) -> None:
    good, late, deep, spent, other = (world.run() for _ in range(5))
    world.claim(limit=4)
    world.claim("v")
    bad = json.loads("[" * 100 + "]" * 100)
    results = [
        {"run_id": str(deep), "result": bad},
        {"run_id": str(spent), "result": 1, "spent_credits": -1},
        {"run_id": str(late), "attempt": 2, "result": 1},
        {"run_id": str(other), "result": 1},
        {"run_id": str(uuid4()), "result": 1},
        {"run_id": "no id"}, {"run_id": None}, {}, 7, None, "x", [],
        {"run_id": str(good), "attempt": "x"},
        {"run_id": str(good)},
    ]  # fmt: skip
    assert complete(world, results) == {good}
    assert {world.row(run).status for run in (late, deep, spent, other)} == {"running"}


@pytest.mark.parametrize("results", [None, {}, "x", [{}] * 1001])
def test_what_is_no_array_of_results_is_refused(world: World, results: Any) -> None:
    with world.refused("22023", "p_results"):
        complete(world, results)
    with world.refused("22023", "p_results"):
        world.db.execute("select lenses.fn_complete_workflow_runs('w', null)")


@pytest.mark.parametrize("schema", ["lenses", "public"])
def test_heartbeats_give_what_is_still_held(world: World, schema: str) -> None:
    held, lost, other = world.run(), world.run(), world.run()
    world.claim(limit=2)
    world.claim("v")
    world.let_lease_expire(lost)
    before = {run: world.row(run).lease_expires_at for run in (held, lost, other)}
    query = f"select {schema}.fn_heartbeat_workflow_runs('w', %s, '1 hour')"
    assert world.db.column(query, [[held, lost, other, uuid4()]]) == [held]
    assert world.row(held).lease_expires_at > before[held]
    assert [world.row(run).lease_expires_at for run in (lost, other)] == [
        before[lost],
        before[other],
    ]
    assert world.db.column(query, [[]]) == []


def test_heartbeats_are_refused_where_they_make_no_sense(world: World) -> None:
    query = "select lenses.fn_heartbeat_workflow_runs(%s, %s, %s)"
    with world.refused("22023", "p_run_ids"):
        world.db.execute(query, ["w", [uuid4()] * 1001, "1 hour"])
    with world.refused("22023", "p_lease"):
        world.db.execute(query, ["w", [], "2 days"])
    with world.refused("22023", "p_worker_id"):
        world.db.execute(query, [" ", [], "1 hour"])


def test_callers_in_opposite_orders_do_not_lock_each_other_out(
    committed: None, world: World
) -> None:
    schedules = [world.make_schedule() for _ in range(6)]
    for _ in range(5):
        runs = [str(world.run(schedule)) for schedule in schedules for _ in range(2)]
        world.claim(limit=len(runs))
        errors: list[Exception] = []

        def work(db: Database, order: list[str], errors: list[Exception] = errors) -> None:
            try:
                for _ in range(20):
                    db.execute(
                        "select lenses.fn_heartbeat_workflow_runs('w', %s::uuid[], '1 hour')",
                        [order],
                    )
                results = json.dumps([{"run_id": run, "result": 1} for run in order])
                db.execute("select lenses.fn_complete_workflow_runs('w', %s)", [results])
            except Exception as error:
                errors.append(error)

        with world.db.another() as one, world.db.another() as two:
            threads = [
                threading.Thread(target=work, args=[one, runs]),
                threading.Thread(target=work, args=[two, runs[::-1]]),
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert errors == []
        assert {world.row(UUID(run)).status for run in runs} == {"completed"}
