"""Many completions and heartbeats in one call: each as one alone, and none in the way of another."""

from __future__ import annotations

import json
import threading
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.database import Database
from tests.support.run_scenario import RunScenario


def complete(
    scenario: RunScenario, results: Any, worker: str = "w", schema: str = "lenses"
) -> set[UUID]:
    query = f"select {schema}.fn_complete_workflow_runs(%s, %s)"
    return set(scenario.db.column(query, [worker, json.dumps(results)]))


@pytest.mark.parametrize("schema", ["lenses", "public"])
def test_each_gets_its_own_result(scenario: RunScenario, schema: str) -> None:
    schedule = scenario.make_schedule()
    runs = [scenario.run(schedule), scenario.run(), scenario.run(schedule)]
    scenario.claim(limit=3)
    results = [
        {"run_id": str(run), "attempt": 1, "result": {"n": n}, "spent_credits": n}
        for n, run in enumerate(runs)
    ]
    assert complete(scenario, results, schema=schema) == set(runs)
    for n, run in enumerate(runs):
        row = scenario.row(run)
        assert (row.status, row.metadata["result"], row.spent_credits) == ("completed", {"n": n}, n)
    assert complete(scenario, results) == set()


def test_one_that_is_refused_stops_no_other(scenario: RunScenario) -> None:
    good, late, deep, spent, other = (scenario.run() for _ in range(5))
    scenario.claim(limit=4)
    scenario.claim("v")
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
    assert complete(scenario, results) == {good}
    assert {scenario.row(run).status for run in (late, deep, spent, other)} == {"running"}


@pytest.mark.parametrize("results", [None, {}, "x", [{}] * 1001])
def test_what_is_no_array_of_results_is_refused(scenario: RunScenario, results: Any) -> None:
    with scenario.refused("22023", "p_results"):
        complete(scenario, results)
    with scenario.refused("22023", "p_results"):
        scenario.db.execute("select lenses.fn_complete_workflow_runs('w', null)")


@pytest.mark.parametrize("schema", ["lenses", "public"])
def test_heartbeats_give_what_is_still_held(scenario: RunScenario, schema: str) -> None:
    held, lost, other = scenario.run(), scenario.run(), scenario.run()
    scenario.claim(limit=2)
    scenario.claim("v")
    scenario.let_lease_expire(lost)
    before = {run: scenario.row(run).lease_expires_at for run in (held, lost, other)}
    query = f"select {schema}.fn_heartbeat_workflow_runs('w', %s, '1 hour')"
    assert scenario.db.column(query, [[held, lost, other, uuid4()]]) == [held]
    assert scenario.row(held).lease_expires_at > before[held]
    assert [scenario.row(run).lease_expires_at for run in (lost, other)] == [
        before[lost],
        before[other],
    ]
    assert scenario.db.column(query, [[]]) == []


def test_heartbeats_are_refused_where_they_make_no_sense(scenario: RunScenario) -> None:
    query = "select lenses.fn_heartbeat_workflow_runs(%s, %s, %s)"
    with scenario.refused("22023", "p_run_ids"):
        scenario.db.execute(query, ["w", [uuid4()] * 1001, "1 hour"])
    with scenario.refused("22023", "p_lease"):
        scenario.db.execute(query, ["w", [], "2 days"])
    with scenario.refused("22023", "p_worker_id"):
        scenario.db.execute(query, [" ", [], "1 hour"])


def test_callers_in_opposite_orders_do_not_lock_each_other_out(
    committed: None, scenario: RunScenario
) -> None:
    schedules = [scenario.make_schedule() for _ in range(6)]
    for _ in range(5):
        runs = [str(scenario.run(schedule)) for schedule in schedules for _ in range(2)]
        scenario.claim(limit=len(runs))
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

        with scenario.db.another() as one, scenario.db.another() as two:
            threads = [
                threading.Thread(target=work, args=[one, runs]),
                threading.Thread(target=work, args=[two, runs[::-1]]),
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert errors == []
        assert {scenario.row(UUID(run)).status for run in runs} == {"completed"}
