"""What has expired."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.database import wait_until
from tests.support.run_scenario import RunScenario


@pytest.mark.parametrize(("retries", "status"), [(1, "pending"), (0, "timed_out")])
def test_an_expired_lease_is_a_failure_of_cause_timeout(
    scenario: RunScenario, retries: int, status: str
) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(schedule, policies=scenario.policies(retry={"maxRetries": retries}))
    scenario.claim("dead")
    assert scenario.reap() == 0
    scenario.let_lease_expire(run)
    assert scenario.reap() == 1
    row = scenario.row(run)
    assert (row.status, row.lease_expires_at) == (status, None)
    if status == "pending":
        assert row.metadata["last_failure"]["cause"] == "timeout"
        assert scenario.event(run, "run.retried")["cause"] == "timeout"
    else:
        assert row.metadata["result"]["cause"] == "timeout"
        assert 'worker "dead"' in row.metadata["result"]["error"]
        assert scenario.schedule(schedule).last_result == row.metadata["result"]
    assert scenario.reap() == 0


def test_a_timeout_that_is_not_retried(scenario: RunScenario) -> None:
    run = scenario.run(
        policies=scenario.policies(retry={"maxRetries": 9, "retryOn": ["rate_limit"]})
    )
    scenario.claim()
    scenario.let_lease_expire(run)
    assert scenario.reap() == 1
    assert scenario.row(run).status == "timed_out"


def test_times_are_the_callers(scenario: RunScenario) -> None:
    """The tick's clock, not the server's."""
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 1, "backoffMs": 60_000}))
    scenario.claim()
    later = datetime(2030, 1, 1, tzinfo=UTC)
    assert scenario.db.value("select lenses.fn_reap_runs(%s)", [later]) == 1
    row = scenario.row(run)
    assert timedelta(seconds=45) <= row.available_at - later <= timedelta(seconds=75)
    assert (
        scenario.db.value(
            "select occurred_at from lenses.workflow_run_events where run_id = %s and seq = 3",
            [run],
        )
        == later
    )
    scenario.make_available(run)


def test_a_thousand_at_most(scenario: RunScenario) -> None:
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, policies, approval_expires_at, status) "
        "select %s, '{}', now() - interval '1 second', 'pending_approval' "
        "from generate_series(1, 1001)",
        [scenario.workflow],
    )
    assert [scenario.reap(), scenario.reap(), scenario.reap()] == [1000, 1, 0]


def test_leaves_what_somebody_holds_for_the_next_time(
    committed: None, scenario: RunScenario
) -> None:
    free, held = scenario.run(), scenario.run()
    schedule = scenario.make_schedule()
    held_by_schedule = scenario.run(schedule)
    scenario.claim(limit=3)
    for run in (free, held, held_by_schedule):
        scenario.let_lease_expire(run)
    with scenario.db.another() as other, other.transaction():
        other.execute("select from lenses.workflow_runs where id = %s for update", [held])
        other.execute("select from lenses.workflow_schedules where id = %s for update", [schedule])
        assert scenario.reap() == 1
        assert scenario.row(free).status == "pending"
    assert scenario.reap() == 2


def test_a_real_lease_runs_out(committed: None, scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim("dead", lease=timedelta(milliseconds=300))
    assert scenario.claimed("alive") == []
    wait_until(lambda: scenario.claimed("alive") == [run], what="the run comes back")
    assert not scenario.complete(run, "dead")
    assert scenario.complete(run, "alive")


def test_a_day_is_a_day_before_a_clock_is_turned(scenario: RunScenario) -> None:
    """In the caller's zone the clocks go forward within the next day."""
    run = scenario.run()
    scenario.claimed()
    tomorrow = scenario.db.value("select (now() at time zone 'UTC')::date + 1")
    weekday = tomorrow.isoweekday() % 7
    week = (tomorrow.day - 1) // 7 + 1
    zone = f"AAA0BBB,M{tomorrow.month}.{week}.{weekday}/0,M{(tomorrow.month + 6) % 12 + 1}.1.0/0"
    scenario.db.execute("select set_config('timezone', %s, false)", [zone])
    try:
        assert not scenario.db.value(
            "select now() + interval '24 hours' <= now() + interval '1 day'"
        )
        day = timedelta(hours=24)
        assert scenario.heartbeat(run, lease=day)
        scenario.claim(lease=day)
        for query in (
            "select agents.fn_heartbeat_gateway_cron_run(gen_random_uuid(), 'w', %s)",
            "select count(*) from agents.fn_claim_gateway_cron_runs('w', 1, %s)",
            "select lenses.fn_fail_event(0, 'w', 'e', %s)",
        ):
            assert not scenario.db.value(query, [day])
    finally:
        scenario.db.execute("reset timezone")
