"""What a workflow demands of its runs goes by no detour: not by moving or deleting what demands it."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest

from tests.approvals.test_whose import DEMANDS, GATED, NEEDS, as_operator
from tests.support.database import as_user
from tests.support.run_scenario import FREE, RunScenario


@pytest.mark.parametrize("policy", [NEEDS, GATED], ids=["required", "gated"])
def test_a_schedule_that_demands_stays_with_its_workflow(
    policy: dict, scenario: RunScenario
) -> None:
    """Moved away, it would free the runs that go past the schedules; moved back, nobody would see."""
    schedule, elsewhere = (
        scenario.make_schedule(approval_policy=policy),
        scenario.make_workflow(title="x"),
    )
    move = "update lenses.workflow_schedules set workflow_id = %s where id = %s"
    with scenario.refused("42501", "only its owner"):
        as_operator(scenario, move, elsewhere, schedule)
    scenario.db.execute(move, [elsewhere, schedule])


def test_a_schedule_that_demands_nothing_may_be_moved(scenario: RunScenario) -> None:
    schedule, elsewhere = scenario.make_schedule(), scenario.make_workflow(title="x")
    move = "update lenses.workflow_schedules set workflow_id = %s where id = %s"
    as_operator(scenario, move, elsewhere, schedule)
    where = "select workflow_id from lenses.workflow_schedules where id = %s"
    assert scenario.db.value(where, [schedule]) == elsewhere


@pytest.mark.parametrize("demand", DEMANDS)
def test_a_workflow_that_demands_is_deleted_by_its_owner_alone(
    demand: str, scenario: RunScenario
) -> None:
    DEMANDS[demand](scenario, NEEDS)
    delete = "update lenses.workflows set status = 'deleted' where id = %s"
    with scenario.refused("42501", "only its owner"):
        as_operator(scenario, delete, scenario.workflow)
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        conn.execute("select public.fn_set_workflow_status(%s, 'deleted')", [scenario.workflow])
    status = "select status from lenses.workflows where id = %s"
    assert scenario.db.value(status, [scenario.workflow]) == "deleted"


def test_a_workflow_that_demands_nothing_is_deleted_by_operators_too(scenario: RunScenario) -> None:
    scenario.make_schedule()
    as_operator(
        scenario, "update lenses.workflows set status = 'deleted' where id = %s", scenario.workflow
    )
    count = "select count(*)::int from lenses.workflow_schedules where workflow_id = %s"
    assert scenario.db.value(count, [scenario.workflow]) == 0


@pytest.mark.parametrize("status", ["approved", "not_required", "pending"])
def test_no_approval_before_its_run(status: str, scenario: RunScenario) -> None:
    """One statement inserts both, the approval first: the guard has no run to look at."""
    scenario.make_schedule(approval_policy=NEEDS)
    run = uuid4()
    with scenario.refused("23503", "there is no workflow run"):
        as_operator(
            scenario,
            "with a as (insert into agents.team_runs (lenser_id, workflow_run_id, approval_status) "
            "values (%s, %s, %s) returning workflow_run_id) "
            "insert into lenses.workflow_runs (id, workflow_id, policies) "
            "select a.workflow_run_id, %s, %s from a",
            scenario.tenant.id, run, status, scenario.workflow, psycopg.types.json.Jsonb(FREE),
        )  # fmt: skip
