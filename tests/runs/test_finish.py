"""How a run ends, and what its schedule learns of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.support.database import as_user, make_tenant
from tests.support.run_scenario import RunScenario, said
from tests.support.scenario import at


def test_completion_fills_run_and_schedule(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(schedule)
    scenario.claim()
    assert scenario.complete(run, result={"words": 7}, spent="1.25")
    row = scenario.row(run)
    assert (row.status, row.metadata["result"], float(row.spent_credits)) == (
        "completed", {"words": 7}, 1.25,
    )  # fmt: skip
    assert row.lease_expires_at is None
    assert row.completed_at >= row.started_at
    saved = scenario.schedule(schedule)
    assert (saved.last_result, saved.last_completed_at) == ({"words": 7}, row.completed_at)
    assert scenario.events(run) == [(1, "run.created"), (2, "run.started"), (3, "run.completed")]


@pytest.mark.parametrize("result", [None, [], "text", 3, {"a": {"b": [1, 2]}}])
def test_any_json_is_a_result(scenario: RunScenario, result: Any) -> None:
    run = scenario.run()
    scenario.claim()
    assert scenario.complete(run, result=result)
    assert scenario.row(run).metadata == {"result": result}


def test_a_run_without_schedule_ends_too(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim()
    assert scenario.complete(run, result=1)


def test_only_the_holder_of_the_lease_finishes(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim("mine")
    for tried in (
        scenario.complete(run, "another", result=1),
        scenario.fail(run, "another"),
        scenario.heartbeat(run, "another"),
        scenario.append(run, "node.done", worker="another"),
        scenario.complete(uuid4(), "mine"),
        scenario.fail(uuid4(), "mine"),
        scenario.heartbeat(uuid4(), "mine"),
        scenario.cancel(uuid4()),
    ):
        assert tried is False
    assert scenario.row(run).status == "running"
    assert scenario.complete(run, "mine")


def test_a_lease_that_ran_out_is_lost_before_it_is_reaped(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim()
    scenario.let_lease_expire(run)
    before = scenario.row(run)
    assert not scenario.complete(run, result="late")
    assert not scenario.fail(run)
    assert not scenario.heartbeat(run)
    assert not scenario.append(run, "node.done")
    assert scenario.row(run) == before


def test_a_late_completion_does_not_touch_the_next_attempt(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim("dead")
    scenario.let_lease_expire(run)
    assert [found.id for found in scenario.claim("alive")] == [run]
    assert not scenario.complete(run, "dead", result="late")
    assert scenario.complete(run, "alive", result="good")
    assert scenario.row(run).metadata["result"] == "good"


def test_what_is_over_stays_over(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim()
    assert scenario.complete(run, result=1)
    before = scenario.row(run)
    assert not scenario.complete(run, result=2)
    assert not scenario.fail(run)
    assert not scenario.heartbeat(run)
    assert not scenario.cancel(run)
    assert scenario.row(run) == before


def test_a_heartbeat_extends_the_lease(scenario: RunScenario) -> None:
    run = scenario.run()
    (claimed,) = scenario.claim(lease=timedelta(seconds=30))
    assert scenario.heartbeat(run, lease=timedelta(minutes=10))
    extended = scenario.row(run).lease_expires_at - claimed.lease_expires_at
    assert timedelta(minutes=5) <= extended < timedelta(minutes=10)
    assert scenario.events(run)[-1] == (2, "run.started")


def test_a_result_that_is_too_large_changes_nothing(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim()
    with scenario.refused("22023", "p_result is larger"):
        scenario.complete(run, result="x" * 1_100_000)
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    with scenario.refused("22023", "p_result is nested"):
        scenario.complete(run, result=deep)
    with scenario.refused("22P05"):
        scenario.complete(run, result="a\0b")
    assert scenario.row(run).status == "running"
    assert scenario.complete(run, result="x")


@pytest.mark.parametrize("spent", ["-1", "NaN", "Infinity"])
def test_credits_are_a_number_from_zero_on(scenario: RunScenario, spent: str) -> None:
    run = scenario.run()
    scenario.claim()
    with scenario.refused("22023", "p_spent_credits"):
        scenario.complete(run, spent=spent)
    assert scenario.complete(run, spent="0.5")


def test_cancelling_ends_a_run_wherever_it_is(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    waiting, pending, running = (
        scenario.run(schedule, policies={"approval_policy": {"requiresApproval": True}}),
        scenario.run(schedule, priority=-1),
        scenario.run(schedule),
    )
    assert scenario.claimed() == [running]
    for run in (waiting, pending, running):
        assert scenario.cancel(run) is True
        row = scenario.row(run)
        assert row.status == "cancelled"
        assert row.metadata["result"] == {
            "status": "cancelled",
            "cause": "cancelled",
            "error": None,
        }
        assert scenario.schedule(schedule).last_result == row.metadata["result"]
        assert scenario.events(run)[-1][1] == "run.cancelled"
    assert scenario.team_run(waiting).approval_status == "rejected"
    assert not scenario.complete(running)


def test_an_owner_cancels_his_own_by_rpc(scenario: RunScenario) -> None:
    run = scenario.run()
    stranger = make_tenant(scenario.db)
    errors = []
    for unknown in (run, uuid4()):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
            as_user(scenario.db, stranger, "authenticated") as conn,
        ):
            conn.execute("select public.fn_cancel_workflow_run(%s)", [unknown])
        errors.append(said(caught.value))
    assert errors[0] == errors[1]
    with scenario.refused("42501"), as_user(scenario.db, None, "authenticated") as conn:
        conn.execute("select public.fn_cancel_workflow_run(%s)", [run])
    assert scenario.row(run).status == "pending"
    with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
        assert conn.value("select public.fn_cancel_workflow_run(%s)", [run]) is True
        assert conn.value("select public.fn_cancel_workflow_run(%s)", [run]) is False
    other = scenario.run()
    with as_user(scenario.db, None, "service_role") as conn:
        assert conn.value("select public.fn_cancel_workflow_run(%s)", [other]) is True


def test_a_deferred_slot_is_looked_at_when_a_run_ends(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(
        "*/5 * * * *", queue_policy={"mode": "serial", "onOverlap": "queue"}
    )
    assert scenario.tick(at(0)) == 1
    assert scenario.tick(at(5)) == 0
    saved = scenario.schedule(schedule)
    assert saved.last_dispatch_status == "deferred"
    (run,) = scenario.claimed()
    scenario.db.execute(
        "update lenses.workflow_schedules set description = 'x' where id = %s", [schedule]
    )
    assert scenario.complete(run)
    woken = scenario.schedule(schedule)
    assert woken.due_at < saved.due_at
    assert woken.due_at == woken.last_completed_at
    assert scenario.tick(at(5.1)) == 1


FAIL = "select lenses.fn_fail_workflow_run(%s, 'w', 'x', 'y', p_retry_after => %s, p_final => %s)"


@pytest.mark.parametrize(
    ("backoff", "after", "least"), [(0, 90, 90), (400_000, 90, 300), (1000, 86_400, 86_400)]
)
def test_another_attempt_waits_for_the_longer_of_policy_and_request(
    scenario: RunScenario, backoff: int, after: int, least: int
) -> None:
    policies = scenario.policies(retry={"maxRetries": 1, "backoffMs": backoff})
    run = scenario.run(policies=policies)
    scenario.claim()
    assert scenario.db.value(FAIL, [run, timedelta(seconds=after), False])
    assert scenario.db.value(
        "select available_at - now() >= %s from lenses.workflow_runs where id = %s",
        [timedelta(seconds=least), run],
    )


def test_what_is_final_is_not_tried_again_and_the_failure_policy_follows(
    scenario: RunScenario,
) -> None:
    schedule = scenario.make_schedule(
        retry_policy={"maxRetries": 5}, failure_policy={"mode": "halt"}
    )
    run = scenario.run(schedule)
    scenario.claim()
    assert scenario.db.value(FAIL, [run, timedelta(seconds=5), True])
    assert (scenario.row(run).status, scenario.row(run).attempt) == ("failed", 1)
    assert scenario.schedule(schedule).paused_at is not None


@pytest.mark.parametrize("after", ["-1 second", "25 hours", "1 month -31 days"])
def test_a_pause_that_makes_no_sense_is_refused(scenario: RunScenario, after: str) -> None:
    run = scenario.run()
    scenario.claim()
    with scenario.refused("22023", "p_retry_after must be"):
        scenario.db.execute(
            FAIL.replace("p_retry_after => %s", "p_retry_after => %s::interval"),
            [run, after, False],
        )
    assert scenario.row(run).status == "running"


def test_a_pause_is_so_long_in_every_time_zone(scenario: RunScenario) -> None:
    """The clock of this session goes forward half a day from now; a day is 24 hours all the same."""
    turn = datetime.now(UTC) + timedelta(hours=12)
    day = turn.timetuple().tm_yday - 1
    scenario.db.execute(
        "select set_config('timezone', %s, true)",
        [f"AAA0BBB,{day}/{turn.hour},{(day + 100) % 365}/0"],
    )
    run = scenario.run()
    scenario.claim()
    fail = FAIL.replace("p_retry_after => %s", "p_retry_after => %s::interval")
    assert scenario.db.value(fail, [run, "86400 seconds", False])
    assert scenario.db.value(
        "select extract(epoch from available_at - now()) = 86400 from lenses.workflow_runs where id = %s",
        [run],
    )
