"""Whose a profile is, and what a workflow demands of runs that come past its schedules."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.database import as_user
from tests.support.run_scenario import FREE, RunScenario
from tests.support.scenario import MONDAY, NO_APPROVAL
from tests.support.work import unguarded

NEEDS = {"requiresApproval": True}
GATED = {"requiresApproval": False, "gates": ["deploy"]}
DEPLOYS = '{"nodes": [{"id": "a", "action": "deploy"}], "edges": []}'


def as_operator(scenario: RunScenario, statement: str, *values: Any) -> None:
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute(statement, list(values))


def audit(scenario: RunScenario, profile: UUID) -> list[Any]:
    return scenario.db.rows(
        "select action_type, payload from agents.action_logs "
        "where payload ->> 'profile_id' = %s order by id",
        [str(profile)],
    )


def user_of(scenario: RunScenario) -> UUID:
    return scenario.db.value(
        "select user_id from lensers.profiles where id = %s", [scenario.tenant.id]
    )


@pytest.mark.parametrize("mode", ["origin", "replica"])
def test_an_operator_gives_a_profile_to_nobody_else(mode: str, scenario: RunScenario) -> None:
    """Refused by leaving the row as it is: an error would erase the record of the attempt."""
    mine, run = uuid.uuid4(), scenario.run(policies={"approval_policy": NEEDS})
    scenario.db.execute("select set_config('session_replication_role', %s, true)", [mode])
    as_operator(
        scenario,
        "update lensers.profiles set user_id = %s, handle = 'other' where id = %s",
        mine,
        scenario.tenant.id,
    )
    assert user_of(scenario) == scenario.tenant.user_id
    with pytest.raises(psycopg.errors.InsufficientPrivilege), scenario.db.transaction():
        with as_user(scenario.db, str(mine), "authenticated") as conn:
            conn.execute("select public.fn_decide_workflow_run(%s, 'approved')", [run])
    assert scenario.row(run).status == "pending_approval"
    (row,) = audit(scenario, scenario.tenant.id)
    assert row.action_type == "profile_user_change_refused"
    assert row.payload["new_user_id"] == str(mine)
    assert row.payload["old_user_id"] == str(scenario.tenant.user_id)
    assert row.payload["role"] == "service_role"
    handle = "select handle from lensers.profiles where id = %s"
    assert scenario.db.value(handle, [scenario.tenant.id]) == "other"


@pytest.mark.parametrize(
    "door",
    [
        "insert into lensers.profiles (id, user_id, handle) values (%(id)s, %(user)s, 'x') "
        "on conflict (id) do update set user_id = excluded.user_id",
        "merge into lensers.profiles as p using (select %(id)s::uuid as id) as n on p.id = n.id "
        "when matched then update set user_id = %(user)s",
        "update lensers.profiles set user_id = %(user)s, id = gen_random_uuid() where id = %(id)s",
    ],
)
def test_by_no_other_door(door: str, scenario: RunScenario) -> None:
    values = {"id": scenario.tenant.id, "user": uuid.uuid4()}
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute(door, values)
    assert user_of(scenario) == scenario.tenant.user_id
    assert [row.action_type for row in audit(scenario, scenario.tenant.id)] == [
        "profile_user_change_refused"
    ]


def test_the_owner_s_role_changes_it_on_record(scenario: RunScenario) -> None:
    mine = uuid.uuid4()
    change = "update lensers.profiles set user_id = %s where id = %s"
    scenario.db.execute(change, [mine, scenario.tenant.id])
    scenario.db.execute(change, [scenario.tenant.user_id, scenario.tenant.id])
    assert [
        (row.action_type, row.payload["old_user_id"], row.payload["new_user_id"])
        for row in audit(scenario, scenario.tenant.id)
    ] == [
        ("profile_user_changed", str(scenario.tenant.user_id), str(mine)),
        ("profile_user_changed", str(mine), str(scenario.tenant.user_id)),
    ]


def test_gone_and_made_anew_is_on_record(scenario: RunScenario) -> None:
    """With the links switched off, as a restore has them."""
    scenario.db.execute("select set_config('session_replication_role', 'replica', true)")
    scenario.db.execute("delete from lensers.profiles where id = %s", [scenario.tenant.id])
    (row,) = audit(scenario, scenario.tenant.id)
    assert row.action_type == "profile_deleted"
    assert row.payload["old_user_id"] == str(scenario.tenant.user_id)
    scenario.db.execute(
        "insert into lensers.profiles (id, user_id, handle) values (%s, %s, 'x')",
        [scenario.tenant.id, scenario.tenant.user_id],
    )


def test_a_decision_says_who_and_by_which_session(scenario: RunScenario) -> None:
    run = scenario.run(policies={"approval_policy": NEEDS})
    scenario.decide(run)
    payload = scenario.db.value(
        "select payload from agents.action_logs where action_type = 'run_approved' "
        "and payload ->> 'run_id' = %s",
        [str(run)],
    )
    assert payload["decided_by"] == str(scenario.tenant.id)
    assert payload["user_id"] == str(scenario.tenant.user_id)
    assert (payload["role"], payload["session_user"]) == ("authenticated", "postgres")


TENANTS_TABLES = [
    "lenses.workflows",
    "lenses.workflow_schedules",
    "lenses.workflow_runs",
    "lenses.schedule_calendars",
    "agents.team_runs",
    "agents.workflow_assignments",
    "agents.teams",
    "agents.ai_lensers",
]


@pytest.mark.parametrize("table", TENANTS_TABLES)
def test_what_has_an_owner_is_handed_to_nobody_else(table: str, scenario: RunScenario) -> None:
    agent = scenario.make_agent()
    scenario.db.execute(
        "insert into agents.workflow_assignments (workflow_id, assignee_type, assignee_id) "
        "values (%s, 'agent', %s)",
        [scenario.workflow, agent],
    )
    scenario.make_calendar("skip_dates", "2030-01-01")
    scenario.make_team()
    scenario.run(scenario.make_schedule(), policies={"approval_policy": NEEDS})
    other = scenario.db.value(
        "insert into lensers.profiles (user_id, handle) values (gen_random_uuid(), 'x') returning id"
    )
    refusals = (
        psycopg.errors.InvalidParameterValue,
        psycopg.errors.ForeignKeyViolation,
        psycopg.errors.InsufficientPrivilege,
    )
    with suppress(*refusals), scenario.db.transaction():
        as_operator(
            scenario,
            f"update {table} set lenser_id = %s where lenser_id = %s",
            other,
            scenario.tenant.id,
        )
    assert (
        scenario.db.value(f"select count(*)::int from {table} where lenser_id = %s", [other]) == 0
    )


def assign(scenario: RunScenario, policy: dict[str, Any], workflow: UUID | None = None) -> UUID:
    return scenario._insert(
        "agents.workflow_assignments",
        {"workflow_id": workflow or scenario.workflow, "assignee_type": "agent",
         "assignee_id": scenario.make_agent(), "approval_policy": policy},
    )  # fmt: skip


DEMANDS = {
    "schedule": lambda scenario, policy: scenario.make_schedule(approval_policy=policy),
    "paused schedule": lambda scenario, policy: scenario.make_schedule(
        approval_policy=policy, is_active=False
    ),
    "assignment": assign,
}


@pytest.mark.parametrize("policy", [NEEDS, GATED], ids=["required", "gated"])
@pytest.mark.parametrize("demand", DEMANDS)
def test_a_run_without_a_schedule_answers_to_its_workflow_s(
    demand: str, policy: dict[str, Any], scenario: RunScenario
) -> None:
    scenario.workflow = scenario.make_workflow(definition=DEPLOYS)
    assert scenario.row(scenario.run()).status == "pending"
    DEMANDS[demand](scenario, policy)
    with as_user(scenario.db, None, "service_role") as conn:
        (run,) = conn.execute(
            "insert into lenses.workflow_runs (workflow_id, policies, status) "
            "values (%s, %s, 'pending') returning id",
            [scenario.workflow, psycopg.types.json.Jsonb(FREE)],
        ).fetchone()
    assert scenario.row(run).status == "pending_approval"


@pytest.mark.parametrize("policy", [NEEDS, GATED], ids=["required", "gated"])
def test_what_an_assignment_demands_holds_for_its_schedule(
    policy: dict[str, Any], scenario: RunScenario
) -> None:
    scenario.workflow = scenario.make_workflow(definition=DEPLOYS)
    schedule = scenario.make_schedule(workflow_assignment_id=assign(scenario, policy))
    free = scenario.make_schedule(workflow_assignment_id=assign(scenario, NO_APPROVAL))
    scenario.tick(MONDAY)
    assert [run.status for run in scenario.runs(schedule)] == ["pending_approval"]
    assert [run.status for run in scenario.runs(free)] == ["pending"]
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        now = conn.execute("select status from public.fn_run_workflow_schedule_now(%s)", [schedule])
        assert now.fetchone() == ("pending_approval",)


def test_an_assignment_led_elsewhere_frees_nobody(scenario: RunScenario) -> None:
    """Neither the runs of the schedule that goes by it, nor those of the workflow that it left."""
    elsewhere = scenario.make_workflow(title="elsewhere")
    assignment = assign(scenario, NEEDS)
    schedule = scenario.make_schedule(workflow_assignment_id=assignment)
    move = "update agents.workflow_assignments set workflow_id = %s where id = %s"
    with scenario.refused("22023", "schedules use it"):
        as_operator(scenario, move, elsewhere, assignment)
    with unguarded(scenario.db, "agents.workflow_assignments"):  # 0.2.0 let it go
        scenario.db.execute(move, [elsewhere, assignment])
    scenario.tick(MONDAY)
    assert [run.status for run in scenario.runs(schedule)] == ["pending_approval"]

    freed = scenario.make_schedule(workflow_assignment_id=assign(scenario, NO_APPROVAL))
    scenario.make_schedule(approval_policy=NEEDS)
    scenario.tick(MONDAY)
    with unguarded(scenario.db, "agents.workflow_assignments"):
        scenario.db.execute(move, [elsewhere, scenario.schedule(freed).workflow_assignment_id])
    assert scenario.row(scenario.run(freed)).status == "pending_approval"
    scenario.tick(MONDAY.replace(minute=5))
    assert [run.status for run in scenario.runs(freed) if run.scheduled_for] == [
        "pending",
        "pending_approval",
    ]


def test_an_operator_makes_no_schedule_that_demands_less(scenario: RunScenario) -> None:
    insert = (
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, approval_policy) "
        "values (%s, '0 9 * * *', %s)"
    )
    free = psycopg.types.json.Jsonb(NO_APPROVAL)
    as_operator(scenario, insert, scenario.workflow, free)
    scenario.make_schedule(approval_policy=NEEDS)
    with scenario.refused("42501", "only its owner"):
        as_operator(scenario, insert, scenario.workflow, free)
    as_operator(scenario, insert, scenario.workflow, psycopg.types.json.Jsonb(NEEDS))

    elsewhere = scenario.make_workflow(title="elsewhere")
    moved = scenario.make_schedule(workflow_id=elsewhere)
    with scenario.refused("42501", "only its owner"):
        as_operator(
            scenario,
            "update lenses.workflow_schedules set workflow_id = %s where id = %s",
            scenario.workflow,
            moved,
        )
