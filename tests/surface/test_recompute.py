"""lf-sql schedule recompute, and how health and verify lead to it."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.support.work import make_schedule, make_workflow, unguarded

NEXT = "select next_run_at from lenses.workflow_schedules where id = %s"


@pytest.fixture
def schedule(db: Database, owner: Tenant) -> uuid.UUID:
    return make_schedule(db, make_workflow(db, owner), cron_expr="0 0 1 1 *")


def kill(db: Database, schedule: uuid.UUID) -> None:
    with unguarded(db, "lenses.workflow_schedules"):
        db.execute(
            "update lenses.workflow_schedules set next_run_at = null, due_at = null where id = %s",
            [schedule],
        )
    db.execute("update lenses.schedule_due set due_at = null where schedule_id = %s", [schedule])


def park(db: Database, schedule: uuid.UUID) -> None:
    db.execute(
        "update lenses.workflow_schedules set next_run_at = next_run_at + interval '1 year' "
        "where id = %s",
        [schedule],
    )


@pytest.mark.parametrize(("harm", "label"), [(kill, "DEAD"), (park, "PARKED")])
def test_health_and_verify_lead_to_the_command(
    db: Database,
    lf: Command,
    schedule: uuid.UUID,
    harm: Callable[[Database, uuid.UUID], None],
    label: str,
) -> None:
    right = db.value(NEXT, [schedule])
    assert label not in lf("verify", "--json").out
    harm(db, schedule)
    lines = lf("schedule", "health", "--json", code=1).json
    (line,) = [
        row for row in lines if row["schedule_id"] == str(schedule) and row["label"] == label
    ]
    assert line["state"] == "bad"
    assert line["advice"] == f"lf-sql schedule recompute {schedule}"
    told = lf("verify", code=1)
    assert str(schedule) in told.out + told.err
    assert "lf-sql schedule recompute --all" in told.out + told.err
    (row,) = lf("schedule", "recompute", "--all", "--json").json
    assert (row["id"], row["problem"]) == (str(schedule), label)
    assert db.value(NEXT, [schedule]) == right
    assert lf("schedule", "recompute", "--all", "--json").json == []
    assert label not in lf("schedule", "health", "--json", code=1).out


def test_by_id_and_by_several(
    db: Database, lf: Command, owner: Tenant, schedule: uuid.UUID
) -> None:
    other = make_schedule(db, make_workflow(db, owner, "other"), cron_expr="0 0 1 1 *")
    right = db.value(NEXT, [schedule])
    kill(db, schedule)
    park(db, other)
    rows = lf("schedule", "recompute", str(schedule)[:8], other, "--json").json
    assert [row["id"] for row in rows] == [str(schedule), str(other)]
    assert db.value(NEXT, [schedule]) == db.value(NEXT, [other]) == right


def test_a_tenant_mends_his_own_alone(
    db: Database, lf: Command, owner: Tenant, schedule: uuid.UUID, tenant: Callable[..., Tenant]
) -> None:
    stranger = tenant("stranger")
    kill(db, schedule)
    assert lf("schedule", "recompute", "--all", "--json", "--as", stranger.user_id).json == []
    lf("schedule", "recompute", schedule, "--as", stranger.user_id, code=1)
    assert db.value(NEXT, [schedule]) is None
    (row,) = lf("schedule", "recompute", "--all", "--json", "--as", owner.user_id).json
    assert row["id"] == str(schedule)
    assert db.value(NEXT, [schedule]) is not None


def test_wrong_use_changes_nothing(db: Database, lf: Command, schedule: uuid.UUID) -> None:
    kill(db, schedule)
    assert "either IDs, or --all" in lf("schedule", "recompute", code=2).err
    assert "either IDs, or --all" in lf("schedule", "recompute", schedule, "--all", code=2).err
    unknown = uuid.uuid4()
    assert str(unknown) in lf("schedule", "recompute", schedule, unknown, code=1).err
    assert db.value(NEXT, [schedule]) is None
