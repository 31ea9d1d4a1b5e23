"""How a run ends, and what its schedule learns of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.dispatch.conftest import at
from tests.rpc.callers import acting
from tests.runs.world import World, said
from tests.support.database import make_tenant


def test_completion_fills_run_and_schedule(world: World) -> None:
    schedule = world.make_schedule()
    run = world.run(schedule)
    world.claim()
    assert world.complete(run, result={"words": 7}, spent="1.25")
    row = world.row(run)
    assert (row.status, row.metadata["result"], float(row.spent_credits)) == (
        "completed", {"words": 7}, 1.25,
    )  # fmt: skip
    assert row.lease_expires_at is None
    assert row.completed_at >= row.started_at
    saved = world.schedule(schedule)
    assert (saved.last_result, saved.last_completed_at) == ({"words": 7}, row.completed_at)
    assert world.events(run) == [(1, "run.created"), (2, "run.started"), (3, "run.completed")]


@pytest.mark.parametrize("result", [None, [], "text", 3, {"a": {"b": [1, 2]}}])
def test_any_json_is_a_result(world: World, result: Any) -> None:
    run = world.run()
    world.claim()
    assert world.complete(run, result=result)
    assert world.row(run).metadata == {"result": result}


def test_a_run_without_schedule_ends_too(world: World) -> None:
    run = world.run()
    world.claim()
    assert world.complete(run, result=1)


def test_only_the_holder_of_the_lease_finishes(world: World) -> None:
    run = world.run()
    world.claim("mine")
    for tried in (
        world.complete(run, "another", result=1),
        world.fail(run, "another"),
        world.heartbeat(run, "another"),
        world.append(run, "node.done", worker="another"),
        world.complete(uuid4(), "mine"),
        world.fail(uuid4(), "mine"),
        world.heartbeat(uuid4(), "mine"),
        world.cancel(uuid4()),
    ):
        assert tried is False
    assert world.row(run).status == "running"
    assert world.complete(run, "mine")


def test_a_lease_that_ran_out_is_lost_before_it_is_reaped(world: World) -> None:
    run = world.run()
    world.claim()
    world.let_lease_expire(run)
    before = world.row(run)
    assert not world.complete(run, result="late")
    assert not world.fail(run)
    assert not world.heartbeat(run)
    assert not world.append(run, "node.done")
    assert world.row(run) == before


def test_a_late_completion_does_not_touch_the_next_attempt(world: World) -> None:
    run = world.run()
    world.claim("dead")
    world.let_lease_expire(run)
    assert [found.id for found in world.claim("alive")] == [run]
    assert not world.complete(run, "dead", result="late")
    assert world.complete(run, "alive", result="good")
    assert world.row(run).metadata["result"] == "good"


def test_what_is_over_stays_over(world: World) -> None:
    run = world.run()
    world.claim()
    assert world.complete(run, result=1)
    before = world.row(run)
    assert not world.complete(run, result=2)
    assert not world.fail(run)
    assert not world.heartbeat(run)
    assert not world.cancel(run)
    assert world.row(run) == before


def test_a_heartbeat_extends_the_lease(world: World) -> None:
    run = world.run()
    (claimed,) = world.claim(lease=timedelta(seconds=30))
    assert world.heartbeat(run, lease=timedelta(minutes=10))
    extended = world.row(run).lease_expires_at - claimed.lease_expires_at
    assert timedelta(minutes=5) <= extended < timedelta(minutes=10)
    assert world.events(run)[-1] == (2, "run.started")


def test_a_result_that_is_too_large_changes_nothing(world: World) -> None:
    run = world.run()
    world.claim()
    with world.refused("22023", "p_result is larger"):
        world.complete(run, result="x" * 1_100_000)
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    with world.refused("22023", "p_result is nested"):
        world.complete(run, result=deep)
    with world.refused("22P05"):
        world.complete(run, result="a\0b")
    assert world.row(run).status == "running"
    assert world.complete(run, result="x")


@pytest.mark.parametrize("spent", ["-1", "NaN", "Infinity"])
def test_credits_are_a_number_from_zero_on(world: World, spent: str) -> None:
    run = world.run()
    world.claim()
    with world.refused("22023", "p_spent_credits"):
        world.complete(run, spent=spent)
    assert world.complete(run, spent="0.5")


def test_cancelling_ends_a_run_wherever_it_is(world: World) -> None:
    schedule = world.make_schedule()
    waiting, pending, running = (
        world.run(schedule, policies={"approval_policy": {"requiresApproval": True}}),
        world.run(schedule, priority=-1),
        world.run(schedule),
    )
    assert world.claimed() == [running]
    for run in (waiting, pending, running):
        assert world.cancel(run) is True
        row = world.row(run)
        assert row.status == "cancelled"
        assert row.metadata["result"] == {
            "status": "cancelled",
            "cause": "cancelled",
            "error": None,
        }
        assert world.schedule(schedule).last_result == row.metadata["result"]
        assert world.events(run)[-1][1] == "run.cancelled"
    assert world.team_run(waiting).approval_status == "rejected"
    assert not world.complete(running)


def test_an_owner_cancels_his_own_by_rpc(world: World) -> None:
    run = world.run()
    stranger = make_tenant(world.db)
    errors = []
    for unknown in (run, uuid4()):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
            acting(world.db, stranger, "authenticated") as conn,
        ):
            conn.execute("select public.fn_cancel_workflow_run(%s)", [unknown])
        errors.append(said(caught.value))
    assert errors[0] == errors[1]
    with world.refused("42501"), acting(world.db, None, "authenticated") as conn:
        conn.execute("select public.fn_cancel_workflow_run(%s)", [run])
    assert world.row(run).status == "pending"
    with acting(world.db, world.tenant, "authenticated") as conn:
        assert conn.value("select public.fn_cancel_workflow_run(%s)", [run]) is True
        assert conn.value("select public.fn_cancel_workflow_run(%s)", [run]) is False
    other = world.run()
    with acting(world.db, None, "service_role") as conn:
        assert conn.value("select public.fn_cancel_workflow_run(%s)", [other]) is True


def test_a_deferred_slot_is_looked_at_when_a_run_ends(world: World) -> None:
    schedule = world.make_schedule(
        "*/5 * * * *", queue_policy={"mode": "serial", "onOverlap": "queue"}
    )
    assert world.tick(at(0)) == 1
    assert world.tick(at(5)) == 0
    saved = world.schedule(schedule)
    assert saved.last_dispatch_status == "deferred"
    (run,) = world.claimed()
    world.db.execute(
        "update lenses.workflow_schedules set description = 'x' where id = %s", [schedule]
    )
    assert world.complete(run)
    woken = world.schedule(schedule)
    assert woken.due_at < saved.due_at
    assert woken.due_at == woken.last_completed_at
    assert world.tick(at(5.1)) == 1
