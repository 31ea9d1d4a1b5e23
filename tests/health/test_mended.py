"""An error that has been mended is no longer told: not by the row, not by health."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.health.conftest import Health
from tests.support.command import Command
from tests.support.database import Database, Tenant, as_user
from tests.support.work import due_in, make_schedule, make_workflow, unguarded

Tick = Callable[[], None]
ERROR = (
    "select last_dispatch_status, last_error_at, last_error_message from lenses.workflow_schedules"
)
BAD = {"VALIDATION_FAILED", "CONDITION_FAILED", "DISPATCH_FAILED", "BUDGET_EXCEEDED"}
CYCLE = {
    "nodes": [{"id": "a"}, {"id": "b"}],
    "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}],
}


def make_agent(db: Database, owner: Tenant, name: str) -> uuid.UUID:
    return db.value(
        "insert into agents.ai_lensers (lenser_id, name) values (%s, %s) returning id",
        [owner.id, name],
    )


def patch(db: Database, owner: Tenant, schedule: uuid.UUID, **change: Any) -> None:
    with as_user(db, owner):
        db.execute(
            "select public.fn_patch_workflow_schedule(%s, %s)",
            [schedule, json.dumps(change, default=str)],
        )


def trouble(db: Database, health: Health, schedule: uuid.UUID) -> tuple[str | None, set[str]]:
    """What the row says of errors, and what health does."""
    row = db.row(f"{ERROR} where id = %s", [schedule])
    assert (row[1] is None) == (row[2] is None)
    lines = health(code=None).of(schedule)
    return row.last_dispatch_status, set(lines) & BAD


@pytest.fixture
def gone(db: Database, owner: Tenant, ticking: Tick) -> uuid.UUID:
    """A schedule whose agent went before its slot came."""
    agent = make_agent(db, owner, "first")
    schedule = make_schedule(db, make_workflow(db, owner), assignee_id=agent)
    db.execute("delete from agents.ai_lensers")
    due_in(db, schedule, -1)
    ticking()
    return schedule


def test_an_assignee_that_is_there(
    db: Database, health: Health, owner: Tenant, gone: uuid.UUID
) -> None:
    assert trouble(db, health, gone) == ("validation_failed", {"VALIDATION_FAILED"})
    patch(db, owner, gone, description="still nobody")
    assert trouble(db, health, gone) == ("validation_failed", {"VALIDATION_FAILED"})
    patch(db, owner, gone, assignee_id=make_agent(db, owner, "second"))
    assert trouble(db, health, gone) == (None, set())


def test_no_assignee_at_all(db: Database, health: Health, owner: Tenant, gone: uuid.UUID) -> None:
    patch(db, owner, gone, assignee_id=None)
    assert trouble(db, health, gone) == (None, set())


def test_the_same_assignee_is_back(
    db: Database, health: Health, owner: Tenant, gone: uuid.UUID
) -> None:
    """Nothing was saved: the row tells what happened, and health that all is well."""
    wanted = db.value("select assignee_id from lenses.workflow_schedules")
    db.execute(
        "insert into agents.ai_lensers (id, lenser_id, name) values (%s, %s, 'back')",
        [wanted, owner.id],
    )
    assert trouble(db, health, gone) == ("validation_failed", set())


def test_a_cycle_that_was_broken(
    db: Database, health: Health, owner: Tenant, ticking: Tick
) -> None:
    workflow = make_workflow(db, owner)
    schedule = make_schedule(db, workflow)
    pinned = make_schedule(db, workflow)
    upsert = "select public.fn_upsert_workflow(%s, null, %s)"
    with as_user(db, owner):
        db.execute(upsert, [workflow, json.dumps(CYCLE)])
    with unguarded(db, "lenses.workflow_schedules"):
        db.execute(
            "update lenses.workflow_schedules set workflow_version = 2 where id = %s", [pinned]
        )
    due_in(db, schedule, -1)
    due_in(db, pinned, -1)
    ticking()
    failed = ("validation_failed", {"VALIDATION_FAILED"})
    assert trouble(db, health, schedule) == trouble(db, health, pinned) == failed
    with as_user(db, owner):
        db.execute(upsert, [workflow, json.dumps({"nodes": [{"id": "a"}], "edges": []})])
    assert trouble(db, health, schedule) == (None, set())
    assert trouble(db, health, pinned) == failed
    patch(db, owner, pinned, workflow_version=3)
    assert trouble(db, health, pinned) == (None, set())


def test_a_zone_that_the_server_knows(
    db: Database, health: Health, owner: Tenant, ticking: Tick
) -> None:
    schedule = make_schedule(db, make_workflow(db, owner), timezone="Europe/Berlin")
    due_in(db, schedule, -1)
    with unguarded(db, "lenses.workflow_schedules"):
        db.execute("update lenses.workflow_schedules set timezone = 'Europe/Atlantis'")
    ticking()
    status, found = trouble(db, health, schedule)
    assert (status, found) == ("validation_failed", {"VALIDATION_FAILED"})
    patch(db, owner, schedule, timezone="Europe/Istanbul")
    assert trouble(db, health, schedule) == (None, set())


def test_a_condition_that_was_changed(
    db: Database, health: Health, owner: Tenant, ticking: Tick
) -> None:
    schedule = make_schedule(
        db, make_workflow(db, owner), pre_dispatch_condition='{"/signal_rpc_result": {"eq": 1}}'
    )
    db.execute(
        "create or replace function lenses.fn_condition_signal(p_schedule_id uuid) returns jsonb "
        "language plpgsql stable set search_path = pg_catalog, pg_temp as "
        "$$ begin raise exception 'no signal'; end $$"
    )
    due_in(db, schedule, -1)
    ticking()
    assert trouble(db, health, schedule) == ("condition_failed", {"CONDITION_FAILED"})
    patch(db, owner, schedule, queue_policy={"mode": "serial"})
    assert trouble(db, health, schedule) == ("condition_failed", {"CONDITION_FAILED"})
    patch(db, owner, schedule, pre_dispatch_condition=None)
    assert trouble(db, health, schedule) == (None, set())


def test_a_dispatch_that_failed_and_an_edit(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command
) -> None:
    schedule = make_schedule(db, make_workflow(db, owner), cron_expr="0 0 29 2 *")
    db.execute(
        "create function public.poison() returns trigger language plpgsql as "
        "$$ begin raise exception 'out of paper'; end $$;"
        "create trigger poison before insert on lenses.workflow_runs "
        "for each row execute function public.poison()"
    )
    due_in(db, schedule, -1)
    ticking()
    failed = ("dispatch_failed", {"DISPATCH_FAILED"})
    assert trouble(db, health, schedule) == failed
    lf("schedule", "pause", schedule)
    lf("schedule", "resume", schedule)
    assert trouble(db, health, schedule) == failed, "a pause mends nothing"
    patch(db, owner, schedule, inputs_template={"paper": "new"})
    assert trouble(db, health, schedule) == (None, set())


def test_a_budget_that_was_raised(
    db: Database, health: Health, owner: Tenant, ticking: Tick
) -> None:
    agent = make_agent(db, owner, "spender")
    db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 0)",
        [agent, owner.id],
    )
    schedule = make_schedule(db, make_workflow(db, owner), assignee_id=agent)
    due_in(db, schedule, -1)
    ticking()
    assert trouble(db, health, schedule) == ("budget_exceeded", {"BUDGET_EXCEEDED"})
    db.execute("update agents.policies set spending_limit_credits = 10")
    assert trouble(db, health, schedule) == ("budget_exceeded", set())
    patch(db, owner, schedule, description="richer")
    assert trouble(db, health, schedule) == (None, set())


def test_an_error_written_by_hand_stands(db: Database, owner: Tenant) -> None:
    schedule = make_schedule(db, make_workflow(db, owner))
    db.execute(
        "update lenses.workflow_schedules set last_dispatch_status = 'dispatch_failed', "
        "last_error_at = now(), last_error_message = 'x', inputs_template = '{\"a\": 1}' where id = %s",
        [schedule],
    )
    assert db.row(ERROR).last_error_message == "x"
