"""The owner's decision, and what it is worth afterwards."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from tests.support.database import as_user, make_tenant
from tests.support.run_scenario import RunScenario, said

NEEDS = {"approval_policy": {"requiresApproval": True}}


def test_approved(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    answer = scenario.decide(run, note="go")
    assert answer == scenario.row(run)
    assert answer.status == "pending"
    team_run = scenario.team_run(run)
    assert (team_run.approval_status, team_run.decided_by, team_run.note) == (
        "approved", scenario.tenant.id, "go",
    )  # fmt: skip
    assert team_run.decided_at is not None
    assert scenario.events(run) == [(1, "run.created"), (2, "run.approved")]
    assert scenario.team_events(run)[-2:] == ["team_run.created", "approval.approved"]
    assert scenario.claimed() == [run]


def test_rejected(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(schedule, policies=NEEDS)
    assert scenario.decide(run, "rejected", "not today").status == "cancelled"
    assert scenario.team_run(run).approval_status == "rejected"
    assert scenario.team_run(run).note == "not today"
    result = {"status": "cancelled", "cause": "rejected", "error": "not today"}
    assert scenario.row(run).metadata["result"] == result
    assert scenario.schedule(schedule).last_result == result
    assert scenario.actions(schedule)[-1] == "run_rejected"


@pytest.mark.parametrize("decision", ["maybe", "", "pending", "APPROVED", None])
def test_there_are_two_decisions(scenario: RunScenario, decision: str) -> None:
    run = scenario.run(policies=NEEDS)
    with scenario.refused("22023", "p_decision"):
        scenario.decide(run, decision)
    with scenario.refused("22023", "note"):
        scenario.decide(run, "approved", "x" * 2001)
    assert scenario.row(run).status == "pending_approval"


def test_once(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    scenario.decide(run)
    for decision in ("approved", "rejected"):
        with scenario.refused("22023", "does not wait for approval"):
            scenario.decide(run, decision)
    with scenario.refused("22023", "does not wait for approval"):
        scenario.decide(scenario.run())


def test_only_his_own_and_never_service_role(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    stranger = make_tenant(scenario.db)
    query = "select public.fn_decide_workflow_run(%s, 'approved')"
    texts = set()
    for wanted in (run, uuid4()):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
            as_user(scenario.db, stranger, "authenticated") as conn,
        ):
            conn.execute(query, [wanted])
        texts.add(said(caught.value))
    assert len(texts) == 1
    for sub, role in (
        (None, "authenticated"),
        (scenario.tenant, "service_role"),
        (scenario.tenant, "anon"),
    ):
        with scenario.refused("42501"), as_user(scenario.db, sub, role) as conn:
            conn.execute(query, [run])
    for role in ("service_role", "authenticated"):
        with scenario.refused("42501"), as_user(scenario.db, scenario.tenant, role) as conn:
            conn.execute("select lenses.fn_decide_run(%s, 'approved', null)", [run])
    with scenario.refused("42501"), as_user(scenario.db, stranger, "lf_sql_owner") as conn:
        conn.execute("select lenses.fn_decide_run(%s, 'approved', null)", [run])
    assert scenario.row(run).status == "pending_approval"


def test_an_expired_approval_is_not_given(scenario: RunScenario) -> None:
    run = scenario.run(
        policies={"approval_policy": {"requiresApproval": True, "expiresAfterMs": 60_000}},
        approval_expires_at="2026-01-01Z",
    )
    with scenario.refused("22023", "expired at"):
        scenario.decide(run)
    assert scenario.reap() == 1
    row = scenario.row(run)
    assert (row.status, row.attempt) == ("timed_out", 0)
    assert row.metadata["result"]["cause"] == "approval_expired"
    assert row.metadata["result"]["error"] == "nobody decided before 2026-01-01 00:00 UTC"
    assert scenario.team_run(run).approval_status == "timed_out"
    assert scenario.events(run)[-1] == (2, "run.timed_out")


def test_expiry_counts_from_the_dispatch_and_is_not_retried(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(
        approval_policy={"requiresApproval": True, "expiresAfterMs": 600_000},
        retry_policy={"maxRetries": 5},
    )
    start = scenario.schedule(schedule).next_run_at
    scenario.tick(start)
    (run,) = scenario.runs(schedule)
    assert run.approval_expires_at == start + timedelta(minutes=10)
    scenario.set(schedule, is_active=False)
    assert scenario.db.value("select lenses.fn_reap_runs(%s)", [start + timedelta(minutes=9)]) == 0
    expiry = start + timedelta(minutes=10)
    assert scenario.db.value("select lenses.fn_reap_runs(%s)", [expiry]) == 1
    row = scenario.row(run.id)
    assert (row.status, row.completed_at) == ("timed_out", expiry)
    assert scenario.schedule(schedule).last_completed_at == expiry


@pytest.mark.parametrize(
    "change",
    [
        "context_inputs = '{\"b\": 2}'",
        "global_model_id = 'another'",
        "workflow_version = 2",
    ],
)
def test_a_change_after_the_decision_asks_again(scenario: RunScenario, change: str) -> None:
    run = scenario.run(policies=NEEDS)
    scenario.db.execute(
        'update lenses.workflows set definition = \'{"nodes": [{"id": "x"}], "edges": []}\' '
        "where id = %s",
        [scenario.workflow],
    )
    scenario.decide(run, note="as it is")
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute(f"update lenses.workflow_runs set {change} where id = %s", [run])
    row, team_run = scenario.row(run), scenario.team_run(run)
    assert row.status == "pending_approval"
    assert (team_run.approval_status, team_run.decided_by, team_run.note) == ("pending", None, None)
    assert scenario.events(run)[-1] == (3, "run.approval_requested")
    assert scenario.claimed() == []
    scenario.decide(run)
    assert scenario.claimed() == [run]


def test_what_does_not_matter_does_not_ask_again(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    scenario.decide(run)
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute(
            "update lenses.workflow_runs set priority = 5, available_at = now(), "
            "context_inputs = context_inputs, metadata = metadata || '{\"x\": 1}' where id = %s",
            [run],
        )
    assert scenario.row(run).status == "pending"


def test_a_retry_goes_on_under_the_approval(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    scenario.decide(run)
    scenario.claim()
    assert scenario.fail(run)
    assert scenario.claimed() == [run]


def test_cancelling_a_waiting_run_rejects_it(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    assert scenario.cancel(run)
    assert scenario.team_run(run).approval_status == "rejected"
    other = scenario.run(policies=NEEDS)
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute("update lenses.workflow_runs set status = 'cancelled' where id = %s", [other])
    assert scenario.team_run(other).approval_status == "rejected"


def test_the_owner_lowers_his_schedule_but_not_a_run_that_is_there(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(approval_policy={"requiresApproval": True})
    run = scenario.run(schedule)
    assert scenario.row(run).status == "pending_approval"
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        conn.execute(
            "select public.fn_patch_workflow_schedule(%s, %s)",
            [schedule, '{"approval_policy": {"requiresApproval": false}}'],
        )
    assert scenario.claimed() == []
    assert scenario.row(run).status == "pending_approval"
    free = scenario.run(schedule)
    assert scenario.claimed(limit=5) == [free]
