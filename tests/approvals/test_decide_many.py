"""Many decisions in one call: each once, none of anybody else's, and one that is over stops no other."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.approvals.test_decide import NEEDS
from tests.rpc.callers import acting
from tests.runs.world import World
from tests.support.database import make_tenant


def decide(world: World, runs: list[UUID | None], decision: str | None, note: str = "") -> Any:
    with acting(world.db, world.tenant, "authenticated") as conn:
        return set(
            conn.column(
                "select * from public.fn_decide_workflow_runs(%s, %s, %s)", [runs, decision, note]
            )
        )


def statuses(world: World, runs: list[UUID]) -> list[str]:
    return [world.row(run).status for run in runs]


@pytest.mark.parametrize(
    ("decision", "status"), [("approved", "pending"), ("rejected", "cancelled")]
)
def test_all_that_wait_and_no_other(world: World, decision: str, status: str) -> None:
    waiting = [world.run(policies=NEEDS) for _ in range(3)]
    decided = world.run(policies=NEEDS)
    world.decide(decided, "rejected")
    free = world.run()
    expired = world.run(
        policies={"approval_policy": {"requiresApproval": True, "expiresAfterMs": 60_000}},
        approval_expires_at="2026-01-01Z",
    )
    asked = [*waiting, decided, free, expired, waiting[0]]
    assert decide(world, asked, decision, "as agreed") == set(waiting)
    assert statuses(world, asked[:3]) == [status] * 3
    assert statuses(world, asked[3:6]) == ["cancelled", "pending", "pending_approval"]
    for run in waiting:
        assert world.team_run(run).note == "as agreed"
        assert world.team_events(run)[-1] == f"approval.{decision}"
    assert decide(world, asked, decision) == set()
    assert decide(world, [], decision) == set()


def test_one_that_is_not_his_decides_none(world: World) -> None:
    mine = world.run(policies=NEEDS)
    stranger = make_tenant(world.db)
    query = "select * from public.fn_decide_workflow_runs(%s, 'approved')"
    with world.refused("42501", "no such run of yours"):
        decide(world, [mine, uuid4()], "approved")
    with world.refused("42501", "no such run of yours"):
        with acting(world.db, stranger, "authenticated") as conn:
            conn.execute(query, [[mine]])
    for sub, role in ((None, "authenticated"), (world.tenant, "service_role"), (None, "anon")):
        with world.refused("42501"), acting(world.db, sub, role) as conn:
            conn.execute(query, [[]])
    with world.refused("42501"), acting(world.db, world.tenant, "service_role") as conn:
        conn.execute("select lenses.fn_decide_workflow_runs(%s, 'approved')", [[mine]])
    assert statuses(world, [mine]) == ["pending_approval"]


def test_bad_input(world: World) -> None:
    run = world.run(policies=NEEDS)
    for decision in ("maybe", "", None):
        with world.refused("22023", "p_decision"):
            decide(world, [run], decision)
    with world.refused("22023", "note"):
        decide(world, [run], "approved", "x" * 2001)
    with world.refused("22023", "NULL"):
        decide(world, [run, None], "approved")
    with world.refused("22023", "1000"):
        decide(world, [run] * 1001, "approved")
    assert statuses(world, [run]) == ["pending_approval"]


def test_cancel_many(world: World) -> None:
    waiting = world.run(policies=NEEDS)
    running = world.run()
    assert world.claimed() == [running]
    over = world.run()
    world.cancel(over)
    query = "select * from public.fn_cancel_workflow_runs(%s)"
    with world.refused("42501"), acting(world.db, make_tenant(world.db), "authenticated") as conn:
        conn.execute(query, [[waiting]])
    with world.refused("42501"), acting(world.db, None, "authenticated") as conn:
        conn.execute(query, [[]])
    with acting(world.db, world.tenant, "authenticated") as conn:
        assert set(conn.column(query, [[waiting, running, over]])) == {waiting, running}
    assert statuses(world, [waiting, running, over]) == ["cancelled"] * 3
    assert world.team_run(waiting).approval_status == "rejected"
    free = world.run()
    with acting(world.db, None, "service_role") as conn:
        assert conn.column(query, [[free, uuid4()]]) == [free]


def test_two_that_decide_the_same_in_other_orders(world: World, committed: None) -> None:
    """Schedules are locked in one order: neither call is refused for a deadlock."""
    schedules = [world.make_schedule(approval_policy={"requiresApproval": True}) for _ in range(8)]
    found: list[set[UUID]] = []
    for turn in range(4):
        runs = [world.run(schedule, policies=NEEDS) for schedule in schedules]
        gate = threading.Barrier(2)

        def call(runs: list[UUID], gate: threading.Barrier = gate) -> None:
            with world.db.another() as conn, acting(conn, world.tenant, "authenticated"):
                gate.wait()
                found.append(
                    set(
                        conn.column(
                            "select * from public.fn_decide_workflow_runs(%s, 'approved')", [runs]
                        )
                    )
                )

        threads = [threading.Thread(target=call, args=[r]) for r in (runs, runs[::-1])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 2 * (turn + 1)
        assert found[-1] | found[-2] == set(runs)
        assert not found[-1] & found[-2]
