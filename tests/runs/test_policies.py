"""Retries, and what a failure does when none is left."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.runs.world import World

ONCE = {"maxRetries": 0}


def fail_next(world: World, **arguments: Any) -> Any:
    (run,) = world.claim()
    assert world.fail(run.id, **arguments)
    return world.row(run.id)


def test_one_retry_is_the_default(world: World) -> None:
    run = world.run()
    row = fail_next(world, cause="odd", error="first")
    assert (row.status, row.attempt, row.worker_id, row.available_at) == ("pending", 1, None, None)
    row = fail_next(world, cause="odd", error="second")
    assert (row.status, row.attempt) == ("failed", 2)
    assert row.metadata["result"] == {"status": "failed", "cause": "odd", "error": "second"}
    assert [event for _, event in world.events(run)] == [
        "run.created", "run.started", "run.retried", "run.started", "run.failed",
    ]  # fmt: skip
    assert world.event(run, "run.retried")["error"] == "first"
    assert world.event(run, "run.failed")["cause"] == "odd"


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_as_many_retries_as_the_policy_has(world: World, retries: int) -> None:
    world.run(policies=world.policies(retry={"maxRetries": retries}))
    seen = [fail_next(world).status for _ in range(retries + 1)]
    assert seen == ["pending"] * retries + ["failed"]


def test_backoff_doubles_with_jitter(world: World) -> None:
    run = world.run(policies=world.policies(retry={"maxRetries": 4, "backoffMs": 60_000}))
    waits = []
    for _ in range(4):
        row = fail_next(world)
        waits.append((row.available_at - row.started_at).total_seconds() / 60)
        assert world.claimed() == []
        world.make_available(run)
    for attempt, wait in enumerate(waits):
        assert 0.75 * 2**attempt <= wait <= 1.25 * 2**attempt + 0.1
    assert len({round(wait / 2**n, 4) for n, wait in enumerate(waits)}) > 1, "no jitter"


def test_backoff_stays_below_a_day(world: World) -> None:
    longest = world.db.column(
        "select max(lenses.fn_retry_delay('{\"backoffMs\": 60000}', n)) "
        "from generate_series(1, 1001) as n"
    )
    assert longest[0] <= timedelta(hours=30)
    slow = world.db.value("select lenses.fn_retry_delay('{\"backoffMs\": 172800000}', 5)")
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
def test_retry_on(world: World, retry_on: list[str], cause: str, status: str) -> None:
    world.run(policies=world.policies(retry={"maxRetries": 5, "retryOn": retry_on}))
    assert fail_next(world, cause=cause).status == status


def test_isolate_leaves_the_schedule_alone(world: World) -> None:
    schedule = world.make_schedule()
    run = world.run(schedule, policies=world.policies(retry=ONCE))
    before = world.schedule(schedule)
    fail_next(world, cause="c", error="e")
    after = world.schedule(schedule)
    assert after.is_active
    assert (after.next_run_at, after.due_at) == (before.next_run_at, before.due_at)
    assert after.last_result == {"status": "failed", "cause": "c", "error": "e"}
    assert after.last_completed_at == world.row(run).completed_at


def test_halt_pauses_the_schedule_with_a_note(world: World) -> None:
    schedule = world.make_schedule()
    run = world.run(
        schedule, policies=world.policies(retry={"maxRetries": 1}, failure={"mode": "halt"})
    )
    fail_next(world, cause="c")
    assert world.schedule(schedule).is_active, "a retry is no failure of the run"
    fail_next(world, cause="c")
    saved = world.schedule(schedule)
    assert not saved.is_active
    assert saved.paused_at == world.row(run).completed_at
    assert saved.pause_note == f'halted: run {run} failed with cause "c"'
    assert (saved.due_at, saved.paused_until) == (None, None)
    assert saved.next_run_at is not None
    assert "schedule_halted" in world.actions(schedule)


def test_halt_by_a_dead_worker(world: World) -> None:
    schedule = world.make_schedule()
    run = world.run(schedule, policies=world.policies(retry=ONCE, failure={"mode": "halt"}))
    world.claim()
    world.let_lease_expire(run)
    assert world.reap() == 1
    assert world.row(run).status == "timed_out"
    assert "timed out" in world.schedule(schedule).pause_note


def test_fallback_gives_the_same_run_to_the_other_once(world: World) -> None:
    first, second = world.make_agent(), world.make_agent()
    world.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 5)",
        [second, world.tenant.id],
    )
    run = world.run(
        ai_lenser_id=first,
        policies=world.policies(
            retry={"maxRetries": 1}, failure={"mode": "fallback", "fallbackAssigneeId": str(second)}
        ),
    )
    assert [fail_next(world).status for _ in range(2)] == ["pending", "pending"]
    row = world.row(run)
    assert (row.ai_lenser_id, row.team_id, row.attempt) == (second, None, 0)
    assert row.policies["limits"] == {"spending_limit_credits": 5}
    assert [fail_next(world).status for _ in range(2)] == ["pending", "failed"]
    assert [event for _, event in world.events(run)] == [
        "run.created", "run.started", "run.retried", "run.started", "run.reassigned",
        "run.started", "run.retried", "run.started", "run.failed",
    ]  # fmt: skip


def test_fallback_to_a_team_keeps_the_approval(world: World) -> None:
    agent = world.make_agent()
    team = world.make_team(agent)
    run = world.run(
        ai_lenser_id=agent,
        policies={
            "retry_policy": ONCE,
            "failure_policy": {"mode": "fallback", "fallbackAssigneeId": str(team)},
        },
    )
    world.decide(run)
    assert fail_next(world).status == "pending"
    row, team_run = world.row(run), world.team_run(run)
    assert (row.team_id, row.ai_lenser_id) == (team, None)
    assert (team_run.team_id, team_run.ai_lenser_id) == (team, None)
    assert team_run.approval_status == "approved"
    assert world.claimed() == [run]


def test_fallback_that_is_gone_is_a_failure(world: World) -> None:
    agent = world.make_agent()
    world.run(
        policies=world.policies(
            retry=ONCE, failure={"mode": "fallback", "fallbackAssigneeId": str(agent)}
        )
    )
    world.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    assert fail_next(world).status == "failed"


def test_fallback_never_leaves_the_tenant(world: World) -> None:
    from tests.support.database import make_tenant

    stranger = world.make_agent(make_tenant(world.db))
    world.run(
        policies=world.policies(
            retry=ONCE, failure={"mode": "fallback", "fallbackAssigneeId": str(stranger)}
        )
    )
    assert fail_next(world).status == "failed"
