"""What belonged to an earlier attempt neither beats, completes, fails nor adds to a later one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.run_scenario import RunScenario

CALLS = {
    "fn_heartbeat_workflow_run": "(%(run)s, 'w', '1 minute', p_attempt => %(attempt)s)",
    "fn_append_run_event": "(%(run)s, 'w', 'node.done', '{}', p_attempt => %(attempt)s)",
    "fn_complete_workflow_run": "(%(run)s, 'w', '1', p_attempt => %(attempt)s)",
    "fn_fail_workflow_run": "(%(run)s, 'w', 'x', 'y', p_attempt => %(attempt)s)",
}


def call(scenario: RunScenario, schema: str, name: str, run: Any, attempt: int | None) -> bool:
    return scenario.db.value(
        f"select {schema}.{name}{CALLS[name]}", {"run": run, "attempt": attempt}
    )


@pytest.mark.parametrize("schema", ["lenses", "public"])
@pytest.mark.parametrize("name", CALLS)
def test_an_attempt_is_fenced_though_the_worker_is_the_same(
    scenario: RunScenario, schema: str, name: str
) -> None:
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 5}))
    assert scenario.claimed() == [run]
    scenario.let_lease_expire(run)
    assert scenario.reap() == 1
    assert scenario.claimed() == [run]
    before, events = scenario.row(run), scenario.events(run)
    assert before.attempt == 2
    for attempt in (1, 3, 0, -1):
        assert call(scenario, schema, name, run, attempt) is False
        assert (scenario.row(run), scenario.events(run)) == (before, events)
    assert call(scenario, schema, name, run, 2) is True


@pytest.mark.parametrize("name", CALLS)
def test_without_an_attempt_it_is_the_one_that_the_worker_holds(
    scenario: RunScenario, name: str
) -> None:
    run = scenario.run()
    assert scenario.claimed() == [run]
    assert call(scenario, "lenses", name, run, None) is True


def test_a_failure_books_what_it_has_spent(scenario: RunScenario) -> None:
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 1}))
    query = "select lenses.fn_fail_workflow_run(%s, 'w', 'x', 'y', %s::numeric)"
    for spent, total, status in ((1.5, 1.5, "pending"), (2, 3.5, "failed")):
        assert scenario.claimed() == [run]
        assert scenario.db.value(query, [run, spent]) is True
        row = scenario.row(run)
        assert (row.spent_credits, row.status) == (total, status)
    assert scenario.db.value(query, [run, 7]) is False
    assert scenario.row(run).spent_credits == 3.5


@pytest.mark.parametrize("spent", ["-1", "NaN", "Infinity", "1e400", "100000000000000"])
def test_a_failure_that_spent_nonsense_is_refused(scenario: RunScenario, spent: str) -> None:
    run = scenario.run()
    scenario.claim()
    with scenario.refused("22023", "p_spent_credits"):
        scenario.db.execute(
            "select lenses.fn_fail_workflow_run(%s, 'w', 'x', 'y', %s::numeric)", [run, spent]
        )
    assert scenario.row(run).status == "running"


def test_a_budget_that_is_spent_is_no_reason_to_try_again(scenario: RunScenario) -> None:
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 5}))
    scenario.claim()
    assert scenario.fail(run, cause="budget_exceeded")
    row = scenario.row(run)
    assert (row.status, row.attempt) == ("failed", 1)
    assert json.dumps(row.metadata["result"]["cause"]) == '"budget_exceeded"'
