"""What a call of an executor reads depends on its own run, not on how many others wait or run."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from tests.runs.world import World

OTHERS = 1000
MANY = 50
URGENCIES = itertools.count(1)  # what an earlier test has rolled back must not stand in front

CALLS: dict[str, Callable[[World, UUID], object]] = {
    "heartbeat": lambda world, run: world.heartbeat(run),
    "append": lambda world, run: world.append(run, "node.done"),
    "complete": lambda world, run: world.complete(run),
    "fail": lambda world, run: world.fail(run),
    "cancel": lambda world, run: world.cancel(run),
}


def reads(world: World) -> int:
    """Rows of the run table that the current transaction has read so far, in indexes or the table."""
    return world.db.value(
        "select (seq_tup_read + idx_tup_fetch + "
        "(select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index "
        "where indrelid = relid))::bigint "
        "from pg_stat_xact_user_tables where relid = 'lenses.workflow_runs'::regclass"
    )


@pytest.fixture
def queue(world: World) -> None:
    """A thousand runs that wait, and statistics that know of no other."""
    world.db.execute(
        "insert into lenses.workflow_runs (workflow_id, priority, policies) "
        'select %s, %s, \'{"approval_policy": {"requiresApproval": false}}\' from generate_series(1, %s)',
        [world.workflow, next(URGENCIES), OTHERS],
    )
    world.db.execute("analyze lenses.workflow_runs")


@pytest.fixture
def crowd(world: World, queue: None) -> list[UUID]:
    """A thousand runs that are running."""
    ids: list[UUID] = []
    while len(ids) < OTHERS:
        ids += [run.id for run in world.claim(limit=500, lease=timedelta(hours=1))]
    return ids


@pytest.mark.parametrize("call", CALLS)
def test_a_call_reads_its_own_run(world: World, crowd: list[UUID], call: str) -> None:
    with world.db.transaction():
        before = reads(world)
        assert CALLS[call](world, crowd[OTHERS // 2])
        read = reads(world) - before
        assert read <= MANY


@pytest.mark.parametrize("limit", [1, 2])
def test_a_claim_needs_no_statistics(committed: None, world: World, limit: int) -> None:
    world.db.execute(
        "insert into lenses.workflow_runs (workflow_id, priority, created_at, policies) "
        "select %s, %s, now() - n * interval '1 millisecond', "
        '\'{"approval_policy": {"requiresApproval": false}}\' from generate_series(1, %s) as n',
        [world.workflow, next(URGENCIES), OTHERS],
    )
    with world.db.transaction():
        before = reads(world)
        assert len(world.claim(limit=limit)) == limit
        read = reads(world) - before
        assert read <= MANY


def test_a_claim_reads_the_head_of_the_queue(world: World, queue: None) -> None:
    with world.db.transaction():
        before = reads(world)
        assert len(world.claim()) == 1
        read = reads(world) - before
        assert read <= MANY


def test_a_claim_of_a_limited_schedule_reads_its_own_runs(world: World, queue: None) -> None:
    schedule = world.make_schedule(queue_policy={"mode": "serial"})
    run = world.run(schedule, priority=10**6)
    with world.db.transaction():
        before = reads(world)
        assert world.claimed() == [run]
        read = reads(world) - before
        assert read <= MANY


def test_a_claim_of_a_limited_schedule_does_not_read_its_backlog(world: World) -> None:
    schedule = world.make_schedule(queue_policy={"mode": "serial"})
    world.db.execute(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, priority, policies) "
        'select %s, %s, %s, \'{"approval_policy": {"requiresApproval": false}}\' '
        "from generate_series(1, %s)",
        [world.workflow, schedule, next(URGENCIES), OTHERS],
    )
    with world.db.transaction():
        before = reads(world)
        assert len(world.claim()) == 1
        read = reads(world) - before
        assert read <= MANY
