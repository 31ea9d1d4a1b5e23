"""Idempotency keys: unique, whatever they are made of and by whichever door a run comes."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest

from tests.dispatch.conftest import MONDAY, House


@pytest.fixture
def house(db: Any) -> House:
    return House(db)


def insert(house: House, key: str | None, **columns: Any) -> Any:
    """A run as service_role, or whoever may, writes one."""
    values = {
        "workflow_id": house.workflow, "workflow_version": 1, "status": "pending_approval",
        "idempotency_key": key, **columns,
    }  # fmt: skip
    names, marks = ", ".join(values), ", ".join(["%s"] * len(values))
    return house.db.row(
        f"insert into lenses.workflow_runs ({names}) values ({marks}) returning *",
        list(values.values()),
    )


def test_no_two_runs_share_a_key(house: House) -> None:
    schedule = house.make_schedule("0 9 * * *")
    assert house.tick(MONDAY) == 1
    (of_slot,) = house.runs(schedule)
    by_hand = insert(house, None)
    chosen = insert(house, "order 17")
    for run in (of_slot, by_hand, chosen):
        for more in ({}, {"id": uuid.uuid4()}):
            with pytest.raises(psycopg.errors.UniqueViolation):
                insert(house, run.idempotency_key, **more)
    keys = "select count(*) as n, count(distinct idempotency_key) as d from lenses.workflow_runs"
    assert tuple(house.db.row(keys)) == (3, 3)


def test_a_key_that_says_an_id_has_that_id(house: House) -> None:
    id_ = uuid.uuid4()
    assert insert(house, f"manual:{id_}").id == id_
    key = "0123456789abcdef" * 4
    assert insert(house, key, id=uuid.uuid4()).id == uuid.UUID(key[:32])


def test_a_slot_whose_key_a_run_of_before_holds_is_taken(house: House) -> None:
    """As older versions let it stand: the slot's key under an id of its own, without a schedule."""
    schedule = house.make_schedule("0 9 * * *")
    with house.db.transaction():
        house.db.execute("alter table lenses.workflow_runs disable trigger workflow_runs_admit")
        key = house.db.value("select lenses.fn_slot_key(%s, %s)", [schedule, MONDAY])
        insert(house, key, lenser_id=house.tenant.id)
        house.db.execute(
            "alter table lenses.workflow_runs enable always trigger workflow_runs_admit"
        )
    assert house.tick(MONDAY) == 0
    assert house.skips(schedule) == [("schedule_slot_exists", MONDAY)]
