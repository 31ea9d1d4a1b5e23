"""The policies of a schedule's assignment, and default_queue_mode: defaults for what it leaves out."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg import errors
from psycopg.types.json import Jsonb

from tests.support.database import as_user
from tests.support.scenario import NO_APPROVAL, Scenario, at, minutes
from tests.support.work import unguarded

DEFAULTS = {
    "approval_policy": {"requiresApproval": True},
    "retry_policy": {"maxRetries": 1},
    "failure_policy": {"mode": "isolate"},
    "queue_policy": {"mode": "parallel"},
}


def assignment(scenario: Scenario, **policies: Any) -> UUID:
    columns = {"workflow_id": scenario.workflow, "assignee_type": "agent"}
    columns |= {"assignee_id": scenario.make_agent(), "approval_policy": NO_APPROVAL}
    columns |= {f"{name}_policy": value for name, value in policies.items()}
    return scenario._insert("agents.workflow_assignments", columns)


def policies_of_the_next_run(scenario: Scenario, schedule: UUID) -> Any:
    assert scenario.tick(at(0)) > 0
    return scenario.runs(schedule)[-1].policies


def setting(scenario: Scenario, **settings: Any) -> None:
    scenario.db.execute("select lenses.fn_set_dispatch_settings(%s)", [Jsonb(settings)])


def test_what_the_schedule_leaves_out_is_the_assignments(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(
        "* * * * *",
        queue_policy={"priority": 3},
        workflow_assignment_id=assignment(
            scenario,
            queue={"mode": "serial", "priority": 9},
            failure={"mode": "halt"},
            retry={"maxRetries": 0, "timeoutMs": 5000},
        ),
    )
    found = policies_of_the_next_run(scenario, schedule)
    assert found["queue_policy"] == {"mode": "serial", "priority": 3}
    assert found["failure_policy"] == {"mode": "halt"}
    assert found["retry_policy"] == {"maxRetries": 0, "timeoutMs": 5000}
    assert scenario.runs(schedule)[0].priority == 3
    assert scenario.tick(at(1)) == 0
    assert scenario.skips(schedule) == [("overlap_in_flight", at(1))]
    assert scenario.db.column(
        "select decision from lenses.fn_preview_schedule_ticks(%s, 1, '3000 days')", [schedule]
    ) == ["skip"]


@pytest.mark.parametrize("how", ["row", "patch", "update"])
def test_a_default_that_is_spelled_out_is_the_schedules_own(scenario: Scenario, how: str) -> None:
    own = assignment(
        scenario,
        queue={"mode": "serial"},
        retry={"maxRetries": 0, "backoffMs": 5},
        failure={"mode": "halt"},
    )
    spelled = {k: v for k, v in DEFAULTS.items() if k != "approval_policy"}
    if how == "row":
        schedule = scenario.make_schedule(workflow_assignment_id=own, **spelled)
    else:
        schedule = scenario.make_schedule(
            workflow_assignment_id=own, failure_policy={"mode": "halt"}
        )
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        if how == "patch":
            conn.execute(
                "select public.fn_patch_workflow_schedule(%s, %s)", [schedule, Jsonb(spelled)]
            )
    if how == "update":
        scenario.set(schedule, failure_policy={"mode": "isolate"})
        found = policies_of_the_next_run(scenario, schedule)
        assert found["failure_policy"] == {"mode": "isolate"}
        return
    found = policies_of_the_next_run(scenario, schedule)
    assert found["queue_policy"] == {"mode": "parallel"}
    assert found["retry_policy"] == {"maxRetries": 1, "backoffMs": 5}
    assert found["failure_policy"] == {"mode": "isolate"}
    assert scenario.tick(at(5)) == 1


@pytest.mark.parametrize("how", ["upsert", "patch"])
def test_what_is_cleared_is_left_out_again(scenario: Scenario, how: str) -> None:
    own = assignment(scenario, queue={"mode": "serial"})
    schedule = scenario.make_schedule(workflow_assignment_id=own, queue_policy={"mode": "parallel"})
    assert scenario.schedule(schedule).max_in_flight is None
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        if how == "upsert":
            conn.execute(
                "select public.fn_upsert_workflow_schedule(p_workflow_id => %s, p_schedule_id => %s,"
                " p_workflow_assignment_id => %s)",
                [scenario.workflow, schedule, own],
            )
        else:
            conn.execute(
                "select public.fn_patch_workflow_schedule(%s, '{\"queue_policy\": null}')",
                [schedule],
            )
    row = scenario.schedule(schedule)
    assert (row.max_in_flight, row.queue_policy) == (1, {"mode": "parallel"})


def test_of_approval_the_stricter_holds(scenario: Scenario) -> None:
    def run_of(own: dict[str, Any], theirs: dict[str, Any]) -> Any:
        schedule = scenario.make_schedule(
            approval_policy=own, workflow_assignment_id=assignment(scenario, approval=theirs)
        )
        scenario.tick(at(0))
        return scenario.runs(schedule)[0]

    free, asks = {"requiresApproval": False}, {"requiresApproval": True}
    assert run_of(free, free).status == "pending"
    for own, theirs in [(free, asks), (asks, free), (free, {"gates": ["pay"]}), ({}, free)]:
        run = run_of(own, theirs)
        assert run.status == "pending_approval"
        assert run.policies["approval_policy"]["requiresApproval"] is True
    run = run_of(free | {"gates": ["pay"]}, free | {"gates": ["mail", "pay"]})
    assert run.policies["approval_policy"] == free | {"gates": ["mail", "pay"]}
    run = run_of(asks, asks | {"expiresAfterMs": 60000, "mode": "on_block"})
    assert run.policies["approval_policy"]["mode"] == "on_block"
    assert run.approval_expires_at == at(1)


def test_run_now_backfill_and_a_run_by_hand_carry_them_too(scenario: Scenario) -> None:
    own = assignment(scenario, retry={"maxRetries": 0}, queue={"mode": "serial", "priority": 7})
    schedule = scenario.make_schedule("0 * * * *", workflow_assignment_id=own, start_at=None)
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        conn.execute("select public.fn_run_workflow_schedule_now(%s)", [schedule])
        conn.execute(
            "select public.fn_backfill_schedule(%s, now() - interval '2 hours')", [schedule]
        )
    scenario._insert(
        "lenses.workflow_runs", {"workflow_id": scenario.workflow, "schedule_id": schedule}
    )
    runs = scenario.runs(schedule)
    assert len(runs) == 4
    for run in runs:
        assert run.policies["retry_policy"] == {"maxRetries": 0}
        assert run.policies["queue_policy"] == {"mode": "serial", "priority": 7}
        assert run.priority == 7


def test_a_schedule_follows_a_change_of_its_assignment(scenario: Scenario) -> None:
    own = assignment(scenario)
    schedule = scenario.make_schedule("* * * * *", workflow_assignment_id=own)
    assert scenario.play(at(0), at(1)) == 2
    change = "update agents.workflow_assignments set queue_policy = %s where id = %s"
    scenario.db.execute(change, [Jsonb({"mode": "serial", "onOverlap": "queue"}), own])
    assert scenario.tick(at(2)) == 0
    assert scenario.schedule(schedule).last_dispatch_status == "deferred"
    scenario.db.execute(change, [Jsonb({"mode": "parallel"}), own])
    assert scenario.tick(at(4)) > 0


def test_a_contradiction_of_both_is_refused_where_it_is_spelled_out(scenario: Scenario) -> None:
    own = assignment(scenario, queue={"mode": "serial", "onMissed": "backfill"})
    with pytest.raises(errors.InvalidParameterValue, match='onOverlap "skip" contradicts'):
        scenario.make_schedule(workflow_assignment_id=own, queue_policy={"onOverlap": "skip"})
    later = assignment(scenario)
    schedule = scenario.make_schedule(
        workflow_assignment_id=later, queue_policy={"onOverlap": "skip", "onMissed": "backfill"}
    )
    scenario.db.execute(
        "update agents.workflow_assignments set queue_policy = %s where id = %s",
        [Jsonb({"mode": "serial"}), later],
    )
    assert scenario.schedule(schedule).on_overlap == "queue"
    fallback = assignment(
        scenario, failure={"mode": "fallback", "fallbackAssigneeId": str(scenario.make_agent())}
    )
    schedule = scenario.make_schedule(
        workflow_assignment_id=fallback, failure_policy={"mode": "halt"}
    )
    assert policies_of_the_next_run(scenario, schedule)["failure_policy"] == {"mode": "halt"}


def test_the_servers_default_mode(scenario: Scenario) -> None:
    left_out = scenario.make_schedule("* * * * *")
    limited = scenario.make_schedule("* * * * *", queue_policy={"maxConcurrency": 2, "priority": 1})
    spelled = scenario.make_schedule("* * * * *", queue_policy={"mode": "parallel"})
    by_assignment = scenario.make_schedule(
        "* * * * *", workflow_assignment_id=assignment(scenario, queue={"mode": "parallel"})
    )
    by_empty_assignment = scenario.make_schedule(
        "* * * * *", workflow_assignment_id=assignment(scenario)
    )
    setting(scenario, default_queue_mode="serial")
    assert scenario.violations() == []
    later = scenario.make_schedule("* * * * *")
    scenario.play(at(0), at(2))
    serial, parallel = minutes(0), minutes(0, 1, 2)
    assert [
        scenario.slots(one)
        for one in (left_out, limited, spelled, by_assignment, by_empty_assignment, later)
    ] == [serial, serial, parallel, parallel, serial, serial]
    assert scenario.skips(left_out) == [("overlap_in_flight", at(1)), ("overlap_in_flight", at(2))]
    assert scenario.runs(left_out)[0].policies["queue_policy"] == {"mode": "serial"}
    assert scenario.runs(limited)[0].policies["queue_policy"]["mode"] == "serial"
    setting(scenario, default_queue_mode="parallel")
    scenario.tick(at(3))
    assert scenario.slots(left_out) == minutes(0, 3)


def test_the_other_defaults_hold_for_schedules_that_leave_the_key_out(scenario: Scenario) -> None:
    setting(scenario, default_on_overlap="queue", default_on_missed="run_once", default_jitter_ms=7)
    out = scenario.make_schedule("* * * * *", queue_policy={"mode": "serial"})
    said = scenario.make_schedule(
        "* * * * *",
        queue_policy={"mode": "serial", "onOverlap": "skip", "onMissed": "skip"},
        jitter_ms=0,
    )
    assert (scenario.schedule(out).jitter_ms, scenario.schedule(said).jitter_ms) == (7, 0)
    scenario.set(out, jitter_ms=0)
    assert scenario.play(at(0), at(1)) == 2
    assert (scenario.skips(out), scenario.schedule(out).is_deferred) == ([], True)
    assert scenario.skips(said) == [("overlap_in_flight", at(1))]
    missed = scenario.make_schedule("* * * * *", next_run_at=at(3))
    dropped = scenario.make_schedule(
        "* * * * *", next_run_at=at(3), queue_policy={"onMissed": "skip"}
    )
    scenario.tick(at(20))
    assert scenario.slots(missed)[0] > at(3)
    assert scenario.runs(missed)[0].metadata == {"missed": True}
    assert [run for run in scenario.runs(dropped) if run.metadata] == []


def test_what_a_restore_left_is_mended(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(
        workflow_assignment_id=assignment(scenario, queue={"mode": "serial"})
    )
    with scenario.db.transaction():
        scenario.db.execute("set local session_replication_role = replica")
        scenario.db.execute("alter table lenses.workflow_schedules disable trigger user")
        scenario.set(schedule, max_in_flight=None)
        scenario.db.execute("alter table lenses.workflow_schedules enable trigger user")
    assert [row.invariant for row in scenario.violations()] == ["limits_of_policies"]
    scenario.db.execute("select lenses.fn_recount()")
    assert scenario.schedule(schedule).max_in_flight == 1


def test_an_upgrade_gives_schedules_the_limits_of_their_assignments(scenario: Scenario) -> None:
    """Its recount looks at schedules where an assignment is, and only where nothing is counted yet."""
    schedule = scenario.make_schedule(
        workflow_assignment_id=assignment(scenario, queue={"mode": "serial"})
    )
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.set(schedule, max_in_flight=None)
    scenario.db.execute("select lenses.fn_recount(true)")
    assert [row.invariant for row in scenario.violations()] == ["limits_of_policies"]
    scenario.db.execute("delete from lenses.run_counts; delete from lenses.lenser_usage")
    scenario.db.execute("select lenses.fn_recount(true)")
    assert scenario.violations() == []
    assert scenario.schedule(schedule).max_in_flight == 1
