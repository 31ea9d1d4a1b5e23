"""What history goes, and what never does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.runs.world import World

LATER = datetime(2040, 1, 1, tzinfo=UTC)
TABLES = (
    "lenses.workflow_runs", "lenses.workflow_run_events", "agents.team_runs",
    "agents.agent_run_events", "agents.action_logs", "agents.approval_attempts",
)  # fmt: skip


def purge(world: World, now: datetime = LATER, limit: int = 100) -> int:
    total = 0
    while gone := world.db.value("select lenses.fn_purge_history_batch(%s, %s)", [now, limit]):
        total += gone
    return total


def counts(world: World) -> dict[str, Any]:
    return {table: world.db.value(f"select count(*)::int from {table}") for table in TABLES}


def old_story(world: World, count: int = 3) -> None:
    """Runs that are over, with everything that hangs on them, as they were long ago."""
    world.db.execute(
        "insert into lenses.workflow_runs (workflow_id, policies, status, created_at, completed_at) "
        "select %s, '{\"approval_policy\": {\"requiresApproval\": false}}', 'completed', "
        "'2026-01-01Z', '2026-01-01Z' from generate_series(1, %s)",
        [world.workflow, count],
    )
    world.db.execute(
        "insert into agents.action_logs (lenser_id, action_type, occurred_at) "
        "select %s, 'note', '2026-01-01Z' from generate_series(1, %s)",
        [world.tenant.id, count],
    )
    world.db.execute(
        "insert into agents.agent_run_events (lenser_id, event_type, occurred_at) "
        "select %s, 'note', '2026-01-01Z' from generate_series(1, %s)",
        [world.tenant.id, count],
    )


def test_what_is_over_goes_as_a_whole(world: World) -> None:
    old_story(world)
    before = counts(world)
    assert purge(world, datetime(2026, 3, 31, tzinfo=UTC)) == 0, "younger than the retention"
    assert counts(world) == before
    assert purge(world, datetime(2026, 4, 2, tzinfo=UTC)) == 12
    assert set(counts(world).values()) == {0}


def test_small_batches(world: World) -> None:
    old_story(world, 50)
    batch = world.db.value(
        "select lenses.fn_purge_history_batch(%s, 10)", [datetime(2026, 6, 1, tzinfo=UTC)]
    )
    assert batch == 2 * 2 + 10 + 10
    assert purge(world, datetime(2026, 6, 1, tzinfo=UTC), 10) == 200 - batch


def test_what_is_in_flight_stays_with_its_events(world: World) -> None:
    waiting = world.run(policies={}, created_at="2026-01-01Z")
    pending = world.run(created_at="2026-01-02Z")
    running = world.run(created_at="2026-01-01Z", priority=1)
    world.claim()
    purge(world, datetime(2026, 10, 1, tzinfo=UTC))
    for run, events in ((waiting, 1), (pending, 1), (running, 2)):
        assert len(world.events(run)) == events
    assert world.team_run(waiting).approval_status == "pending"


def test_young_evidence_stays_whatever_the_clock(world: World) -> None:
    """The audit's own trigger refuses even the retention what is younger than 31 days."""
    world.db.execute(
        "insert into agents.action_logs (lenser_id, action_type) values (%s, 'note')",
        [world.tenant.id],
    )
    with world.refused("42501", "append-only"):
        purge(world, LATER)


def test_purging_opens_no_slot_again(world: World) -> None:
    schedule = world.make_schedule("0 9 1 * *", next_run_at="2026-01-01 09:00Z")
    slot = datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert world.tick(slot) == 1
    (run,) = world.runs(schedule)
    world.db.execute("select lenses.fn_end_run(%s, 'cancelled', 'test', null, %s)", [run.id, slot])
    assert purge(world, datetime(2026, 6, 1, tzinfo=UTC)) > 0
    assert world.runs(schedule) == []
    for seconds in (10, -5):
        assert world.tick(slot + timedelta(seconds=seconds)) == 0
    assert world.runs(schedule) == []


def test_a_run_with_a_young_event_stays(world: World) -> None:
    """A run that was ended by hand today, as of long ago, holds nothing up."""
    old_story(world)
    run = world.run(created_at="2026-01-01Z")
    world.db.execute(
        "update lenses.workflow_runs set status = 'cancelled', completed_at = '2026-01-02Z' "
        "where id = %s",
        [run],
    )
    assert purge(world, world.db.value("select now()")) == 12
    assert world.row(run).status == "cancelled"


def test_the_procedure_commits_its_batches(committed: None, world: World) -> None:
    old_story(world, 600)
    world.db.execute("call lenses.sp_purge_history()")
    assert world.db.value("select count(*) from lenses.workflow_runs") in (0, 600)
    world.db.execute("update lenses.dispatch_settings set retention = '31 days'")
    world.db.execute("call lenses.sp_purge_history()")
    assert world.db.value("select count(*) from lenses.workflow_runs") == 0


@pytest.mark.parametrize("role", ["service_role", "authenticated", "anon"])
def test_no_request_purges(world: World, role: str) -> None:
    for query in (
        "select lenses.fn_purge_history_batch(now(), 10)",
        "call lenses.sp_purge_history()",
    ):
        with world.refused("42501"):
            world.db.execute(f"set local role {role}")
            world.db.execute(query)
