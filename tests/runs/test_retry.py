"""A run that failed, timed out or was cancelled starts once more, under its own id."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.rpc.callers import CYCLIC, acting
from tests.runs.world import FREE, World
from tests.support.database import make_tenant

ASKS = {"approval_policy": {"requiresApproval": True, "expiresAfterMs": 3_600_000}}
ONCE = {"maxRetries": 0}


def retry(world: World, run: UUID) -> Any:
    with acting(world.db, world.tenant, "authenticated") as conn:
        return conn.execute("select * from public.fn_retry_workflow_run(%s)", [run]).fetchone()


def failed(world: World, schedule: UUID | None = None, **columns: Any) -> UUID:
    """A run that has failed after one attempt by the worker `old`."""
    run = world.run(schedule, **{"policies": world.policies(retry=ONCE), **columns})
    assert world.claimed("old") == [run]
    assert world.fail(run, "old")
    assert world.row(run).status == "failed"
    return run


def settle(world: World, status: str) -> UUID:
    """A run that ended so."""
    if status == "failed":
        return failed(world)
    run = world.run(policies=world.policies(retry=ONCE))
    if status == "cancelled":
        assert world.cancel(run)
    else:
        assert world.claimed() == [run]
        world.let_lease_expire(run)
        assert world.reap() == 1
    assert world.row(run).status == status
    return run


@pytest.mark.parametrize("status", ["failed", "timed_out", "cancelled"])
def test_it_starts_once_more_under_its_own_id(world: World, status: str) -> None:
    run = settle(world, status)
    before = world.row(run)
    answer = retry(world, run)
    assert (answer.id, answer.status, answer.attempt) == (run, "pending", before.attempt)
    row = world.row(run)
    assert (row.completed_at, row.worker_id, row.lease_expires_at) == (None, None, None)
    assert "result" not in row.metadata
    assert world.events(run)[-1] == (row.last_event_seq, "run.retried")
    assert world.event(run, "run.retried")["from"] == status
    (claimed,) = world.claim("new")
    assert (claimed.id, claimed.attempt) == (run, before.attempt + 1)
    assert world.complete(run, "new", result={"n": 1})
    assert world.row(run).metadata["result"] == {"n": 1}


@pytest.mark.parametrize("status", ["pending_approval", "pending", "running", "completed"])
def test_a_run_that_is_not_over_or_has_done_its_work_is_refused(world: World, status: str) -> None:
    run = world.run(policies=ASKS if status == "pending_approval" else FREE)
    if status in ("running", "completed"):
        world.claim()
    if status == "completed":
        assert world.complete(run)
    before = world.row(run)
    with world.refused("22023", f"is {status}: only one that failed, timed out or was cancelled"):
        retry(world, run)
    assert world.row(run) == before


def test_what_an_executor_of_an_earlier_attempt_sends_is_refused(world: World) -> None:
    run = failed(world)
    retry(world, run)
    (claimed,) = world.claim("old")
    assert claimed.attempt == 2
    complete = "select lenses.fn_complete_workflow_run(%s, 'old', '1', 0, %s)"
    assert world._call(complete, [run, 1]) is False
    assert world._call(complete, [run, 2]) is True


def test_retry_policy_counts_anew(world: World) -> None:
    run = world.run(policies=world.policies(retry={"maxRetries": 1}))
    for expected in ("pending", "failed"):
        world.claim()
        world.fail(run)
        assert world.row(run).status == expected
    retry(world, run)
    for expected in ("pending", "failed"):
        world.claim()
        world.fail(run)
        assert world.row(run).status == expected
    assert world.row(run).attempt == 4


def test_attempts_go_on_counting_after_a_fallback(world: World) -> None:
    first, second = world.make_agent(), world.make_agent()
    fallback = {"mode": "fallback", "fallbackAssigneeId": str(second)}
    run = world.run(
        ai_lenser_id=first, policies=world.policies(retry={"maxRetries": 2}, failure=fallback)
    )
    for _ in range(3):
        world.claim()
        world.fail(run)
    assert world.row(run).ai_lenser_id == second
    world.claim()
    assert world.cancel(run)
    assert retry(world, run).attempt == 3, "the first agent's executors had attempts up to 3"


def test_approval_is_asked_anew(world: World) -> None:
    run = world.run(policies=ASKS | {"retry_policy": ONCE})
    world.decide(run, note="go")
    world.claim()
    world.fail(run)
    assert world.team_run(run).approval_status == "approved"
    answer = retry(world, run)
    assert answer.status == "pending_approval"
    assert answer.approval_expires_at - world.db.value("select now()") == timedelta(hours=1)
    team_run = world.team_run(run)
    assert (team_run.approval_status, team_run.decided_by, team_run.note) == ("pending", None, None)
    assert world.claimed() == []
    world.decide(run)
    assert world.claimed() == [run]


def test_a_rejected_run_can_be_asked_about_once_more(world: World) -> None:
    run = world.run(policies=ASKS)
    world.decide(run, "rejected")
    assert retry(world, run).status == "pending_approval"
    assert world.team_run(run).approval_status == "pending"


def test_what_the_schedule_demands_by_now_holds(world: World) -> None:
    schedule = world.make_schedule()
    run = failed(world, schedule)
    world.set(schedule, approval_policy=Jsonb({"requiresApproval": True}))
    assert retry(world, run).status == "pending_approval"
    assert world.team_run(run).approval_status == "pending"


def test_the_schedule_hears_of_the_new_end_and_a_deferred_slot_waits_for_it(world: World) -> None:
    schedule = world.make_schedule()
    run = failed(world, schedule)
    world.set(schedule, queue_policy=Jsonb({"mode": "serial", "onOverlap": "queue"}))
    assert world.schedule(schedule).last_result["status"] == "failed"
    retry(world, run)
    world.tick(world.schedule(schedule).next_run_at)
    assert world.schedule(schedule).last_dispatch_status == "deferred"
    waits_until = world.schedule(schedule).due_at
    world.claim("new")
    assert world.complete(run, "new", result={"status": "completed"})
    saved = world.schedule(schedule)
    assert saved.last_result == {"status": "completed"}
    assert saved.due_at < waits_until


def test_conditions_count_it_once(world: World) -> None:
    run = failed(world)
    stats = "select lenses.fn_run_stats(%s, %s, now())"
    before = world.db.value(stats, [world.tenant.id, world.workflow])
    retry(world, run)
    during = world.db.value(stats, [world.tenant.id, world.workflow])
    world.claim("new")
    world.complete(run, "new")
    after = world.db.value(stats, [world.tenant.id, world.workflow])
    assert [(s["failed"], s["succeeded"], s["total"]) for s in (before, during, after)] == [
        (1, 0, 1), (0, 0, 1), (0, 1, 1),
    ]  # fmt: skip


def test_it_takes_a_place_among_the_runs_that_wait(world: World) -> None:
    run = failed(world)
    world.run()
    world.db.execute("update lenses.dispatch_settings set max_pending_runs_per_lenser = 1")
    with world.refused("53400", "has at most 1 runs that wait"):
        retry(world, run)
    world.db.execute("update lenses.dispatch_settings set max_pending_runs_per_lenser = 2")
    assert retry(world, run).status == "pending"


def test_the_guards_of_run_now_refuse_it(world: World) -> None:
    run = failed(world)
    cyclic = world.make_workflow(definition=CYCLIC)
    other = failed(world, workflow_id=cyclic)
    with world.refused("22023", "cannot start once more: cycle_detected"):
        retry(world, other)
    world.db.execute(
        "update lenses.workflows set status = 'paused' where id = %s", [world.workflow]
    )
    with world.refused("22023", "cannot start once more: workflow_not_active"):
        retry(world, run)


def test_an_assignee_that_is_gone_refuses_it(world: World) -> None:
    agent = world.make_agent()
    schedule = world.make_schedule(assignee_type="agent", assignee_id=agent)
    run = failed(world, schedule)
    assert world.row(run).ai_lenser_id == agent
    world.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    with world.refused("22023", "cannot start once more: assignee_missing"):
        retry(world, run)


def limited(world: World, **limits: int) -> UUID:
    """An agent with these limits."""
    agent = world.make_agent()
    world.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits, "
        "max_daily_battles) values (%s, %s, %s, %s)",
        [agent, world.tenant.id, limits.get("credits"), limits.get("battles")],
    )
    return agent


def spend(world: World, run: UUID, worker: str, credits: int) -> None:
    query = "select lenses.fn_fail_workflow_run(%s, %s, 'c', 'e', %s)"
    assert world._call(query, [run, worker, credits])


def test_an_agent_over_budget_refuses_it(world: World) -> None:
    agent = limited(world, credits=5)
    run = world.run(ai_lenser_id=agent, policies=world.policies(retry=ONCE))
    world.claim()
    spend(world, run, "w", 5)
    with world.refused("22023", "cannot start once more: budget_exceeded"):
        retry(world, run)
    world.db.execute("update agents.policies set spending_limit_credits = 9")
    assert retry(world, run).policies["limits"] == {"spending_limit_credits": 9}


def test_what_an_older_run_spends_today_is_held_against_today(world: World) -> None:
    agent = limited(world, credits=5)
    yesterday = world.db.value("select date_trunc('day', now(), 'UTC') - interval '1 hour'")
    runs = []
    for _ in range(2):
        run = world.run(
            ai_lenser_id=agent, policies=world.policies(retry=ONCE), created_at=yesterday
        )
        world.claim()
        spend(world, run, "w", 1)
        runs.append(run)
    budget = "select is_overspent from lenses.fn_budgets(array[%s::uuid], now())"
    retry(world, runs[0])
    assert world.db.value(budget, [agent]) is False, "yesterday's credits are yesterday's"
    world.claim()
    spend(world, runs[0], "w", 5)
    assert world.db.value(budget, [agent]) is True
    with world.refused("22023", "budget_exceeded"):
        retry(world, runs[1])


def test_a_battle_that_counts_again_needs_room(world: World) -> None:
    world.db.execute("update lenses.workflows set kind = 'battle' where id = %s", [world.workflow])
    agent = limited(world, battles=1)
    today = world.db.value("select now()")
    cancelled = world.run(ai_lenser_id=agent, created_at=today)
    assert world.cancel(cancelled)
    other = failed(world, ai_lenser_id=agent, created_at=today)
    with world.refused("22023", "budget_exceeded"):
        retry(world, cancelled)
    assert retry(world, other).status == "pending", "today's one battle is this one"


def test_strangers_and_unknown_ids_get_one_answer(world: World) -> None:
    run = failed(world)
    stranger = make_tenant(world.db)
    told = []
    for who, wanted in ((stranger, run), (world.tenant, uuid.uuid4())):
        query = "select public.fn_retry_workflow_run(%s)"
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
            world.db.transaction(),
            acting(world.db, who, "authenticated") as conn,
        ):
            conn.execute(query, [wanted])
        told.append((caught.value.diag.message_primary, caught.value.diag.message_hint))
    assert told[0] == told[1]
    assert told[0][0] == "there is no such run of yours"
    assert world.row(run).status == "failed"
    with world.refused("42501", "there is no such run"):
        world._call("select public.fn_retry_workflow_run(%s)", [uuid.uuid4()])
    with acting(world.db, None, "service_role") as conn:
        assert conn.value("select status from public.fn_retry_workflow_run(%s)", [run]) == "pending"


def test_who_retried_it_is_written_down(world: World) -> None:
    schedule = world.make_schedule()
    run = failed(world, schedule)
    retry(world, run)
    (payload,) = world.db.column(
        "select payload from agents.action_logs where action_type = 'run_retried'"
    )
    assert payload["run_id"] == str(run)
    assert payload["retried_by"] == str(world.tenant.id)
    assert (payload["from"], payload["role"]) == ("failed", "authenticated")


def test_a_team_run_has_each_transition_once(world: World) -> None:
    agent = world.make_agent()
    team = world.make_team(agent)
    run = world.run(team_id=team, policies=world.policies(retry={"maxRetries": 1}))
    world.claim()
    world.fail(run)
    world.claim()
    world.fail(run)
    retry(world, run)
    world.claim()
    world.complete(run)
    other = world.run(team_id=team, policies=ASKS, status="pending_approval")
    world.decide(other)
    world.cancel(other)
    for each in (run, other):
        transitions = [event for _, event in world.events(each)][1:]
        told = [event for event in world.team_events(each) if event.startswith("run.")]
        assert told == transitions
    assert world.team_events(run) == [
        "team_run.created", "run.started", "run.retried", "run.started", "run.failed",
        "run.retried", "run.started", "run.completed",
    ]  # fmt: skip
    assert world.team_events(other) == [
        "team_run.created", "approval.approved", "run.approved", "run.cancelled",
    ]  # fmt: skip


def test_a_run_of_no_team_leaves_nothing_there(world: World) -> None:
    run = world.run()
    world.claim()
    world.complete(run)
    assert world.db.value("select count(*) from agents.agent_run_events where run_id = %s", [run]) == 0
