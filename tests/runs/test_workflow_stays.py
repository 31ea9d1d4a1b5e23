"""A workflow with runs stays, and a run has a workflow of its tenant."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.support.database import Database, as_user, make_tenant, wait_until_blocked
from tests.support.scenario import MONDAY, Scenario

Act = Callable[[Database], Any]
KEY = "workflow_runs_workflow_id_lenser_id_fkey"
DELETE = "delete from lenses.workflows where id = %s"
INSERT = (
    "insert into lenses.workflow_runs (workflow_id, workflow_version, status, lenser_id) "
    "values (%s, 1, 'pending', %s) returning id"
)


@pytest.fixture
def workflow(scenario: Scenario) -> UUID:
    return scenario.make_workflow()


def insert(conn: Database, workflow: UUID, tenant: UUID | None = None) -> UUID:
    return conn.value(INSERT, [workflow, tenant])


@pytest.mark.parametrize("by_a_tick", [True, False])
def test_a_workflow_with_runs_is_not_deleted(
    scenario: Scenario, workflow: UUID, by_a_tick: bool
) -> None:
    db = scenario.db
    if by_a_tick:
        scenario.make_schedule("0 9 * * *", workflow_id=workflow)
        assert scenario.tick(MONDAY) == 1
    else:
        insert(db, workflow)
    with pytest.raises(psycopg.errors.ForeignKeyViolation, match=KEY), db.transaction():
        db.execute(DELETE, [workflow])
    db.execute("delete from lenses.workflow_runs where workflow_id = %s", [workflow])
    db.execute(DELETE, [workflow])
    assert db.rows("select from lenses.workflows where id = %s", [workflow]) == []


@pytest.mark.parametrize("role", ["service_role", None])
def test_a_run_has_a_workflow_of_its_tenant(
    scenario: Scenario, workflow: UUID, role: str | None
) -> None:
    other = make_tenant(scenario.db).id
    for values, message in (([uuid4(), None], "does not exist"), ([workflow, other], KEY)):
        with (
            pytest.raises(psycopg.errors.ForeignKeyViolation, match=message),
            scenario.db.transaction(),
        ):
            if role:
                with as_user(scenario.db, None, role) as conn:
                    conn.execute(INSERT, values)
            else:
                scenario.db.execute(INSERT, values)


def test_the_tenant_of_a_run_does_not_change(scenario: Scenario, workflow: UUID) -> None:
    run = insert(scenario.db, workflow)
    strange = {"workflow_id": uuid4(), "lenser_id": make_tenant(scenario.db).id}
    for column, value in strange.items():
        with (
            pytest.raises(psycopg.errors.InvalidParameterValue, match=column),
            scenario.db.transaction(),
        ):
            scenario.db.execute(
                f"update lenses.workflow_runs set {column} = %s where id = %s", [value, run]
            )


def refused_after_waiting(scenario: Scenario, first: Act, second: Act) -> None:
    """The second act waits until the first, which is under way, commits; then it is refused."""
    with (
        scenario.db.another() as one,
        scenario.db.another() as other,
        ThreadPoolExecutor(1) as pool,
    ):
        with one.transaction():
            first(one)
            waiting = pool.submit(second, other)
            wait_until_blocked(scenario.db, other)
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match=KEY):
            waiting.result(60)
    assert scenario.violations() == []


def test_a_deletion_waits_for_a_run_under_way(
    scenario: Scenario, workflow: UUID, committed: None
) -> None:
    refused_after_waiting(
        scenario,
        lambda executor: insert(executor, workflow),
        lambda owner: owner.execute(DELETE, [workflow]),
    )


def test_a_run_waits_for_a_deletion_under_way(
    scenario: Scenario, workflow: UUID, committed: None
) -> None:
    refused_after_waiting(
        scenario,
        lambda owner: owner.execute(DELETE, [workflow]),
        lambda executor: insert(executor, workflow),
    )


def test_a_deletion_waits_for_a_tick_under_way(
    scenario: Scenario, workflow: UUID, committed: None
) -> None:
    schedule = scenario.make_schedule("0 9 * * *", workflow_id=workflow)
    refused_after_waiting(
        scenario,
        lambda ticker: ticker.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [MONDAY]),
        lambda owner: owner.execute(DELETE, [workflow]),
    )
    assert scenario.slots(schedule) == [MONDAY]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_deletion_sees_runs_that_its_snapshot_does_not_show(
    scenario: Scenario, workflow: UUID, committed: None, level: str
) -> None:
    with scenario.db.another() as owner:
        owner.execute(f"begin isolation level {level}")
        assert owner.value("select count(*) from lenses.workflow_runs") == 0
        insert(scenario.db, workflow)
        with pytest.raises(psycopg.errors.ForeignKeyViolation, match=KEY):
            owner.execute(DELETE, [workflow])
        owner.execute("rollback")
    assert scenario.violations() == []


def test_a_run_whose_workflow_is_gone_is_found(scenario: Scenario, workflow: UUID) -> None:
    run = insert(scenario.db, workflow)
    with scenario.db.transaction(force_rollback=True):
        scenario.db.execute("set local session_replication_role = replica")
        scenario.db.execute(DELETE, [workflow])
        found = [(v.invariant, v.subject) for v in scenario.violations()]
        assert ("parent_exists", run) in found
