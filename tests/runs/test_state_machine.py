"""The table's own state machine, by plain UPDATE and for every role, and what never changes."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.support.database import as_user
from tests.support.run_scenario import RunScenario
from tests.support.scenario import MONDAY

SLOT = datetime(2026, 1, 1, tzinfo=UTC)
STATUSES = (
    "pending_approval", "pending", "running", "completed", "failed", "cancelled", "timed_out",
)  # fmt: skip
NEXT = {
    "pending_approval": {"pending", "cancelled", "timed_out"},
    "pending": {"pending_approval", "running", "cancelled"},
    "running": {"pending", "completed", "failed", "cancelled", "timed_out"},
}


def put(scenario: RunScenario, status: str) -> Any:
    """A run in that status that needs no approval, by inserting it there."""
    columns = {"status": status}
    if status == "running":
        columns |= {"worker_id": "w", "lease_expires_at": str(MONDAY)}
    return scenario.run(**columns)


@pytest.mark.parametrize(
    ("role", "before"),
    list(itertools.product(("service_role", "postgres", "lf_sql_engine"), STATUSES)),
)
def test_every_transition(scenario: RunScenario, role: str, before: str) -> None:
    for after in STATUSES:
        if after == before or before == "pending_approval":
            continue
        with scenario.db.transaction(force_rollback=True):
            run = put(scenario, before)
            query = (
                "update lenses.workflow_runs set status = %s, worker_id = 'w', "
                "lease_expires_at = now() + interval '1 minute' where id = %s"
            )
            if after in NEXT.get(before, set()):
                with as_user(scenario.db, None, role) as conn:
                    conn.execute(query, [after, run])
                assert scenario.row(run).status == after
                assert scenario.events(run)[-1][0] == scenario.row(run).last_event_seq == 2
            else:
                text = f'cannot go from "{before}" to "{after}"'
                with scenario.refused("22023", text), as_user(scenario.db, None, role) as conn:
                    conn.execute(query, [after, run])
                assert scenario.row(run).status == before


def test_the_hint_names_what_is_allowed(scenario: RunScenario) -> None:
    run = scenario.run()
    with pytest.raises(psycopg.Error) as caught, scenario.db.transaction():
        scenario.db.execute(
            "update lenses.workflow_runs set status = 'failed' where id = %s", [run]
        )
    assert "pending_approval, running, cancelled" in (caught.value.diag.message_hint or "")


def test_an_unknown_status_is_no_transition(scenario: RunScenario) -> None:
    run = scenario.run()
    with scenario.refused("22023", 'to "paused"'):
        scenario.db.execute(
            "update lenses.workflow_runs set status = 'paused' where id = %s", [run]
        )


def test_by_hand_a_transition_fills_what_a_claim_fills(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(schedule)
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute(
            "update lenses.workflow_runs set status = 'running', worker_id = 'me', "
            "lease_expires_at = now() + interval '1 minute' where id = %s",
            [run],
        )
    row = scenario.row(run)
    assert row.attempt == 1
    assert row.started_at is not None
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute("update lenses.workflow_runs set status = 'failed' where id = %s", [run])
    row = scenario.row(run)
    assert row.completed_at is not None
    assert row.lease_expires_at is None
    assert row.metadata["result"]["status"] == "failed"
    assert scenario.schedule(schedule).last_result == row.metadata["result"]


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
    scenario: RunScenario, column: str, value: Any, role: str
) -> None:
    run = scenario.run(scenario.make_schedule(), ai_lenser_id=scenario.make_agent())
    before = scenario.row(run)
    with scenario.refused("22023", f"keeps its {column}"), as_user(scenario.db, None, role) as conn:
        conn.execute(f"update lenses.workflow_runs set {column} = %s where id = %s", [value, run])
    assert scenario.row(run) == before


@pytest.mark.parametrize("change", ["context_inputs = '{\"a\": 1}'", "global_model_id = 'm'"])
def test_a_run_under_way_keeps_its_inputs(scenario: RunScenario, change: str) -> None:
    run = scenario.run()
    scenario.claim()
    with scenario.refused("22023", "its inputs, version and model stay"):
        scenario.db.execute(f"update lenses.workflow_runs set {change} where id = %s", [run])
    waiting = scenario.run()
    scenario.db.execute(f"update lenses.workflow_runs set {change} where id = %s", [waiting])
    assert scenario.row(waiting).status == "pending"


def test_what_is_over_stays(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim()
    scenario.complete(run)
    with scenario.refused("22023", "is over"):
        scenario.db.execute("update lenses.workflow_runs set priority = 5 where id = %s", [run])
    scenario.db.execute("update lenses.workflow_runs set spent_credits = 3 where id = %s", [run])


def test_runs_go_on_without_their_schedule_or_agent(scenario: RunScenario) -> None:
    schedule, agent = scenario.make_schedule(), scenario.make_agent()
    running = scenario.run(schedule, ai_lenser_id=agent, trigger_mode="schedule")
    waiting = scenario.run(schedule, policies={"approval_policy": {"requiresApproval": True}})
    scenario.claim()
    scenario.db.execute("delete from lenses.workflow_schedules where id = %s", [schedule])
    scenario.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    row = scenario.row(running)
    assert (row.schedule_id, row.ai_lenser_id, row.triggered_by) == (None, None, str(schedule))
    assert scenario.complete(running)
    scenario.decide(waiting)
    assert scenario.claimed() == [waiting]


def test_an_inserted_run_takes_what_it_lacks_from_its_schedule(scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    schedule = scenario.make_schedule(
        assignee_id=agent,
        retry_policy={"maxRetries": 4},
        queue_policy={"mode": "parallel", "priority": 3},
        global_model_id="m",
    )
    run = scenario.db.value(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, scheduled_for, trigger_mode) "
        "values (%s, %s, %s, 'schedule') returning id",
        [scenario.workflow, schedule, SLOT],
    )
    row = scenario.row(run)
    assert row.status == "pending"
    assert (row.lenser_id, row.workflow_version) == (scenario.tenant.id, 1)
    assert (row.ai_lenser_id, row.priority, row.global_model_id) == (agent, 3, "m")
    assert row.policies["retry_policy"] == {"maxRetries": 4}
    assert set(row.policies) == {
        "approval_policy", "retry_policy", "failure_policy", "queue_policy", "limits",
    }  # fmt: skip
    assert row.triggered_by == str(schedule)
    assert row.idempotency_key.startswith(row.id.hex)
    assert row.idempotency_key == scenario.db.value(
        "select lenses.fn_slot_key(%s, %s)", [schedule, SLOT]
    )


def test_an_inserted_run_is_judged(scenario: RunScenario) -> None:
    with scenario.refused("23503", "has no version 9"):
        scenario.run(workflow_version=9)
    with scenario.refused("23503", "does not exist"):
        scenario.run(workflow_id=uuid4())
    with scenario.refused("22023", "retry_policy"):
        scenario.run(policies=scenario.policies(retry={"maxRetires": 1}))
    with scenario.refused("22023", "context_inputs"):
        scenario.run(context_inputs={"x": "y" * 1_100_000})


def test_events_are_numbered_within_their_run(scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    run = scenario.run(team_id=scenario.make_team(agent))
    assert scenario.team_run(run).approval_status == "not_required"
    scenario.claim()
    assert scenario.append(run, "node.started", {"node": "a"})
    assert scenario.append(run, "node.failed", {"cause": "rate_limit"})
    scenario.fail(run)
    scenario.claim()
    scenario.append(run, "node.done")
    scenario.complete(run)
    assert scenario.events(run) == list(
        enumerate(
            ["run.created", "run.started", "node.started", "node.failed", "run.retried",
             "run.started", "node.done", "run.completed"],
            start=1,
        )
    )  # fmt: skip
    assert scenario.team_events(run) == [
        "team_run.created", "run.started", "node.started", "node.failed", "run.retried",
        "run.started", "node.done", "run.completed",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "event",
    ["run.completed", "run.x", "approval.approved", "approval_bypass_attempt", "team_run.created",
     "", "Node.done", "node done", ".x", "x" * 201, None],
)  # fmt: skip
def test_an_executor_cannot_write_the_databases_events(scenario: RunScenario, event: str) -> None:
    run = scenario.run()
    scenario.claim()
    with scenario.refused("22023", "p_event_type"):
        scenario.append(run, event)
    with scenario.refused("22023", "p_payload"):
        scenario.append(run, "node.done", {"x": "y" * 70_000})
    assert scenario.events(run)[-1] == (2, "run.started")


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
    scenario: RunScenario, column: str, value: str, says: str, role: str
) -> None:
    scenario.run()
    [run] = scenario.claimed()
    before = scenario.row(run)
    with (
        pytest.raises(psycopg.errors.InvalidParameterValue) as caught,
        scenario.db.transaction(),
        as_user(scenario.db, None, role) as conn,
    ):
        conn.execute(f"update lenses.workflow_runs set {column} = %s where id = %s", [value, run])
    assert says in (caught.value.diag.message_primary or "")
    assert caught.value.diag.message_hint
    assert scenario.row(run) == before
    with scenario.refused("22023", says):
        scenario.run(**{column: value})


@pytest.mark.parametrize("column", ["scheduled_for", "created_at", "approval_expires_at"])
def test_a_run_is_not_made_for_infinity(scenario: RunScenario, column: str) -> None:
    with scenario.refused("22023", f"{column} must be an instant of the years"):
        scenario.run(scenario.make_schedule(), **{column: "infinity"})


@pytest.mark.parametrize("spent", ["NaN", "-1", "-0.0001"])
def test_nobody_spends_what_is_no_amount(scenario: RunScenario, spent: str) -> None:
    run = scenario.run()
    with scenario.refused("23514"):
        scenario.db.execute("update lenses.workflow_runs set spent_credits = %s", [spent])
    with scenario.refused("23514"):
        scenario.run(spent_credits=spent)
    scenario.db.execute("update lenses.workflow_runs set spent_credits = 99999999999999.9999")
    assert str(scenario.row(run).spent_credits) == "99999999999999.9999"
