"""What a workflow demands of its runs goes by no detour: not by moving or deleting what demands it."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

from tests.approvals.test_whose import DEMANDS, GATED, NEEDS, as_operator
from tests.rpc.callers import acting
from tests.runs.world import FREE, World


@pytest.mark.parametrize("policy", [NEEDS, GATED], ids=["required", "gated"])
def test_a_schedule_that_demands_stays_with_its_workflow(policy: dict, world: World) -> None:
    """Moved away, it would free the runs that go past the schedules; moved back, nobody would see."""
    schedule, elsewhere = (
        world.make_schedule(approval_policy=policy),
        world.make_workflow(title="x"),
    )
    move = "update lenses.workflow_schedules set workflow_id = %s where id = %s"
    with world.refused("42501", "only its owner"):
        as_operator(world, move, elsewhere, schedule)
    world.db.execute(move, [elsewhere, schedule])


def test_a_schedule_that_demands_nothing_may_be_moved(world: World) -> None:
    schedule, elsewhere = world.make_schedule(), world.make_workflow(title="x")
    move = "update lenses.workflow_schedules set workflow_id = %s where id = %s"
    as_operator(world, move, elsewhere, schedule)
    where = "select workflow_id from lenses.workflow_schedules where id = %s"
    assert world.db.value(where, [schedule]) == elsewhere


@pytest.mark.parametrize("demand", DEMANDS)
def test_a_workflow_that_demands_is_deleted_by_its_owner_alone(demand: str, world: World) -> None:
    DEMANDS[demand](world, NEEDS)
    delete = "update lenses.workflows set status = 'deleted' where id = %s"
    with world.refused("42501", "only its owner"):
        as_operator(world, delete, world.workflow)
    with acting(world.db, world.tenant, "authenticated") as conn:
        conn.execute("select public.fn_set_workflow_status(%s, 'deleted')", [world.workflow])
    status = "select status from lenses.workflows where id = %s"
    assert world.db.value(status, [world.workflow]) == "deleted"


def test_a_workflow_that_demands_nothing_is_deleted_by_operators_too(world: World) -> None:
    world.make_schedule()
    as_operator(
        world, "update lenses.workflows set status = 'deleted' where id = %s", world.workflow
    )
    count = "select count(*)::int from lenses.workflow_schedules where workflow_id = %s"
    assert world.db.value(count, [world.workflow]) == 0


@pytest.mark.parametrize("status", ["approved", "not_required", "pending"])
def test_no_approval_before_its_run(status: str, world: World) -> None:
    """One statement inserts both, the approval first: the guard has no run to look at."""
    world.make_schedule(approval_policy=NEEDS)
    run = uuid4()
    with world.refused("23503", "there is no workflow run"):
        as_operator(
            world,
            "with a as (insert into agents.team_runs (lenser_id, workflow_run_id, approval_status) "
            "values (%s, %s, %s) returning workflow_run_id) "
            "insert into lenses.workflow_runs (id, workflow_id, policies) "
            "select a.workflow_run_id, %s, %s from a",
            world.tenant.id, run, status, world.workflow, psycopg.types.json.Jsonb(FREE),
        )  # fmt: skip
