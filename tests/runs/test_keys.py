"""Idempotency keys: unique, whatever they are made of and by whichever door a run comes."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest

from tests.support.scenario import MONDAY, Scenario


@pytest.fixture
def scenario(db: Any) -> Scenario:
    return Scenario(db)


def insert(scenario: Scenario, key: str | None, **columns: Any) -> Any:
    """A run as service_role, or whoever may, writes one."""
    values = {
        "workflow_id": scenario.workflow, "workflow_version": 1, "status": "pending_approval",
        "idempotency_key": key, **columns,
    }  # fmt: skip
    names, marks = ", ".join(values), ", ".join(["%s"] * len(values))
    return scenario.db.row(
        f"insert into lenses.workflow_runs ({names}) values ({marks}) returning *",
        list(values.values()),
    )


def test_no_two_runs_share_a_key(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    assert scenario.tick(MONDAY) == 1
    (of_slot,) = scenario.runs(schedule)
    by_hand = insert(scenario, None)
    chosen = insert(scenario, "order 17")
    for run in (of_slot, by_hand, chosen):
        for more in ({}, {"id": uuid.uuid4()}):
            with pytest.raises(psycopg.errors.UniqueViolation):
                insert(scenario, run.idempotency_key, **more)
    keys = "select count(*) as n, count(distinct idempotency_key) as d from lenses.workflow_runs"
    assert tuple(scenario.db.row(keys)) == (3, 3)


def test_a_key_that_says_an_id_has_that_id(scenario: Scenario) -> None:
    id_ = uuid.uuid4()
    assert insert(scenario, f"manual:{id_}").id == id_
    key = "0123456789abcdef" * 4
    assert insert(scenario, key, id=uuid.uuid4()).id == uuid.UUID(key[:32])


def test_a_slot_whose_key_a_run_of_before_holds_is_taken(scenario: Scenario) -> None:
    """As older versions let it stand: the slot's key under an id of its own, without a schedule."""
    schedule = scenario.make_schedule("0 9 * * *")
    with scenario.db.transaction():
        scenario.db.execute("alter table lenses.workflow_runs disable trigger workflow_runs_admit")
        key = scenario.db.value("select lenses.fn_slot_key(%s, %s)", [schedule, MONDAY])
        insert(scenario, key, lenser_id=scenario.tenant.id)
        scenario.db.execute(
            "alter table lenses.workflow_runs enable always trigger workflow_runs_admit"
        )
    assert scenario.tick(MONDAY) == 0
    assert scenario.skips(schedule) == [("schedule_slot_exists", MONDAY)]
