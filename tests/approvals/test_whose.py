"""Whose a profile is, and what a workflow demands of runs that come past its schedules."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.dispatch.conftest import MONDAY, NO_APPROVAL
from tests.rpc.callers import acting
from tests.runs.world import FREE, World

NEEDS = {"requiresApproval": True}
GATED = {"requiresApproval": False, "gates": ["deploy"]}
DEPLOYS = '{"nodes": [{"id": "a", "action": "deploy"}], "edges": []}'


def as_operator(world: World, statement: str, *values: Any) -> None:
    with acting(world.db, None, "service_role") as conn:
        conn.execute(statement, list(values))


def audit(world: World, profile: UUID) -> list[Any]:
    return world.db.rows(
        "select action_type, payload from agents.action_logs "
        "where payload ->> 'profile_id' = %s order by id",
        [str(profile)],
    )


def user_of(world: World) -> UUID:
    return world.db.value("select user_id from lensers.profiles where id = %s", [world.tenant.id])


@pytest.mark.parametrize("mode", ["origin", "replica"])
def test_an_operator_gives_a_profile_to_nobody_else(mode: str, world: World) -> None:
    """Refused by leaving the row as it is: an error would erase the record of the attempt."""
    mine, run = uuid.uuid4(), world.run(policies={"approval_policy": NEEDS})
    world.db.execute("select set_config('session_replication_role', %s, true)", [mode])
    as_operator(
        world,
        "update lensers.profiles set user_id = %s, handle = 'other' where id = %s",
        mine,
        world.tenant.id,
    )
    assert user_of(world) == world.tenant.user_id
    with pytest.raises(psycopg.errors.InsufficientPrivilege), world.db.transaction():
        with acting(world.db, str(mine), "authenticated") as conn:
            conn.execute("select public.fn_decide_workflow_run(%s, 'approved')", [run])
    assert world.row(run).status == "pending_approval"
    (row,) = audit(world, world.tenant.id)
    assert row.action_type == "profile_user_change_refused"
    assert row.payload["new_user_id"] == str(mine)
    assert row.payload["old_user_id"] == str(world.tenant.user_id)
    assert row.payload["role"] == "service_role"
    handle = "select handle from lensers.profiles where id = %s"
    assert world.db.value(handle, [world.tenant.id]) == "other"


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
def test_by_no_other_door(door: str, world: World) -> None:
    values = {"id": world.tenant.id, "user": uuid.uuid4()}
    with acting(world.db, None, "service_role") as conn:
        conn.execute(door, values)
    assert user_of(world) == world.tenant.user_id
    assert [row.action_type for row in audit(world, world.tenant.id)] == [
        "profile_user_change_refused"
    ]


def test_the_owner_s_role_changes_it_on_record(world: World) -> None:
    mine = uuid.uuid4()
    change = "update lensers.profiles set user_id = %s where id = %s"
    world.db.execute(change, [mine, world.tenant.id])
    world.db.execute(change, [world.tenant.user_id, world.tenant.id])
    assert [
        (row.action_type, row.payload["old_user_id"], row.payload["new_user_id"])
        for row in audit(world, world.tenant.id)
    ] == [
        ("profile_user_changed", str(world.tenant.user_id), str(mine)),
        ("profile_user_changed", str(mine), str(world.tenant.user_id)),
    ]


def test_gone_and_made_anew_is_on_record(world: World) -> None:
    """With the links switched off, as a restore has them."""
    world.db.execute("select set_config('session_replication_role', 'replica', true)")
    world.db.execute("delete from lensers.profiles where id = %s", [world.tenant.id])
    (row,) = audit(world, world.tenant.id)
    assert row.action_type == "profile_deleted"
    assert row.payload["old_user_id"] == str(world.tenant.user_id)
    world.db.execute(
        "insert into lensers.profiles (id, user_id, handle) values (%s, %s, 'x')",
        [world.tenant.id, world.tenant.user_id],
    )


def test_a_decision_says_who_and_by_which_session(world: World) -> None:
    run = world.run(policies={"approval_policy": NEEDS})
    world.decide(run)
    payload = world.db.value(
        "select payload from agents.action_logs where action_type = 'run_approved' "
        "and payload ->> 'run_id' = %s",
        [str(run)],
    )
    assert payload["decided_by"] == str(world.tenant.id)
    assert payload["user_id"] == str(world.tenant.user_id)
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
def test_what_has_an_owner_is_handed_to_nobody_else(table: str, world: World) -> None:
    agent = world.make_agent()
    world.db.execute(
        "insert into agents.workflow_assignments (workflow_id, assignee_type, assignee_id) "
        "values (%s, 'agent', %s)",
        [world.workflow, agent],
    )
    world.make_calendar("skip_dates", "2030-01-01")
    world.make_team()
    world.run(world.make_schedule(), policies={"approval_policy": NEEDS})
    other = world.db.value(
        "insert into lensers.profiles (user_id, handle) values (gen_random_uuid(), 'x') returning id"
    )
    refusals = (
        psycopg.errors.InvalidParameterValue,
        psycopg.errors.ForeignKeyViolation,
        psycopg.errors.InsufficientPrivilege,
    )
    with suppress(*refusals), world.db.transaction():
        as_operator(
            world, f"update {table} set lenser_id = %s where lenser_id = %s", other, world.tenant.id
        )
    assert world.db.value(f"select count(*)::int from {table} where lenser_id = %s", [other]) == 0


def assign(world: World, policy: dict[str, Any], workflow: UUID | None = None) -> UUID:
    return world._insert(
        "agents.workflow_assignments",
        {"workflow_id": workflow or world.workflow, "assignee_type": "agent",
         "assignee_id": world.make_agent(), "approval_policy": policy},
    )  # fmt: skip


DEMANDS = {
    "schedule": lambda world, policy: world.make_schedule(approval_policy=policy),
    "paused schedule": lambda world, policy: world.make_schedule(
        approval_policy=policy, is_active=False
    ),
    "assignment": assign,
}


@pytest.mark.parametrize("policy", [NEEDS, GATED], ids=["required", "gated"])
@pytest.mark.parametrize("demand", DEMANDS)
def test_a_run_without_a_schedule_answers_to_its_workflow_s(
    demand: str, policy: dict[str, Any], world: World
) -> None:
    world.workflow = world.make_workflow(definition=DEPLOYS)
    assert world.row(world.run()).status == "pending"
    DEMANDS[demand](world, policy)
    with acting(world.db, None, "service_role") as conn:
        (run,) = conn.execute(
            "insert into lenses.workflow_runs (workflow_id, policies, status) "
            "values (%s, %s, 'pending') returning id",
            [world.workflow, psycopg.types.json.Jsonb(FREE)],
        ).fetchone()
    assert world.row(run).status == "pending_approval"


@pytest.mark.parametrize("policy", [NEEDS, GATED], ids=["required", "gated"])
def test_what_an_assignment_demands_holds_for_its_schedule(
    policy: dict[str, Any], world: World
) -> None:
    world.workflow = world.make_workflow(definition=DEPLOYS)
    schedule = world.make_schedule(workflow_assignment_id=assign(world, policy))
    free = world.make_schedule(workflow_assignment_id=assign(world, NO_APPROVAL))
    world.tick(MONDAY)
    assert [run.status for run in world.runs(schedule)] == ["pending_approval"]
    assert [run.status for run in world.runs(free)] == ["pending"]
    with acting(world.db, world.tenant, "authenticated") as conn:
        now = conn.execute("select status from public.fn_run_workflow_schedule_now(%s)", [schedule])
        assert now.fetchone() == ("pending_approval",)


def test_an_assignment_led_elsewhere_frees_nobody(world: World) -> None:
    """Neither the runs of the schedule that goes by it, nor those of the workflow that it left."""
    elsewhere = world.make_workflow(title="elsewhere")
    assignment = assign(world, NEEDS)
    schedule = world.make_schedule(workflow_assignment_id=assignment)
    move = "update agents.workflow_assignments set workflow_id = %s where id = %s"
    with world.refused("42501", "not lowered"):
        as_operator(world, move, elsewhere, assignment)
    world.db.execute(move, [elsewhere, assignment])
    world.tick(MONDAY)
    assert [run.status for run in world.runs(schedule)] == ["pending_approval"]

    freed = world.make_schedule(workflow_assignment_id=assign(world, NO_APPROVAL))
    world.make_schedule(approval_policy=NEEDS)
    world.tick(MONDAY)
    world.db.execute(
        "update agents.workflow_assignments set workflow_id = %s where id = "
        "(select workflow_assignment_id from lenses.workflow_schedules where id = %s)",
        [elsewhere, freed],
    )
    assert world.row(world.run(freed)).status == "pending_approval"
    world.tick(MONDAY.replace(minute=5))
    assert [run.status for run in world.runs(freed) if run.scheduled_for] == [
        "pending",
        "pending_approval",
    ]


def test_an_operator_makes_no_schedule_that_demands_less(world: World) -> None:
    insert = (
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, approval_policy) "
        "values (%s, '0 9 * * *', %s)"
    )
    free = psycopg.types.json.Jsonb(NO_APPROVAL)
    as_operator(world, insert, world.workflow, free)
    world.make_schedule(approval_policy=NEEDS)
    with world.refused("42501", "only its owner"):
        as_operator(world, insert, world.workflow, free)
    as_operator(world, insert, world.workflow, psycopg.types.json.Jsonb(NEEDS))

    elsewhere = world.make_workflow(title="elsewhere")
    moved = world.make_schedule(workflow_id=elsewhere)
    with world.refused("42501", "only its owner"):
        as_operator(
            world,
            "update lenses.workflow_schedules set workflow_id = %s where id = %s",
            world.workflow,
            moved,
        )
