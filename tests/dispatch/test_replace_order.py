"""A tick that replaces runs locks them in the order that executors do: by schedule, then by run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tests.support.database import wait_until_blocked
from tests.support.scenario import Scenario

REPLACE = {"mode": "serial", "onOverlap": "replace"}


def running(scenario: Scenario, schedule: UUID, run: str) -> UUID:
    """A run of the schedule, under way for two more hours."""
    columns = {"id": run, "workflow_id": scenario.workflow, "schedule_id": schedule}
    scenario._insert("lenses.workflow_runs", columns)
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "started_at = now(), lease_expires_at = now() + interval '2 hours' where id = %s", [run],
    )  # fmt: skip
    return UUID(run)


@pytest.mark.parametrize("is_first_of_first", [True, False])
def test_a_tick_that_replaces_and_heartbeats_never_deadlock(
    scenario: Scenario, is_first_of_first: bool, committed: None
) -> None:
    first, second = sorted(
        scenario.make_schedule("0 * * * *", start_at="2020-01-01Z", queue_policy=REPLACE)
        for _ in range(2)
    )
    ids = ["00000000-0000-4000-8000-000000000001", "ffffffff-ffff-4fff-bfff-ffffffffffff"]
    one, other = ids if is_first_of_first else reversed(ids)
    runs = [running(scenario, first, one), running(scenario, second, other)]
    at = scenario.db.value("select date_trunc('hour', now()) + interval '1 hour'")

    with (
        scenario.db.another() as holder,
        scenario.db.another() as ticker,
        scenario.db.another() as executor,
        ThreadPoolExecutor(2) as pool,
    ):
        with holder.transaction():
            holder.execute(
                "select from lenses.workflow_runs where id = %s for no key update", [runs[1]]
            )
            tick = pool.submit(
                ticker.value, "select lenses.fn_dispatch_scheduled_workflows(%s)", [at]
            )
            wait_until_blocked(scenario.db, ticker)
            beat = pool.submit(
                executor.column,
                "select lenses.fn_heartbeat_workflow_runs('w', %s, interval '2 hours')",
                [runs],
            )
            wait_until_blocked(scenario.db, executor)
        assert tick.result() == 2
        assert beat.result() == []
    for schedule in (first, second):
        assert [run.status for run in scenario.runs(schedule)] == ["pending", "cancelled"]
