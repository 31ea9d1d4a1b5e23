"""Every door to a started run, in every state of its approval, by every role up to the table's owner."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.database import as_user
from tests.support.run_scenario import RunScenario
from tests.support.scenario import MONDAY

NEEDS = {"approval_policy": {"requiresApproval": True, "expiresAfterMs": 60_000}}
IN_FLIGHT = ("pending", "running")
LEASE = "worker_id = 'w', lease_expires_at = now() + interval '1 minute'"


def undecided(scenario: RunScenario, run: UUID) -> None:
    """As it was made."""


def rejected(scenario: RunScenario, run: UUID) -> None:
    scenario.decide(run, "rejected")


def approved(scenario: RunScenario, run: UUID) -> None:
    scenario.decide(run)


def timed_out(scenario: RunScenario, run: UUID) -> None:
    scenario.db.execute("select lenses.fn_reap_runs(now() + interval '2 minutes')")


def cancelled(scenario: RunScenario, run: UUID) -> None:
    scenario.cancel(run)


def changed_since(scenario: RunScenario, run: UUID) -> None:
    scenario.decide(run)
    scenario.db.execute(
        "update lenses.workflow_runs set context_inputs = '{\"other\": 1}' where id = %s", [run]
    )


def asked_again_by_version(scenario: RunScenario, run: UUID) -> None:
    scenario.decide(run)
    scenario.db.execute(
        'update lenses.workflows set definition = \'{"nodes": [{"id": "new"}], "edges": []}\' '
        "where id = %s",
        [scenario.workflow],
    )
    scenario.db.execute("update lenses.workflow_runs set workflow_version = 2 where id = %s", [run])


def without_team_run(scenario: RunScenario, run: UUID) -> None:
    """What a superuser's DELETE leaves."""
    scenario.decide(run)
    scenario.db.execute("delete from agents.team_runs where workflow_run_id = %s", [run])


@dataclass(frozen=True)
class State:
    make: Callable[[RunScenario, UUID], None]
    may_start: bool = False
    is_over: bool = False


STATES = {
    "undecided": State(undecided),
    "approved": State(approved, may_start=True),
    "rejected": State(rejected, is_over=True),
    "timed_out": State(timed_out, is_over=True),
    "cancelled": State(cancelled, is_over=True),
    "inputs_changed": State(changed_since),
    "version_changed": State(asked_again_by_version),
    "decision_deleted": State(without_team_run),
}

DOORS: dict[str, str] = {
    "update to pending": "update lenses.workflow_runs set status = 'pending' where id = %(run)s",
    "update to running": (
        f"update lenses.workflow_runs set status = 'running', {LEASE} where id = %(run)s"
    ),
    "update to completed": (
        "update lenses.workflow_runs set status = 'completed', started_at = now() where id = %(run)s"
    ),
    "lower the flag": (
        "update lenses.workflow_runs set needs_approval = false, status = 'running', "
        f"{LEASE} where id = %(run)s"
    ),
    "lower the flag alone": (
        "update lenses.workflow_runs set needs_approval = false where id = %(run)s"
    ),
    "lower the flag, pending": (
        "update lenses.workflow_runs set needs_approval = false, status = 'pending' "
        "where id = %(run)s"
    ),
    "no expiry": "update lenses.workflow_runs set approval_expires_at = null where id = %(run)s",
    "pretend an attempt": (
        f"update lenses.workflow_runs set started_at = now(), {LEASE} where id = %(run)s"
    ),
    "time out early": "update lenses.workflow_runs set status = 'timed_out' where id = %(run)s",
    "lower the policy": (
        "update lenses.workflow_runs set status = 'pending', "
        'policies = \'{"approval_policy": {"requiresApproval": false}}\' where id = %(run)s'
    ),
    "other inputs": (
        f"update lenses.workflow_runs set status = 'running', {LEASE}, "
        "context_inputs = '{\"evil\": 1}' where id = %(run)s"
    ),
    "approve the team run": (
        "update agents.team_runs set approval_status = 'approved', decided_at = now() "
        "where workflow_run_id = %(run)s"
    ),
    "team run not required": (
        "update agents.team_runs set approval_status = 'not_required' "
        "where workflow_run_id = %(run)s"
    ),
    "insert an approval": (
        "insert into agents.team_runs (workflow_run_id, approval_status) "
        "values (%(run)s, 'approved') on conflict (workflow_run_id, lenser_id) "
        "do update set approval_status = 'approved'"
    ),
    "upsert": (
        "insert into lenses.workflow_runs (id, workflow_id, policies, status) "
        "values (%(run)s, %(workflow)s, '{}', 'pending') "
        f"on conflict (id) do update set status = 'running', {LEASE}"
    ),
    "merge": (
        "merge into lenses.workflow_runs as r using (select %(run)s::uuid as id) as n "
        f"on r.id = n.id when matched then update set status = 'running', {LEASE}"
    ),
    "claim": "select lenses.fn_claim_workflow_runs('w', 10)",
    "complete": "select lenses.fn_complete_workflow_run(%(run)s, 'w', '1')",
    "fail into a retry": "select lenses.fn_fail_workflow_run(%(run)s, 'w', 'timeout', 'x')",
    "reap": "select lenses.fn_reap_workflow_runs()",
}
ROLES = ("service_role", "lf_sql_owner", "authenticated", "anon", "postgres", "replica")


def knock(scenario: RunScenario, door: str, role: str, run: UUID) -> str | None:
    """The SQLSTATE of what the door answered; None: it did not raise."""
    values = {"run": run, "workflow": scenario.workflow}
    try:
        with scenario.db.transaction():
            if role == "replica":
                scenario.db.execute("set local session_replication_role = replica")
                scenario.db.execute(DOORS[door], values)
                scenario.db.execute("set local session_replication_role = origin")
            elif role == "postgres":
                scenario.db.execute(DOORS[door], values)
            else:
                with as_user(
                    scenario.db, None if role != "lf_sql_owner" else scenario.tenant, role
                ) as conn:
                    conn.execute(DOORS[door], values)
    except psycopg.Error as error:
        scenario.db.execute("set local session_replication_role = origin")
        return error.sqlstate
    return None


def has_started(row: Any) -> bool:
    return row.status in IN_FLIGHT or (
        row.status in ("completed", "failed") or row.started_at is not None
    )


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("decision", STATES)
def test_exactly_the_approved_start(scenario: RunScenario, decision: str, role: str) -> None:
    """One test a role and state, with all doors within; each door meets a run of its own."""
    cell = STATES[decision]
    for door in DOORS:
        with scenario.db.transaction(force_rollback=True):
            run = scenario.run(policies=NEEDS)
            assert scenario.row(run).status == "pending_approval"
            cell.make(scenario, run)
            before = scenario.row(run)
            knock(scenario, door, role, run)
            after = scenario.row(run)
            where = f"{door}, {decision}, {role}: {before.status} to {after.status}"
            if cell.is_over:
                assert after.status == before.status, where
                assert after.attempt == 0, where
            elif not cell.may_start and decision != "decision_deleted":
                assert after.status == "pending_approval", where
                assert (after.started_at, after.attempt) == (None, 0), where
                assert scenario.team_run(run).approval_status == "pending", where
            elif decision == "decision_deleted":
                assert after.status in ("pending", "pending_approval"), where
                assert after.attempt == 0, where
            elif after.status == "running":
                assert after.context_inputs == {}, where
                assert after.needs_approval, where


@pytest.mark.parametrize("door", [door for door, query in DOORS.items() if "select" not in query])
@pytest.mark.parametrize("role", ["service_role", "postgres", "replica"])
def test_each_attempt_is_recorded_and_raises_nothing(
    scenario: RunScenario, door: str, role: str
) -> None:
    """An error would erase its own trace."""
    run = scenario.run(policies=NEEDS)
    before, count = (
        scenario.row(run),
        "select attempts from agents.approval_attempts where run_id = %s",
    )
    recorded = scenario.db.value(count, [run])
    assert knock(scenario, door, role, run) is None
    assert scenario.row(run) == before
    assert scenario.db.value(count, [run]) > recorded


@pytest.mark.parametrize("door", ["update to running", "claim", "merge", "upsert"])
def test_the_approved_do_start(scenario: RunScenario, door: str) -> None:
    """The other half: what the matrix calls allowed is possible."""
    run = scenario.run(policies=NEEDS)
    approved(scenario, run)
    assert knock(scenario, door, "service_role", run) is None
    assert scenario.row(run).status == "running"


@pytest.mark.parametrize(
    ("role", "status"),
    list(
        itertools.product(
            ("service_role", "postgres", "replica", "lf_sql_owner"),
            ("pending", "running", "completed", "failed", "cancelled", "timed_out", None),
        )
    ),
)
def test_an_inserted_run_waits(scenario: RunScenario, role: str, status: str | None) -> None:
    """INSERT as anything, by anyone: pending_approval, and the attempt is on record."""
    columns = {"workflow_id": scenario.workflow, "policies": "{}", "started_at": MONDAY}
    if status:
        columns |= {"status": status, "worker_id": "w", "lease_expires_at": MONDAY}
    names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
    query = f"insert into lenses.workflow_runs ({names}) values ({marks}) returning id"
    with scenario.db.transaction():
        if role == "replica":
            scenario.db.execute("set local session_replication_role = replica")
        if role in ("service_role", "lf_sql_owner"):
            with as_user(scenario.db, scenario.tenant, role) as conn:
                run = conn.value(query, list(columns.values()))
        else:
            run = scenario.db.value(query, list(columns.values()))
        scenario.db.execute("set local session_replication_role = origin")
    row = scenario.row(run)
    assert (row.status, row.started_at, row.worker_id) == ("pending_approval", None, None)
    assert scenario.team_run(run).approval_status == "pending"
    assert "approval_bypass_attempt" in scenario.team_events(run)
    if role == "replica":  # the counts of conditions are silent there
        assert {row.invariant for row in scenario.violations()} == {"run_counts"}
        scenario.db.execute("select lenses.fn_recount()")


def test_copy_is_no_way_in(scenario: RunScenario) -> None:
    with scenario.db.cursor().copy(
        "copy lenses.workflow_runs (workflow_id, policies, status) from stdin"
    ) as copy:
        copy.write_row([str(scenario.workflow), "{}", "pending"])
    row = scenario.db.row("select * from lenses.workflow_runs")
    assert row.status == "pending_approval"
    assert scenario.team_run(row.id).approval_status == "pending"


@pytest.mark.parametrize("gate", ["own", "schedule", "assignment"])
def test_a_gate_holds_a_run_whose_policy_asks_for_nothing(scenario: RunScenario, gate: str) -> None:
    workflow = scenario.make_workflow(
        definition={"nodes": [{"id": "a", "action": "publish"}], "edges": []}
    )
    free = {"requiresApproval": False}
    gated = {"requiresApproval": False, "gates": ["spend", "publish"]}
    if gate == "assignment":
        scenario._insert(
            "agents.workflow_assignments",
            {"lenser_id": scenario.tenant.id, "workflow_id": workflow, "assignee_type": "agent",
             "assignee_id": scenario.make_agent(), "approval_policy": gated},
        )  # fmt: skip
    schedule = (
        scenario.make_schedule(workflow_id=workflow, approval_policy=gated)
        if gate == "schedule"
        else None
    )
    run = scenario.run(
        schedule,
        workflow_id=workflow,
        policies={"approval_policy": gated if gate == "own" else free},
    )
    assert scenario.row(run).status == "pending_approval"


def test_a_version_with_a_gate_asks_though_the_old_one_did_not(scenario: RunScenario) -> None:
    workflow = scenario.make_workflow(definition={"nodes": [{"id": "a"}], "edges": []})
    run = scenario.run(
        workflow_id=workflow,
        policies={"approval_policy": {"requiresApproval": False, "gates": ["publish"]}},
    )
    assert scenario.row(run).status == "pending"
    scenario.db.execute(
        "update lenses.workflows set definition = "
        '\'{"nodes": [{"id": "a", "action": "publish"}], "edges": []}\' where id = %s',
        [workflow],
    )
    scenario.db.execute("update lenses.workflow_runs set workflow_version = 2 where id = %s", [run])
    assert scenario.row(run).status == "pending_approval"
    assert scenario.events(run)[-1] == (2, "run.approval_requested")


def test_the_tick_run_now_and_backfill_wait_too(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(approval_policy={"requiresApproval": True})
    assert scenario.tick(MONDAY) == 1
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        conn.execute("select public.fn_run_workflow_schedule_now(%s)", [schedule])
    late = scenario.make_schedule(
        "0 * * * *", approval_policy={"requiresApproval": True}, start_at="2020-01-01Z"
    )
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        answer = conn.value(
            "select public.fn_backfill_schedule(%s, now() - interval '3 hours')", [late]
        )
    assert answer["dispatched"] == 3
    statuses = scenario.db.column("select status from lenses.workflow_runs")
    assert statuses == ["pending_approval"] * 5
    assert scenario.claimed(limit=10) == []
