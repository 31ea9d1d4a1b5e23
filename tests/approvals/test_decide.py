"""The owner's decision, and what it is worth afterwards."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest

from tests.rpc.callers import acting
from tests.runs.world import World, said
from tests.support.database import make_tenant

NEEDS = {"approval_policy": {"requiresApproval": True}}


def test_approved(world: World) -> None:
    run = world.run(policies=NEEDS)
    answer = world.decide(run, note="go")
    assert answer == world.row(run)
    assert answer.status == "pending"
    team_run = world.team_run(run)
    assert (team_run.approval_status, team_run.decided_by, team_run.note) == (
        "approved", world.tenant.id, "go",
    )  # fmt: skip
    assert team_run.decided_at is not None
    assert world.events(run) == [(1, "run.created"), (2, "run.approved")]
    assert world.team_events(run)[-2:] == ["team_run.created", "approval.approved"]
    assert world.claimed() == [run]


def test_rejected(world: World) -> None:
    schedule = world.make_schedule()
    run = world.run(schedule, policies=NEEDS)
    assert world.decide(run, "rejected", "not today").status == "cancelled"
    assert world.team_run(run).approval_status == "rejected"
    assert world.team_run(run).note == "not today"
    result = {"status": "cancelled", "cause": "rejected", "error": "not today"}
    assert world.row(run).metadata["result"] == result
    assert world.schedule(schedule).last_result == result
    assert world.actions(schedule)[-1] == "run_rejected"


@pytest.mark.parametrize("decision", ["maybe", "", "pending", "APPROVED", None])
def test_there_are_two_decisions(world: World, decision: str) -> None:
    run = world.run(policies=NEEDS)
    with world.refused("22023", "p_decision"):
        world.decide(run, decision)
    with world.refused("22023", "note"):
        world.decide(run, "approved", "x" * 2001)
    assert world.row(run).status == "pending_approval"


def test_once(world: World) -> None:
    run = world.run(policies=NEEDS)
    world.decide(run)
    for decision in ("approved", "rejected"):
        with world.refused("22023", "does not wait for approval"):
            world.decide(run, decision)
    with world.refused("22023", "does not wait for approval"):
        world.decide(world.run())


def test_only_his_own_and_never_service_role(world: World) -> None:
    run = world.run(policies=NEEDS)
    stranger = make_tenant(world.db)
    query = "select public.fn_decide_workflow_run(%s, 'approved')"
    texts = set()
    for wanted in (run, uuid4()):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
            acting(world.db, stranger, "authenticated") as conn,
        ):
            conn.execute(query, [wanted])
        texts.add(said(caught.value))
    assert len(texts) == 1
    for sub, role in (
        (None, "authenticated"),
        (world.tenant, "service_role"),
        (world.tenant, "anon"),
    ):
        with world.refused("42501"), acting(world.db, sub, role) as conn:
            conn.execute(query, [run])
    for role in ("service_role", "authenticated"):
        with world.refused("42501"), acting(world.db, world.tenant, role) as conn:
            conn.execute("select lenses.fn_decide_run(%s, 'approved', null)", [run])
    with world.refused("42501"), acting(world.db, stranger, "lf_sql_owner") as conn:
        conn.execute("select lenses.fn_decide_run(%s, 'approved', null)", [run])
    assert world.row(run).status == "pending_approval"


def test_an_expired_approval_is_not_given(world: World) -> None:
    run = world.run(
        policies={"approval_policy": {"requiresApproval": True, "expiresAfterMs": 60_000}},
        approval_expires_at="2026-01-01Z",
    )
    with world.refused("22023", "ran out"):
        world.decide(run)
    assert world.reap() == 1
    row = world.row(run)
    assert (row.status, row.attempt) == ("timed_out", 0)
    assert row.metadata["result"]["cause"] == "approval_expired"
    assert world.team_run(run).approval_status == "timed_out"
    assert world.events(run)[-1] == (2, "run.timed_out")


def test_expiry_counts_from_the_dispatch_and_is_not_retried(world: World) -> None:
    schedule = world.make_schedule(
        approval_policy={"requiresApproval": True, "expiresAfterMs": 600_000},
        retry_policy={"maxRetries": 5},
    )
    start = world.schedule(schedule).next_run_at
    world.tick(start)
    (run,) = world.runs(schedule)
    assert run.approval_expires_at == start + timedelta(minutes=10)
    world.set(schedule, is_active=False)
    assert world.db.value("select lenses.fn_reap_runs(%s)", [start + timedelta(minutes=9)]) == 0
    expiry = start + timedelta(minutes=10)
    assert world.db.value("select lenses.fn_reap_runs(%s)", [expiry]) == 1
    row = world.row(run.id)
    assert (row.status, row.completed_at) == ("timed_out", expiry)
    assert world.schedule(schedule).last_completed_at == expiry


@pytest.mark.parametrize(
    "change",
    [
        "context_inputs = '{\"b\": 2}'",
        "global_model_id = 'another'",
        "workflow_version = 2",
    ],
)
def test_a_change_after_the_decision_asks_again(world: World, change: str) -> None:
    run = world.run(policies=NEEDS)
    world.db.execute(
        'update lenses.workflows set definition = \'{"nodes": [{"id": "x"}], "edges": []}\' '
        "where id = %s",
        [world.workflow],
    )
    world.decide(run, note="as it is")
    with acting(world.db, None, "service_role") as conn:
        conn.execute(f"update lenses.workflow_runs set {change} where id = %s", [run])
    row, team_run = world.row(run), world.team_run(run)
    assert row.status == "pending_approval"
    assert (team_run.approval_status, team_run.decided_by, team_run.note) == ("pending", None, None)
    assert world.events(run)[-1] == (3, "run.approval_requested")
    assert world.claimed() == []
    world.decide(run)
    assert world.claimed() == [run]


def test_what_does_not_matter_does_not_ask_again(world: World) -> None:
    run = world.run(policies=NEEDS)
    world.decide(run)
    with acting(world.db, None, "service_role") as conn:
        conn.execute(
            "update lenses.workflow_runs set priority = 5, available_at = now(), "
            "context_inputs = context_inputs, metadata = metadata || '{\"x\": 1}' where id = %s",
            [run],
        )
    assert world.row(run).status == "pending"


def test_a_retry_goes_on_under_the_approval(world: World) -> None:
    run = world.run(policies=NEEDS)
    world.decide(run)
    world.claim()
    assert world.fail(run)
    assert world.claimed() == [run]


def test_cancelling_a_waiting_run_rejects_it(world: World) -> None:
    run = world.run(policies=NEEDS)
    assert world.cancel(run)
    assert world.team_run(run).approval_status == "rejected"
    other = world.run(policies=NEEDS)
    with acting(world.db, None, "service_role") as conn:
        conn.execute("update lenses.workflow_runs set status = 'cancelled' where id = %s", [other])
    assert world.team_run(other).approval_status == "rejected"


def test_the_owner_lowers_his_schedule_but_not_a_run_that_is_there(world: World) -> None:
    schedule = world.make_schedule(approval_policy={"requiresApproval": True})
    run = world.run(schedule)
    assert world.row(run).status == "pending_approval"
    with acting(world.db, world.tenant, "authenticated") as conn:
        conn.execute(
            "select public.fn_patch_workflow_schedule(%s, %s)",
            [schedule, '{"approval_policy": {"requiresApproval": false}}'],
        )
    assert world.claimed() == []
    assert world.row(run).status == "pending_approval"
    free = world.run(schedule)
    assert world.claimed(limit=5) == [free]
