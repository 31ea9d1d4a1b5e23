"""A run that failed, timed out or was cancelled starts once more, under its own id."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.callers import CYCLIC
from tests.support.database import as_user, make_tenant
from tests.support.run_scenario import FREE, RunScenario

ASKS = {"approval_policy": {"requiresApproval": True, "expiresAfterMs": 3_600_000}}
ONCE = {"maxRetries": 0}


def retry(scenario: RunScenario, run: UUID) -> Any:
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        return conn.execute("select * from public.fn_retry_workflow_run(%s)", [run]).fetchone()


def failed(scenario: RunScenario, schedule: UUID | None = None, **columns: Any) -> UUID:
    """A run that has failed after one attempt by the worker `old`."""
    run = scenario.run(schedule, **{"policies": scenario.policies(retry=ONCE), **columns})
    assert scenario.claimed("old") == [run]
    assert scenario.fail(run, "old")
    assert scenario.row(run).status == "failed"
    return run


def settle(scenario: RunScenario, status: str) -> UUID:
    """A run that ended so."""
    if status == "failed":
        return failed(scenario)
    run = scenario.run(policies=scenario.policies(retry=ONCE))
    if status == "cancelled":
        assert scenario.cancel(run)
    else:
        assert scenario.claimed() == [run]
        scenario.let_lease_expire(run)
        assert scenario.reap() == 1
    assert scenario.row(run).status == status
    return run


@pytest.mark.parametrize("status", ["failed", "timed_out", "cancelled"])
def test_it_starts_once_more_under_its_own_id(scenario: RunScenario, status: str) -> None:
    run = settle(scenario, status)
    before = scenario.row(run)
    answer = retry(scenario, run)
    assert (answer.id, answer.status, answer.attempt) == (run, "pending", before.attempt)
    row = scenario.row(run)
    assert (row.completed_at, row.worker_id, row.lease_expires_at) == (None, None, None)
    assert "result" not in row.metadata
    assert scenario.events(run)[-1] == (row.last_event_seq, "run.retried")
    assert scenario.event(run, "run.retried")["from"] == status
    (claimed,) = scenario.claim("new")
    assert (claimed.id, claimed.attempt) == (run, before.attempt + 1)
    assert scenario.complete(run, "new", result={"n": 1})
    assert scenario.row(run).metadata["result"] == {"n": 1}


@pytest.mark.parametrize("status", ["pending_approval", "pending", "running", "completed"])
def test_a_run_that_is_not_over_or_has_done_its_work_is_refused(
    scenario: RunScenario, status: str
) -> None:
    run = scenario.run(policies=ASKS if status == "pending_approval" else FREE)
    if status in ("running", "completed"):
        scenario.claim()
    if status == "completed":
        assert scenario.complete(run)
    before = scenario.row(run)
    with scenario.refused(
        "22023", f"is {status}: only one that failed, timed out or was cancelled"
    ):
        retry(scenario, run)
    assert scenario.row(run) == before


def test_what_an_executor_of_an_earlier_attempt_sends_is_refused(scenario: RunScenario) -> None:
    run = failed(scenario)
    retry(scenario, run)
    (claimed,) = scenario.claim("old")
    assert claimed.attempt == 2
    complete = "select lenses.fn_complete_workflow_run(%s, 'old', '1', 0, %s)"
    assert scenario._call(complete, [run, 1]) is False
    assert scenario._call(complete, [run, 2]) is True


def test_retry_policy_counts_anew(scenario: RunScenario) -> None:
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 1}))
    for expected in ("pending", "failed"):
        scenario.claim()
        scenario.fail(run)
        assert scenario.row(run).status == expected
    retry(scenario, run)
    for expected in ("pending", "failed"):
        scenario.claim()
        scenario.fail(run)
        assert scenario.row(run).status == expected
    assert scenario.row(run).attempt == 4


def test_attempts_go_on_counting_after_a_fallback(scenario: RunScenario) -> None:
    first, second = scenario.make_agent(), scenario.make_agent()
    fallback = {"mode": "fallback", "fallbackAssigneeId": str(second)}
    run = scenario.run(
        ai_lenser_id=first, policies=scenario.policies(retry={"maxRetries": 2}, failure=fallback)
    )
    for _ in range(3):
        scenario.claim()
        scenario.fail(run)
    assert scenario.row(run).ai_lenser_id == second
    scenario.claim()
    assert scenario.cancel(run)
    assert retry(scenario, run).attempt == 3, "the first agent's executors had attempts up to 3"


def test_approval_is_asked_anew(scenario: RunScenario) -> None:
    run = scenario.run(policies=ASKS | {"retry_policy": ONCE})
    scenario.decide(run, note="go")
    scenario.claim()
    scenario.fail(run)
    assert scenario.team_run(run).approval_status == "approved"
    answer = retry(scenario, run)
    assert answer.status == "pending_approval"
    assert answer.approval_expires_at - scenario.db.value("select now()") == timedelta(hours=1)
    team_run = scenario.team_run(run)
    assert (team_run.approval_status, team_run.decided_by, team_run.note) == ("pending", None, None)
    assert scenario.claimed() == []
    scenario.decide(run)
    assert scenario.claimed() == [run]


def test_a_rejected_run_can_be_asked_about_once_more(scenario: RunScenario) -> None:
    run = scenario.run(policies=ASKS)
    scenario.decide(run, "rejected")
    assert retry(scenario, run).status == "pending_approval"
    assert scenario.team_run(run).approval_status == "pending"


def test_what_the_schedule_demands_by_now_holds(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = failed(scenario, schedule)
    scenario.set(schedule, approval_policy=Jsonb({"requiresApproval": True}))
    assert retry(scenario, run).status == "pending_approval"
    assert scenario.team_run(run).approval_status == "pending"


def test_the_schedule_hears_of_the_new_end_and_a_deferred_slot_waits_for_it(
    scenario: RunScenario,
) -> None:
    schedule = scenario.make_schedule()
    run = failed(scenario, schedule)
    scenario.set(schedule, queue_policy=Jsonb({"mode": "serial", "onOverlap": "queue"}))
    assert scenario.schedule(schedule).last_result["status"] == "failed"
    retry(scenario, run)
    scenario.tick(scenario.schedule(schedule).next_run_at)
    assert scenario.schedule(schedule).last_dispatch_status == "deferred"
    waits_until = scenario.schedule(schedule).due_at
    scenario.claim("new")
    assert scenario.complete(run, "new", result={"status": "completed"})
    saved = scenario.schedule(schedule)
    assert saved.last_result == {"status": "completed"}
    assert saved.due_at < waits_until


def test_conditions_count_it_once(scenario: RunScenario) -> None:
    run = failed(scenario)
    stats = "select lenses.fn_run_stats(%s, %s, now())"
    before = scenario.db.value(stats, [scenario.tenant.id, scenario.workflow])
    retry(scenario, run)
    during = scenario.db.value(stats, [scenario.tenant.id, scenario.workflow])
    scenario.claim("new")
    scenario.complete(run, "new")
    after = scenario.db.value(stats, [scenario.tenant.id, scenario.workflow])
    assert [(s["failed"], s["succeeded"], s["total"]) for s in (before, during, after)] == [
        (1, 0, 1), (0, 0, 1), (0, 1, 1),
    ]  # fmt: skip


def test_it_takes_a_place_among_the_runs_that_wait(scenario: RunScenario) -> None:
    run = failed(scenario)
    scenario.run()
    scenario.db.execute("update lenses.dispatch_settings set max_pending_runs_per_lenser = 1")
    with scenario.refused("53400", "has at most 1 runs that wait"):
        retry(scenario, run)
    scenario.db.execute("update lenses.dispatch_settings set max_pending_runs_per_lenser = 2")
    assert retry(scenario, run).status == "pending"


def test_the_guards_of_run_now_refuse_it(scenario: RunScenario) -> None:
    run = failed(scenario)
    cyclic = scenario.make_workflow(definition=CYCLIC)
    other = failed(scenario, workflow_id=cyclic)
    with scenario.refused("22023", "cannot start once more: cycle_detected"):
        retry(scenario, other)
    scenario.db.execute(
        "update lenses.workflows set status = 'paused' where id = %s", [scenario.workflow]
    )
    with scenario.refused("22023", "cannot start once more: workflow_not_active"):
        retry(scenario, run)


def test_an_assignee_that_is_gone_refuses_it(scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    schedule = scenario.make_schedule(assignee_type="agent", assignee_id=agent)
    run = failed(scenario, schedule)
    assert scenario.row(run).ai_lenser_id == agent
    scenario.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    with scenario.refused("22023", "cannot start once more: assignee_missing"):
        retry(scenario, run)


def limited(scenario: RunScenario, **limits: int) -> UUID:
    """An agent with these limits."""
    agent = scenario.make_agent()
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits, "
        "max_daily_battles) values (%s, %s, %s, %s)",
        [agent, scenario.tenant.id, limits.get("credits"), limits.get("battles")],
    )
    return agent


def spend(scenario: RunScenario, run: UUID, worker: str, credits: int) -> None:
    query = "select lenses.fn_fail_workflow_run(%s, %s, 'c', 'e', %s)"
    assert scenario._call(query, [run, worker, credits])


def test_an_agent_over_budget_refuses_it(scenario: RunScenario) -> None:
    agent = limited(scenario, credits=5)
    run = scenario.run(ai_lenser_id=agent, policies=scenario.policies(retry=ONCE))
    scenario.claim()
    spend(scenario, run, "w", 5)
    with scenario.refused("22023", "cannot start once more: budget_exceeded"):
        retry(scenario, run)
    scenario.db.execute("update agents.policies set spending_limit_credits = 9")
    assert retry(scenario, run).policies["limits"] == {"spending_limit_credits": 9}


def test_what_an_older_run_spends_today_is_held_against_today(scenario: RunScenario) -> None:
    agent = limited(scenario, credits=5)
    yesterday = scenario.db.value("select date_trunc('day', now(), 'UTC') - interval '1 hour'")
    runs = []
    for _ in range(2):
        run = scenario.run(
            ai_lenser_id=agent, policies=scenario.policies(retry=ONCE), created_at=yesterday
        )
        scenario.claim()
        spend(scenario, run, "w", 1)
        runs.append(run)
    budget = "select is_overspent from lenses.fn_budgets(array[%s::uuid], now())"
    retry(scenario, runs[0])
    assert scenario.db.value(budget, [agent]) is False, "yesterday's credits are yesterday's"
    scenario.claim()
    spend(scenario, runs[0], "w", 5)
    assert scenario.db.value(budget, [agent]) is True
    with scenario.refused("22023", "budget_exceeded"):
        retry(scenario, runs[1])


def test_a_battle_that_counts_again_needs_room(scenario: RunScenario) -> None:
    scenario.db.execute(
        "update lenses.workflows set kind = 'battle' where id = %s", [scenario.workflow]
    )
    agent = limited(scenario, battles=1)
    today = scenario.db.value("select now()")
    cancelled = scenario.run(ai_lenser_id=agent, created_at=today)
    assert scenario.cancel(cancelled)
    other = failed(scenario, ai_lenser_id=agent, created_at=today)
    with scenario.refused("22023", "budget_exceeded"):
        retry(scenario, cancelled)
    assert retry(scenario, other).status == "pending", "today's one battle is this one"


def test_strangers_and_unknown_ids_get_one_answer(scenario: RunScenario) -> None:
    run = failed(scenario)
    stranger = make_tenant(scenario.db)
    told = []
    for who, wanted in ((stranger, run), (scenario.tenant, uuid.uuid4())):
        query = "select public.fn_retry_workflow_run(%s)"
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
            scenario.db.transaction(),
            as_user(scenario.db, who, "authenticated") as conn,
        ):
            conn.execute(query, [wanted])
        told.append((caught.value.diag.message_primary, caught.value.diag.message_hint))
    assert told[0] == told[1]
    assert told[0][0] == "there is no such run of yours"
    assert scenario.row(run).status == "failed"
    with scenario.refused("42501", "there is no such run"):
        scenario._call("select public.fn_retry_workflow_run(%s)", [uuid.uuid4()])
    with as_user(scenario.db, None, "service_role") as conn:
        assert conn.value("select status from public.fn_retry_workflow_run(%s)", [run]) == "pending"


def test_who_retried_it_is_written_down(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = failed(scenario, schedule)
    retry(scenario, run)
    (payload,) = scenario.db.column(
        "select payload from agents.action_logs where action_type = 'run_retried'"
    )
    assert payload["run_id"] == str(run)
    assert payload["retried_by"] == str(scenario.tenant.id)
    assert (payload["from"], payload["role"]) == ("failed", "authenticated")


def test_a_team_run_has_each_transition_once(scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    team = scenario.make_team(agent)
    run = scenario.run(team_id=team, policies=scenario.policies(retry={"maxRetries": 1}))
    scenario.claim()
    scenario.fail(run)
    scenario.claim()
    scenario.fail(run)
    retry(scenario, run)
    scenario.claim()
    scenario.complete(run)
    other = scenario.run(team_id=team, policies=ASKS, status="pending_approval")
    scenario.decide(other)
    scenario.cancel(other)
    retry(scenario, other)
    assert scenario.team_events(run) == [
        "team_run.created", "run.started", "run.retried", "run.started", "run.failed",
        "run.retried", "run.started", "run.completed",
    ]  # fmt: skip
    assert scenario.team_events(other) == [
        "team_run.created", "approval.approved", "run.cancelled", "approval.requested",
    ]  # fmt: skip


def test_a_run_of_no_team_leaves_nothing_there(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim()
    scenario.complete(run)
    assert (
        scenario.db.value("select count(*) from agents.agent_run_events where run_id = %s", [run])
        == 0
    )
