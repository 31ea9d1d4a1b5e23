"""Runs that wait for their available_at: they cost a claim nothing, and come in their order when it is time."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.support.database import Database
from tests.support.run_scenario import RunScenario

HOUR = timedelta(hours=1)


def wait(scenario: RunScenario, n: int, available: str, priority: int = 0) -> None:
    """`n` runs that are older than all others, and available then."""
    with scenario.db.transaction():
        scenario.db.execute("set local role lf_sql_engine")
        scenario.db.execute(
            "insert into lenses.workflow_runs (lenser_id, workflow_id, workflow_version, "
            f"idempotency_key, priority, available_at, created_at) select %s, %s, 1, "
            f"gen_random_uuid()::text, %s, {available}, now() - interval '5 hours' "
            "from generate_series(1, %s)",
            [scenario.tenant.id, scenario.workflow, priority, n],
        )
        scenario.db.execute("reset role")


def touched(db: Database) -> int:
    """Runs that this session has read, by index or not."""
    db.execute("select pg_stat_force_next_flush()")
    return db.value(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_user_tables "
        "where relname = 'workflow_runs'"
    )


def by_order(scenario: RunScenario, *, at_most: datetime | None = None) -> list[UUID]:
    """What is pending and available, by priority, then age, then slot."""
    return scenario.db.column(
        "select id from lenses.workflow_runs where status = 'pending' "
        "and (available_at is null or available_at <= coalesce(%s, now())) "
        "order by priority desc, created_at, scheduled_for, id",
        [at_most],
    )


@pytest.mark.parametrize("limit", [1, 50])
def test_what_waits_costs_a_claim_nothing(
    scenario: RunScenario, limit: int, committed: None
) -> None:
    for _ in range(3 * limit):
        scenario.run()
    scenario.claim(limit=limit)
    before = touched(scenario.db)
    scenario.claim(limit=limit)
    alone = touched(scenario.db) - before
    wait(scenario, 20_000, "now() + interval '1 hour'", priority=5)
    scenario.db.execute("analyze lenses.workflow_runs")
    before = touched(scenario.db)
    assert len(scenario.claim(limit=limit)) == limit
    beside = touched(scenario.db) - before
    assert alone > 0
    assert beside <= 2 * alone


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_both_queues_are_one_order(scenario: RunScenario, limit: int) -> None:
    rng = random.Random(limit)
    now = datetime.now(UTC)
    for _ in range(40):
        scenario.run(
            priority=rng.choice([0, 0, 1, -1]),
            created_at=now - HOUR + timedelta(seconds=rng.randrange(20)),
            scheduled_for=rng.choice([None, now, now - HOUR]),
            available_at=rng.choice([None, now - timedelta(seconds=rng.randrange(60)), now + HOUR]),
        )
    order = by_order(scenario)
    assert 10 < len(order) < 40
    found: list[UUID] = []
    while part := scenario.claimed(limit=limit):
        found += part
    assert found == order


def test_a_claim_shows_when_a_run_was_available(scenario: RunScenario) -> None:
    when = datetime.now(UTC) - HOUR
    run = scenario.run(available_at=when)
    assert [(row.id, row.available_at) for row in scenario.claim()] == [(run, when)]


def test_a_run_is_held_to_its_schedules_limit_in_both_queues(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(queue_policy={"mode": "parallel", "maxConcurrency": 2})
    past = datetime.now(UTC) - timedelta(minutes=1)
    first, second, third = (
        scenario.run(schedule, available_at=available) for available in (past, None, past)
    )
    other = scenario.run()
    assert scenario.claimed(limit=10) == [first, second, other]
    scenario.complete(first)
    assert scenario.claimed(limit=10) == [third]


def test_many_whose_time_came_at_once_are_moved_over_by_the_tick(scenario: RunScenario) -> None:
    """None is lost, none is claimed twice; those that become available later are left."""
    wait(scenario, 2500, "now() - interval '1 second'")
    wait(scenario, 3, "now() + interval '1 hour'")
    urgent = scenario.run(priority=9)
    assert scenario.claimed() == [urgent]
    assert scenario.db.value("select lenses.fn_ready_runs(now(), 2000)") == 2000
    assert scenario.db.value("select lenses.fn_ready_runs(now(), 2000)") == 0
    order = by_order(scenario)
    assert len(order) == 2500
    found: list[UUID] = []
    while part := scenario.claimed(limit=500):
        found += part
    assert found == order


def test_the_tick_leaves_alone_what_a_claim_sees(scenario: RunScenario) -> None:
    when = datetime.now(UTC) - timedelta(minutes=1)
    run = scenario.run(available_at=when)
    scenario.tick(datetime.now(UTC))
    assert scenario.row(run).available_at == when


def test_the_tick_moves_over_what_a_claim_does_not_see(scenario: RunScenario) -> None:
    """Piece by piece, until a claim sees what is left."""
    wait(scenario, 2500, "now() - interval '1 second'")
    scenario.tick(datetime.now(UTC) + timedelta(seconds=1))
    left = scenario.db.value(
        "select count(*) from lenses.workflow_runs where available_at is not null"
    )
    assert 0 < left <= 1000
    order = by_order(scenario)
    assert len(order) == 2500
    found: list[UUID] = []
    while part := scenario.claimed(limit=500):
        found += part
    assert found == order
