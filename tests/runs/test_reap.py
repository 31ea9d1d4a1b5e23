"""What has expired."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.runs.world import World
from tests.support.database import wait_until


@pytest.mark.parametrize(("retries", "status"), [(1, "pending"), (0, "timed_out")])
def test_an_expired_lease_is_a_failure_of_cause_timeout(
    world: World, retries: int, status: str
) -> None:
    schedule = world.make_schedule()
    run = world.run(schedule, policies=world.policies(retry={"maxRetries": retries}))
    world.claim("dead")
    assert world.reap() == 0
    world.let_lease_expire(run)
    assert world.reap() == 1
    row = world.row(run)
    assert (row.status, row.lease_expires_at) == (status, None)
    if status == "pending":
        assert row.metadata["last_failure"]["cause"] == "timeout"
        assert world.event(run, "run.retried")["cause"] == "timeout"
    else:
        assert row.metadata["result"]["cause"] == "timeout"
        assert 'worker "dead"' in row.metadata["result"]["error"]
        assert world.schedule(schedule).last_result == row.metadata["result"]
    assert world.reap() == 0


def test_a_timeout_that_is_not_retried(world: World) -> None:
    run = world.run(policies=world.policies(retry={"maxRetries": 9, "retryOn": ["rate_limit"]}))
    world.claim()
    world.let_lease_expire(run)
    assert world.reap() == 1
    assert world.row(run).status == "timed_out"


def test_times_are_the_callers(world: World) -> None:
    """The tick's clock, not the server's."""
    run = world.run(policies=world.policies(retry={"maxRetries": 1, "backoffMs": 60_000}))
    world.claim()
    later = datetime(2030, 1, 1, tzinfo=UTC)
    assert world.db.value("select lenses.fn_reap_runs(%s)", [later]) == 1
    row = world.row(run)
    assert timedelta(seconds=45) <= row.available_at - later <= timedelta(seconds=75)
    assert (
        world.db.value(
            "select occurred_at from lenses.workflow_run_events where run_id = %s and seq = 3",
            [run],
        )
        == later
    )
    world.make_available(run)


def test_a_thousand_at_most(world: World) -> None:
    world.db.execute(
        "insert into lenses.workflow_runs (workflow_id, policies, approval_expires_at, status) "
        "select %s, '{}', now() - interval '1 second', 'pending_approval' "
        "from generate_series(1, 1001)",
        [world.workflow],
    )
    assert [world.reap(), world.reap(), world.reap()] == [1000, 1, 0]


def test_leaves_what_somebody_holds_for_the_next_time(committed: None, world: World) -> None:
    free, held = world.run(), world.run()
    schedule = world.make_schedule()
    held_by_schedule = world.run(schedule)
    world.claim(limit=3)
    for run in (free, held, held_by_schedule):
        world.let_lease_expire(run)
    with world.db.another() as other, other.transaction():
        other.execute("select from lenses.workflow_runs where id = %s for update", [held])
        other.execute("select from lenses.workflow_schedules where id = %s for update", [schedule])
        assert world.reap() == 1
        assert world.row(free).status == "pending"
    assert world.reap() == 2


def test_a_real_lease_runs_out(committed: None, world: World) -> None:
    run = world.run()
    world.claim("dead", lease=timedelta(milliseconds=300))
    assert world.claimed("alive") == []
    wait_until(lambda: world.claimed("alive") == [run], what="the run comes back")
    assert not world.complete(run, "dead")
    assert world.complete(run, "alive")
