"""The table's own state machine, by plain UPDATE and for every role, and what never changes."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.dispatch.conftest import MONDAY
from tests.rpc.callers import acting
from tests.runs.world import World

SLOT = datetime(2026, 1, 1, tzinfo=UTC)
STATUSES = (
    "pending_approval", "pending", "running", "completed", "failed", "cancelled", "timed_out",
)  # fmt: skip
NEXT = {
    "pending_approval": {"pending", "cancelled", "timed_out"},
    "pending": {"pending_approval", "running", "cancelled"},
    "running": {"pending", "completed", "failed", "cancelled", "timed_out"},
}


def put(world: World, status: str) -> Any:
    """A run in that status that needs no approval, by inserting it there."""
    columns = {"status": status}
    if status == "running":
        columns |= {"worker_id": "w", "lease_expires_at": str(MONDAY)}
    return world.run(**columns)


@pytest.mark.parametrize(
    ("role", "before"),
    list(itertools.product(("service_role", "postgres", "lf_sql_engine"), STATUSES)),
)
def test_every_transition(world: World, role: str, before: str) -> None:
    for after in STATUSES:
        if after == before or before == "pending_approval":
            continue
        with world.db.transaction(force_rollback=True):
            run = put(world, before)
            query = (
                "update lenses.workflow_runs set status = %s, worker_id = 'w', "
                "lease_expires_at = now() + interval '1 minute' where id = %s"
            )
            if after in NEXT.get(before, set()):
                with acting(world.db, None, role) as conn:
                    conn.execute(query, [after, run])
                assert world.row(run).status == after
                assert world.events(run)[-1][0] == world.row(run).last_event_seq == 2
            else:
                text = f'cannot go from "{before}" to "{after}"'
                with world.refused("22023", text), acting(world.db, None, role) as conn:
                    conn.execute(query, [after, run])
                assert world.row(run).status == before


def test_the_hint_names_what_is_allowed(world: World) -> None:
    run = world.run()
    with pytest.raises(psycopg.Error) as caught, world.db.transaction():
        world.db.execute("update lenses.workflow_runs set status = 'failed' where id = %s", [run])
    assert "pending_approval, running, cancelled" in (caught.value.diag.message_hint or "")


def test_an_unknown_status_is_no_transition(world: World) -> None:
    run = world.run()
    with world.refused("22023", 'to "paused"'):
        world.db.execute("update lenses.workflow_runs set status = 'paused' where id = %s", [run])


def test_by_hand_a_transition_fills_what_a_claim_fills(world: World) -> None:
    schedule = world.make_schedule()
    run = world.run(schedule)
    with acting(world.db, None, "service_role") as conn:
        conn.execute(
            "update lenses.workflow_runs set status = 'running', worker_id = 'me', "
            "lease_expires_at = now() + interval '1 minute' where id = %s",
            [run],
        )
    row = world.row(run)
    assert row.attempt == 1
    assert row.started_at is not None
    with acting(world.db, None, "service_role") as conn:
        conn.execute("update lenses.workflow_runs set status = 'failed' where id = %s", [run])
    row = world.row(run)
    assert row.completed_at is not None
    assert row.lease_expires_at is None
    assert row.metadata["result"]["status"] == "failed"
    assert world.schedule(schedule).last_result == row.metadata["result"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", uuid4()),
        ("scheduled_for", MONDAY),
        ("idempotency_key", "other"),
        ("trigger_mode", "backfill"),
        ("triggered_by", "somebody"),
        ("policies", '{"retry_policy": {"maxRetries": 99}}'),
        ("needs_approval", True),
        ("approval_expires_at", MONDAY),
        ("created_at", MONDAY),
        ("last_event_seq", 7),
        ("schedule_id", None),
        ("ai_lenser_id", None),
    ],
)
@pytest.mark.parametrize("role", ["service_role", "postgres"])
def test_what_a_run_was_dispatched_with_stays(
    world: World, column: str, value: Any, role: str
) -> None:
    run = world.run(world.make_schedule(), ai_lenser_id=world.make_agent())
    before = world.row(run)
    with world.refused("22023", f"keeps its {column}"), acting(world.db, None, role) as conn:
        conn.execute(f"update lenses.workflow_runs set {column} = %s where id = %s", [value, run])
    assert world.row(run) == before


@pytest.mark.parametrize("change", ["context_inputs = '{\"a\": 1}'", "global_model_id = 'm'"])
def test_a_run_under_way_keeps_its_inputs(world: World, change: str) -> None:
    run = world.run()
    world.claim()
    with world.refused("22023", "its inputs, version and model stay"):
        world.db.execute(f"update lenses.workflow_runs set {change} where id = %s", [run])
    waiting = world.run()
    world.db.execute(f"update lenses.workflow_runs set {change} where id = %s", [waiting])
    assert world.row(waiting).status == "pending"


def test_what_is_over_stays(world: World) -> None:
    run = world.run()
    world.claim()
    world.complete(run)
    with world.refused("22023", "is over"):
        world.db.execute("update lenses.workflow_runs set priority = 5 where id = %s", [run])
    world.db.execute("update lenses.workflow_runs set spent_credits = 3 where id = %s", [run])


def test_runs_go_on_without_their_schedule_or_agent(world: World) -> None:
    schedule, agent = world.make_schedule(), world.make_agent()
    running = world.run(schedule, ai_lenser_id=agent, trigger_mode="schedule")
    waiting = world.run(schedule, policies={"approval_policy": {"requiresApproval": True}})
    world.claim()
    world.db.execute("delete from lenses.workflow_schedules where id = %s", [schedule])
    world.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    row = world.row(running)
    assert (row.schedule_id, row.ai_lenser_id, row.triggered_by) == (None, None, str(schedule))
    assert world.complete(running)
    world.decide(waiting)
    assert world.claimed() == [waiting]


def test_an_inserted_run_takes_what_it_lacks_from_its_schedule(world: World) -> None:
    agent = world.make_agent()
    schedule = world.make_schedule(
        assignee_id=agent,
        retry_policy={"maxRetries": 4},
        queue_policy={"mode": "parallel", "priority": 3},
        global_model_id="m",
    )
    run = world.db.value(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, scheduled_for, trigger_mode) "
        "values (%s, %s, %s, 'schedule') returning id",
        [world.workflow, schedule, SLOT],
    )
    row = world.row(run)
    assert row.status == "pending"
    assert (row.lenser_id, row.workflow_version) == (world.tenant.id, 1)
    assert (row.ai_lenser_id, row.priority, row.global_model_id) == (agent, 3, "m")
    assert row.policies["retry_policy"] == {"maxRetries": 4}
    assert set(row.policies) == {
        "approval_policy", "retry_policy", "failure_policy", "queue_policy", "limits",
    }  # fmt: skip
    assert row.triggered_by == str(schedule)
    assert row.idempotency_key.startswith(row.id.hex)
    assert row.idempotency_key == world.db.value(
        "select lenses.fn_slot_key(%s, %s)", [schedule, SLOT]
    )


def test_an_inserted_run_is_judged(world: World) -> None:
    with world.refused("23503", "has no version 9"):
        world.run(workflow_version=9)
    with world.refused("23503", "does not exist"):
        world.run(workflow_id=uuid4())
    with world.refused("22023", "retry_policy"):
        world.run(policies=world.policies(retry={"maxRetires": 1}))
    with world.refused("22023", "context_inputs"):
        world.run(context_inputs={"x": "y" * 1_100_000})


def test_events_are_numbered_within_their_run(world: World) -> None:
    agent = world.make_agent()
    run = world.run(team_id=world.make_team(agent))
    assert world.team_run(run).approval_status == "not_required"
    world.claim()
    assert world.append(run, "node.started", {"node": "a"})
    assert world.append(run, "node.failed", {"cause": "rate_limit"})
    world.fail(run)
    world.claim()
    world.append(run, "node.done")
    world.complete(run)
    assert world.events(run) == list(
        enumerate(
            ["run.created", "run.started", "node.started", "node.failed", "run.retried",
             "run.started", "node.done", "run.completed"],
            start=1,
        )
    )  # fmt: skip
    assert world.team_events(run) == [
        "team_run.created", "run.started", "node.started", "node.failed", "run.retried",
        "run.started", "node.done", "run.completed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "event",
    ["run.completed", "run.x", "approval.approved", "approval_bypass_attempt", "team_run.created",
     "", "Node.done", "node done", ".x", "x" * 201, None],
)  # fmt: skip
def test_an_executor_cannot_write_the_databases_events(world: World, event: str) -> None:
    run = world.run()
    world.claim()
    with world.refused("22023", "p_event_type"):
        world.append(run, event)
    with world.refused("22023", "p_payload"):
        world.append(run, "node.done", {"x": "y" * 70_000})
    assert world.events(run)[-1] == (2, "run.started")


ODD = [
    ("metadata", "[]", "metadata must be an object, not []"),
    ("metadata", '"text"', "metadata must be an object"),
    ("metadata", "null", "metadata must be an object, not null"),
    *(
        (column, value, f'{column} must be an instant of the years 1970 to 9999, not "{value}"')
        for column in ("available_at", "lease_expires_at", "started_at", "completed_at")
        for value in ("infinity", "-infinity")
    ),
]


@pytest.mark.parametrize(("column", "value", "says"), ODD)
@pytest.mark.parametrize("role", ["service_role", "postgres"])
def test_no_run_takes_what_it_cannot_live_with(
    world: World, column: str, value: str, says: str, role: str
) -> None:
    world.run()
    [run] = world.claimed()
    before = world.row(run)
    with (
        pytest.raises(psycopg.errors.InvalidParameterValue) as caught,
        world.db.transaction(),
        acting(world.db, None, role) as conn,
    ):
        conn.execute(f"update lenses.workflow_runs set {column} = %s where id = %s", [value, run])
    assert says in (caught.value.diag.message_primary or "")
    assert caught.value.diag.message_hint
    assert world.row(run) == before
    with world.refused("22023", says):
        world.run(**{column: value})


@pytest.mark.parametrize("column", ["scheduled_for", "created_at", "approval_expires_at"])
def test_a_run_is_not_made_for_infinity(world: World, column: str) -> None:
    with world.refused("22023", f"{column} must be an instant of the years"):
        world.run(world.make_schedule(), **{column: "infinity"})


@pytest.mark.parametrize("spent", ["NaN", "-1", "-0.0001"])
def test_nobody_spends_what_is_no_amount(world: World, spent: str) -> None:
    run = world.run()
    with world.refused("23514"):
        world.db.execute("update lenses.workflow_runs set spent_credits = %s", [spent])
    with world.refused("23514"):
        world.run(spent_credits=spent)
    world.db.execute("update lenses.workflow_runs set spent_credits = 99999999999999.9999")
    assert str(world.row(run).spent_credits) == "99999999999999.9999"
