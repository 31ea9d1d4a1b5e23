"""Retries, and what a failure does when none is left."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.run_scenario import RunScenario

ONCE = {"maxRetries": 0}


def fail_next(scenario: RunScenario, **arguments: Any) -> Any:
    (run,) = scenario.claim()
    assert scenario.fail(run.id, **arguments)
    return scenario.row(run.id)


def test_one_retry_is_the_default(scenario: RunScenario) -> None:
    run = scenario.run()
    row = fail_next(scenario, cause="odd", error="first")
    assert (row.status, row.attempt, row.worker_id, row.available_at) == ("pending", 1, None, None)
    row = fail_next(scenario, cause="odd", error="second")
    assert (row.status, row.attempt) == ("failed", 2)
    assert row.metadata["result"] == {"status": "failed", "cause": "odd", "error": "second"}
    assert [event for _, event in scenario.events(run)] == [
        "run.created", "run.started", "run.retried", "run.started", "run.failed",
    ]  # fmt: skip
    assert scenario.event(run, "run.retried")["error"] == "first"
    assert scenario.event(run, "run.failed")["cause"] == "odd"


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_as_many_retries_as_the_policy_has(scenario: RunScenario, retries: int) -> None:
    scenario.run(policies=scenario.policies(retry={"maxRetries": retries}))
    seen = [fail_next(scenario).status for _ in range(retries + 1)]
    assert seen == ["pending"] * retries + ["failed"]


def test_backoff_doubles_with_jitter(scenario: RunScenario) -> None:
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 4, "backoffMs": 60_000}))
    waits = []
    for _ in range(4):
        row = fail_next(scenario)
        waits.append((row.available_at - row.started_at).total_seconds() / 60)
        assert scenario.claimed() == []
        scenario.make_available(run)
    for attempt, wait in enumerate(waits):
        assert 0.75 * 2**attempt <= wait <= 1.25 * 2**attempt + 0.1
    assert len({round(wait / 2**n, 4) for n, wait in enumerate(waits)}) > 1, "no jitter"


def test_backoff_stays_below_a_day(scenario: RunScenario) -> None:
    longest = scenario.db.column(
        "select max(lenses.fn_retry_delay('{\"backoffMs\": 60000}', n)) "
        "from generate_series(1, 1001) as n"
    )
    assert longest[0] <= timedelta(hours=30)
    slow = scenario.db.value("select lenses.fn_retry_delay('{\"backoffMs\": 172800000}', 5)")
    assert timedelta(days=1.5) <= slow <= timedelta(days=2.5)


@pytest.mark.parametrize(
    ("retry_on", "cause", "status"),
    [
        (["rate_limit"], "rate_limit", "pending"),
        (["rate_limit"], "provider_error", "failed"),
        (["timeout", "contract_violated"], "contract_violated", "pending"),
        ([], "whatever", "pending"),
        (["timeout"], "Timeout", "failed"),
    ],
)
def test_retry_on(scenario: RunScenario, retry_on: list[str], cause: str, status: str) -> None:
    scenario.run(policies=scenario.policies(retry={"maxRetries": 5, "retryOn": retry_on}))
    assert fail_next(scenario, cause=cause).status == status


def test_isolate_leaves_the_schedule_alone(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(schedule, policies=scenario.policies(retry=ONCE))
    before = scenario.schedule(schedule)
    fail_next(scenario, cause="c", error="e")
    after = scenario.schedule(schedule)
    assert after.is_active
    assert (after.next_run_at, after.due_at) == (before.next_run_at, before.due_at)
    assert after.last_result == {"status": "failed", "cause": "c", "error": "e"}
    assert after.last_completed_at == scenario.row(run).completed_at


def test_halt_pauses_the_schedule_with_a_note(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(
        schedule, policies=scenario.policies(retry={"maxRetries": 1}, failure={"mode": "halt"})
    )
    fail_next(scenario, cause="c")
    assert scenario.schedule(schedule).is_active, "a retry is no failure of the run"
    fail_next(scenario, cause="c")
    saved = scenario.schedule(schedule)
    assert not saved.is_active
    assert saved.paused_at == scenario.row(run).completed_at
    assert saved.pause_note == f'halted: run {run} failed with cause "c"'
    assert (saved.due_at, saved.paused_until) == (None, None)
    assert saved.next_run_at is not None
    assert "schedule_halted" in scenario.actions(schedule)


def test_halt_by_a_dead_worker(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(schedule, policies=scenario.policies(retry=ONCE, failure={"mode": "halt"}))
    scenario.claim()
    scenario.let_lease_expire(run)
    assert scenario.reap() == 1
    assert scenario.row(run).status == "timed_out"
    assert "timed out" in scenario.schedule(schedule).pause_note


def test_fallback_gives_the_same_run_to_the_other_once(scenario: RunScenario) -> None:
    first, second = scenario.make_agent(), scenario.make_agent()
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 5)",
        [second, scenario.tenant.id],
    )
    run = scenario.run(
        ai_lenser_id=first,
        policies=scenario.policies(
            retry={"maxRetries": 1}, failure={"mode": "fallback", "fallbackAssigneeId": str(second)}
        ),
    )
    assert [fail_next(scenario).status for _ in range(2)] == ["pending", "pending"]
    row = scenario.row(run)
    assert (row.ai_lenser_id, row.team_id, row.attempt) == (second, None, 0)
    assert row.policies["limits"] == {"spending_limit_credits": 5}
    assert [fail_next(scenario).status for _ in range(2)] == ["pending", "failed"]
    assert [event for _, event in scenario.events(run)] == [
        "run.created", "run.started", "run.retried", "run.started", "run.reassigned",
        "run.started", "run.retried", "run.started", "run.failed",
    ]  # fmt: skip


def test_fallback_to_a_team_keeps_the_approval(scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    team = scenario.make_team(agent)
    run = scenario.run(
        ai_lenser_id=agent,
        policies={
            "retry_policy": ONCE,
            "failure_policy": {"mode": "fallback", "fallbackAssigneeId": str(team)},
        },
    )
    scenario.decide(run)
    assert fail_next(scenario).status == "pending"
    row, team_run = scenario.row(run), scenario.team_run(run)
    assert (row.team_id, row.ai_lenser_id) == (team, None)
    assert (team_run.team_id, team_run.ai_lenser_id) == (team, None)
    assert team_run.approval_status == "approved"
    assert scenario.claimed() == [run]


def test_fallback_that_is_gone_is_a_failure(scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    scenario.run(
        policies=scenario.policies(
            retry=ONCE, failure={"mode": "fallback", "fallbackAssigneeId": str(agent)}
        )
    )
    scenario.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    assert fail_next(scenario).status == "failed"


def test_fallback_never_leaves_the_tenant(scenario: RunScenario) -> None:
    from tests.support.database import make_tenant

    stranger = scenario.make_agent(make_tenant(scenario.db))
    scenario.run(
        policies=scenario.policies(
            retry=ONCE, failure={"mode": "fallback", "fallbackAssigneeId": str(stranger)}
        )
    )
    assert fail_next(scenario).status == "failed"
