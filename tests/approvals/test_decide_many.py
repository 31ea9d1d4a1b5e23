"""Many decisions in one call: each once, none of anybody else's, and one that is over stops no other."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.approvals.test_decide import NEEDS
from tests.support.database import as_user, make_tenant
from tests.support.run_scenario import RunScenario


def decide(
    scenario: RunScenario, runs: list[UUID | None], decision: str | None, note: str = ""
) -> Any:
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        return set(
            conn.column(
                "select * from public.fn_decide_workflow_runs(%s, %s, %s)", [runs, decision, note]
            )
        )


def statuses(scenario: RunScenario, runs: list[UUID]) -> list[str]:
    return [scenario.row(run).status for run in runs]


@pytest.mark.parametrize(
    ("decision", "status"), [("approved", "pending"), ("rejected", "cancelled")]
)
def test_all_that_wait_and_no_other(scenario: RunScenario, decision: str, status: str) -> None:
    waiting = [scenario.run(policies=NEEDS) for _ in range(3)]
    decided = scenario.run(policies=NEEDS)
    scenario.decide(decided, "rejected")
    free = scenario.run()
    expired = scenario.run(
        policies={"approval_policy": {"requiresApproval": True, "expiresAfterMs": 60_000}},
        approval_expires_at="2026-01-01Z",
    )
    asked = [*waiting, decided, free, expired, waiting[0]]
    assert decide(scenario, asked, decision, "as agreed") == set(waiting)
    assert statuses(scenario, asked[:3]) == [status] * 3
    assert statuses(scenario, asked[3:6]) == ["cancelled", "pending", "pending_approval"]
    for run in waiting:
        assert scenario.team_run(run).note == "as agreed"
        assert scenario.team_events(run)[-1] == f"approval.{decision}"
    assert decide(scenario, asked, decision) == set()
    assert decide(scenario, [], decision) == set()


def test_one_that_is_not_his_decides_none(scenario: RunScenario) -> None:
    mine = scenario.run(policies=NEEDS)
    stranger = make_tenant(scenario.db)
    query = "select * from public.fn_decide_workflow_runs(%s, 'approved')"
    with scenario.refused("42501", "no such run of yours"):
        decide(scenario, [mine, uuid4()], "approved")
    with scenario.refused("42501", "no such run of yours"):
        with as_user(scenario.db, stranger, "authenticated") as conn:
            conn.execute(query, [[mine]])
    for sub, role in ((None, "authenticated"), (scenario.tenant, "service_role"), (None, "anon")):
        with scenario.refused("42501"), as_user(scenario.db, sub, role) as conn:
            conn.execute(query, [[]])
    with scenario.refused("42501"), as_user(scenario.db, scenario.tenant, "service_role") as conn:
        conn.execute("select lenses.fn_decide_workflow_runs(%s, 'approved')", [[mine]])
    assert statuses(scenario, [mine]) == ["pending_approval"]


def test_bad_input(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    for decision in ("maybe", "", None):
        with scenario.refused("22023", "p_decision"):
            decide(scenario, [run], decision)
    with scenario.refused("22023", "note"):
        decide(scenario, [run], "approved", "x" * 2001)
    with scenario.refused("22023", "NULL"):
        decide(scenario, [run, None], "approved")
    with scenario.refused("22023", "1000"):
        decide(scenario, [run] * 1001, "approved")
    assert statuses(scenario, [run]) == ["pending_approval"]


def test_cancel_many(scenario: RunScenario) -> None:
    waiting = scenario.run(policies=NEEDS)
    running = scenario.run()
    assert scenario.claimed() == [running]
    over = scenario.run()
    scenario.cancel(over)
    query = "select * from public.fn_cancel_workflow_runs(%s)"
    with (
        scenario.refused("42501"),
        as_user(scenario.db, make_tenant(scenario.db), "authenticated") as conn,
    ):
        conn.execute(query, [[waiting]])
    with scenario.refused("42501"), as_user(scenario.db, None, "authenticated") as conn:
        conn.execute(query, [[]])
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        assert set(conn.column(query, [[waiting, running, over]])) == {waiting, running}
    assert statuses(scenario, [waiting, running, over]) == ["cancelled"] * 3
    assert scenario.team_run(waiting).approval_status == "rejected"
    free = scenario.run()
    with as_user(scenario.db, None, "service_role") as conn:
        assert conn.column(query, [[free, uuid4()]]) == [free]


def test_two_that_decide_the_same_in_other_orders(scenario: RunScenario, committed: None) -> None:
    """Schedules are locked in one order: neither call is refused for a deadlock."""
    schedules = [
        scenario.make_schedule(approval_policy={"requiresApproval": True}) for _ in range(8)
    ]
    found: list[set[UUID]] = []
    for turn in range(4):
        runs = [scenario.run(schedule, policies=NEEDS) for schedule in schedules]
        gate = threading.Barrier(2)

        def call(runs: list[UUID], gate: threading.Barrier = gate) -> None:
            with scenario.db.another() as conn, as_user(conn, scenario.tenant, "authenticated"):
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
