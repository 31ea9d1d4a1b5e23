"""What a call of an executor reads depends on its own run, not on how many others wait or run."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from tests.support.run_scenario import RunScenario

OTHERS = 1000
MANY = 50
URGENCIES = itertools.count(1)  # what an earlier test has rolled back must not stand in front

CALLS: dict[str, Callable[[RunScenario, UUID], object]] = {
    "heartbeat": lambda scenario, run: scenario.heartbeat(run),
    "append": lambda scenario, run: scenario.append(run, "node.done"),
    "complete": lambda scenario, run: scenario.complete(run),
    "fail": lambda scenario, run: scenario.fail(run),
    "cancel": lambda scenario, run: scenario.cancel(run),
}


def reads(scenario: RunScenario) -> int:
    """Rows of the run table that the current transaction has read so far, in indexes or the table."""
    return scenario.db.value(
        "select (seq_tup_read + idx_tup_fetch + "
        "(select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index "
        "where indrelid = relid))::bigint "
        "from pg_stat_xact_user_tables where relid = 'lenses.workflow_runs'::regclass"
    )


@pytest.fixture
def queue(scenario: RunScenario) -> None:
    """A thousand runs that wait, and statistics that know of no other."""
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, priority, policies) "
        'select %s, %s, \'{"approval_policy": {"requiresApproval": false}}\' from generate_series(1, %s)',
        [scenario.workflow, next(URGENCIES), OTHERS],
    )
    scenario.db.execute("analyze lenses.workflow_runs")


@pytest.fixture
def crowd(scenario: RunScenario, queue: None) -> list[UUID]:
    """A thousand runs that are running."""
    ids: list[UUID] = []
    while len(ids) < OTHERS:
        ids += [run.id for run in scenario.claim(limit=500, lease=timedelta(hours=1))]
    return ids


@pytest.mark.parametrize("call", CALLS)
def test_a_call_reads_its_own_run(scenario: RunScenario, crowd: list[UUID], call: str) -> None:
    with scenario.db.transaction():
        before = reads(scenario)
        assert CALLS[call](scenario, crowd[OTHERS // 2])
        read = reads(scenario) - before
        assert read <= MANY


@pytest.mark.parametrize("limit", [1, 2])
def test_a_claim_needs_no_statistics(committed: None, scenario: RunScenario, limit: int) -> None:
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, priority, created_at, policies) "
        "select %s, %s, now() - n * interval '1 millisecond', "
        '\'{"approval_policy": {"requiresApproval": false}}\' from generate_series(1, %s) as n',
        [scenario.workflow, next(URGENCIES), OTHERS],
    )
    with scenario.db.transaction():
        before = reads(scenario)
        assert len(scenario.claim(limit=limit)) == limit
        read = reads(scenario) - before
        assert read <= MANY


def test_a_claim_reads_the_head_of_the_queue(scenario: RunScenario, queue: None) -> None:
    with scenario.db.transaction():
        before = reads(scenario)
        assert len(scenario.claim()) == 1
        read = reads(scenario) - before
        assert read <= MANY


def test_a_claim_of_a_limited_schedule_reads_its_own_runs(
    scenario: RunScenario, queue: None
) -> None:
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    run = scenario.run(schedule, priority=10**6)
    with scenario.db.transaction():
        before = reads(scenario)
        assert scenario.claimed() == [run]
        read = reads(scenario) - before
        assert read <= MANY


def test_a_claim_of_a_limited_schedule_does_not_read_its_backlog(
    committed: None, scenario: RunScenario
) -> None:
    """In a database of its own: what other tests have rolled back is read as well."""
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, priority, policies) "
        'select %s, %s, %s, \'{"approval_policy": {"requiresApproval": false}}\' '
        "from generate_series(1, %s)",
        [scenario.workflow, schedule, next(URGENCIES), OTHERS],
    )
    with scenario.db.transaction():
        before = reads(scenario)
        assert len(scenario.claim()) == 1
        read = reads(scenario) - before
        assert read <= MANY
