"""Run-now and the history."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.support.callers import ACYCLIC, CYCLIC
from tests.support.database import as_user, make_tenant
from tests.support.run_scenario import RunScenario, said
from tests.support.scenario import MONDAY, at


def run_now(scenario: RunScenario, schedule: UUID, inputs: str | None = None) -> Any:
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        return conn.row(
            "select * from public.fn_run_workflow_schedule_now(%s, %s)", [schedule, inputs]
        )


def test_starts_at_once_without_a_slot(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(inputs_template={"a": 1})
    before = scenario.schedule(schedule)
    row = run_now(scenario, schedule)
    assert row == scenario.row(row.id)
    assert (row.status, row.trigger_mode, row.scheduled_for) == ("pending", "manual", None)
    assert row.triggered_by == str(scenario.tenant.id)
    assert row.context_inputs == {"a": 1}
    assert row.idempotency_key == f"manual:{row.id}"
    assert scenario.schedule(schedule) == before
    assert scenario.actions(schedule) == ["run_schedule_now"]
    assert scenario.claimed() == [row.id]


def test_twice_is_two_runs_and_inputs_may_be_given(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    rows = [run_now(scenario, schedule, '{"b": 2}'), run_now(scenario, schedule, '{"b": 3}')]
    assert [row.context_inputs for row in rows] == [{"b": 2}, {"b": 3}]


def test_paused_or_not(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    scenario.set(schedule, is_active=False, paused_at=MONDAY)
    assert run_now(scenario, schedule).status == "pending"


def test_rotation_moves_on_unless_inputs_are_given(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(inputs_rotation="[1, 2, 3]")
    assert run_now(scenario, schedule).context_inputs == 1
    assert run_now(scenario, schedule, '"mine"').context_inputs == "mine"
    assert scenario.tick(MONDAY) == 1
    assert [run.context_inputs for run in scenario.runs(schedule)] == [2, 1, "mine"]


def test_counts_for_the_overlap_and_never_takes_a_slot(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule("* * * * *", queue_policy={"mode": "serial"})
    run_now(scenario, schedule)
    scenario.claim()
    assert scenario.tick(at(0)) == 0
    assert scenario.skips(schedule) == [("overlap_in_flight", at(0))]


@pytest.mark.parametrize("guard", ["workflow_not_active", "assignee_missing", "budget_exceeded",
                                   "cycle_detected"])  # fmt: skip
def test_what_would_skip_every_slot_refuses_it(scenario: RunScenario, guard: str) -> None:
    agent = scenario.make_agent()
    workflow = scenario.make_workflow(definition=ACYCLIC)
    schedule = scenario.make_schedule(workflow_id=workflow, assignee_id=agent)
    if guard == "workflow_not_active":
        scenario.db.execute(
            "update lenses.workflows set status = 'paused' where id = %s", [workflow]
        )
    elif guard == "assignee_missing":
        scenario.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    elif guard == "budget_exceeded":
        scenario.db.execute(
            "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
            "values (%s, %s, 0)",
            [agent, scenario.tenant.id],
        )
    else:
        scenario.set(schedule, is_active=False)
        scenario.db.execute(
            "update lenses.workflows set definition = %s where id = %s",
            [psycopg.types.json.Jsonb(CYCLIC), workflow],
        )
    with scenario.refused("22023", guard):
        run_now(scenario, schedule)
    assert scenario.runs(schedule) == []


def test_calendar_condition_and_overlap_do_not(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(
        calendar_id=scenario.make_calendar("only_dates", "2020-01-01"),
        pre_dispatch_condition={"/last_24h_stats/total": {"gt": 5}},
        queue_policy={"mode": "serial"},
    )
    assert {run_now(scenario, schedule).status for _ in range(2)} == {"pending"}


def test_strangers(scenario: RunScenario) -> None:
    schedule, stranger = scenario.make_schedule(), make_tenant(scenario.db)
    for function, rest in (
        ("fn_run_workflow_schedule_now", ""),
        ("fn_backfill_schedule", ", now()"),
        ("fn_get_schedule_run_history", ""),
    ):
        texts = set()
        for wanted in (schedule, uuid4()):
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
                as_user(scenario.db, stranger, "authenticated") as conn,
            ):
                conn.execute(f"select * from public.{function}(%s{rest})", [wanted])
            texts.add(said(caught.value))
        assert len(texts) == 1
    for internal in ("fn_run_schedule(%s, null)", "fn_backfill(%s, now(), now(), true)"):
        with scenario.refused("42501"), as_user(scenario.db, stranger, "lf_sql_owner") as conn:
            conn.execute(f"select lenses.{internal}", [schedule])
    assert scenario.runs(schedule) == []


def test_history_is_newest_first_and_says_how_each_ended(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    other = scenario.run(scenario.make_schedule())
    old = scenario.run(schedule, created_at="2026-01-01Z", scheduled_for="2026-01-01Z")
    new = scenario.run(schedule, created_at="2026-01-02Z", policies={
        "approval_policy": {"requiresApproval": True}})  # fmt: skip
    scenario.claim(limit=5)
    scenario.complete(old, result={"x": 1}, spent=2)
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        rows = conn.rows("select * from public.fn_get_schedule_run_history(%s)", [schedule])
        (first,) = conn.rows("select * from public.fn_get_schedule_run_history(%s, 1)", [schedule])
        assert (
            conn.rows("select * from public.fn_get_schedule_run_history(%s, 0)", [schedule]) == []
        )
    assert [row.run_id for row in rows] == [new, old]
    assert other not in [row.run_id for row in rows]
    assert first == rows[0]
    assert rows[0]._fields == (
        "run_id", "scheduled_for", "trigger_mode", "status", "attempt", "spent_credits",
        "approval_status", "started_at", "completed_at", "result",
    )  # fmt: skip
    assert (rows[0].status, rows[0].approval_status) == ("pending_approval", "pending")
    assert (rows[1].status, rows[1].result, rows[1].attempt) == ("completed", {"x": 1}, 1)
    assert (rows[1].approval_status, rows[1].spent_credits) == ("not_required", 2)
    with scenario.refused("22023"), as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        conn.execute("select * from public.fn_get_schedule_run_history(%s, -1)", [schedule])
