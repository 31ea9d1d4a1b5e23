"""What history goes, and what never does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.run_scenario import RunScenario
from tests.support.setups import acting

LATER = datetime(2040, 1, 1, tzinfo=UTC)
TABLES = (
    "lenses.workflow_runs", "lenses.workflow_run_events", "agents.team_runs",
    "agents.agent_run_events", "agents.action_logs", "agents.approval_attempts",
)  # fmt: skip


def purge(scenario: RunScenario, now: datetime = LATER, limit: int = 100) -> int:
    total = 0
    while gone := scenario.db.value("select lenses.fn_purge_history_batch(%s, %s)", [now, limit]):
        total += gone
    return total


def counts(scenario: RunScenario) -> dict[str, Any]:
    return {table: scenario.db.value(f"select count(*)::int from {table}") for table in TABLES}


def old_story(scenario: RunScenario, count: int = 3) -> None:
    """Runs that are over, with everything that hangs on them, as they were long ago."""
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, policies, status, created_at, completed_at) "
        "select %s, '{\"approval_policy\": {\"requiresApproval\": false}}', 'completed', "
        "'2026-01-01Z', '2026-01-01Z' from generate_series(1, %s)",
        [scenario.workflow, count],
    )
    scenario.db.execute(
        "insert into agents.action_logs (lenser_id, action_type, occurred_at) "
        "select %s, 'note', '2026-01-01Z' from generate_series(1, %s)",
        [scenario.tenant.id, count],
    )
    scenario.db.execute(
        "insert into agents.agent_run_events (lenser_id, event_type, occurred_at) "
        "select %s, 'note', '2026-01-01Z' from generate_series(1, %s)",
        [scenario.tenant.id, count],
    )


def test_what_is_over_goes_as_a_whole(scenario: RunScenario) -> None:
    old_story(scenario)
    before = counts(scenario)
    assert purge(scenario, datetime(2026, 3, 31, tzinfo=UTC)) == 0, "younger than the retention"
    assert counts(scenario) == before
    assert purge(scenario, datetime(2026, 4, 2, tzinfo=UTC)) == 12
    assert set(counts(scenario).values()) == {0}


def test_the_history_of_a_deleted_tenant_goes_too(scenario: RunScenario) -> None:
    old_story(scenario)
    scenario.db.execute("delete from lenses.workflow_runs")
    scenario.db.execute("delete from lenses.workflows where id = %s", [scenario.workflow])
    scenario.db.execute("delete from lensers.profiles where id = %s", [scenario.tenant.id])
    assert counts(scenario)["lenses.workflow_run_events"] == 3
    assert purge(scenario, datetime(2026, 3, 31, tzinfo=UTC)) == 0, "younger than the retention"
    assert purge(scenario, datetime(2026, 4, 2, tzinfo=UTC), 1) == 9
    left = {"agents.action_logs": 1}  # that the workflow was deleted, now
    assert {table: count for table, count in counts(scenario).items() if count} == left


def test_small_batches(scenario: RunScenario) -> None:
    old_story(scenario, 50)
    batch = scenario.db.value(
        "select lenses.fn_purge_history_batch(%s, 10)", [datetime(2026, 6, 1, tzinfo=UTC)]
    )
    assert batch == 2 * 2 + 10 + 10
    assert purge(scenario, datetime(2026, 6, 1, tzinfo=UTC), 10) == 200 - batch


def test_what_is_in_flight_stays_with_its_events(scenario: RunScenario) -> None:
    waiting = scenario.run(policies={}, created_at="2026-01-01Z")
    pending = scenario.run(created_at="2026-01-02Z")
    running = scenario.run(created_at="2026-01-01Z", priority=1)
    scenario.claim()
    purge(scenario, datetime(2026, 10, 1, tzinfo=UTC))
    for run, events in ((waiting, 1), (pending, 1), (running, 2)):
        assert len(scenario.events(run)) == events
    assert scenario.team_run(waiting).approval_status == "pending"


def test_young_evidence_stays_whatever_the_clock(scenario: RunScenario) -> None:
    """The purge leaves what is younger than 31 days, and the audit's own trigger refuses its role."""
    scenario.db.execute(
        "insert into agents.action_logs (lenser_id, action_type) values (%s, 'note')",
        [scenario.tenant.id],
    )
    purge(scenario, LATER)
    left = "select count(*) from agents.action_logs where action_type = 'note'"
    assert scenario.db.value(left) == 1
    with scenario.refused("42501", "append-only"), acting(scenario.db, "lf_sql_engine"):
        scenario.db.execute("delete from agents.action_logs where action_type = 'note'")


def test_purging_opens_no_slot_again(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule("0 9 1 * *", next_run_at="2026-01-01 09:00Z")
    slot = datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert scenario.tick(slot) == 1
    (run,) = scenario.runs(schedule)
    scenario.db.execute(
        "select lenses.fn_end_run(%s, 'cancelled', 'test', null, %s)", [run.id, slot]
    )
    assert purge(scenario, datetime(2026, 6, 1, tzinfo=UTC)) > 0
    assert scenario.runs(schedule) == []
    for seconds in (10, -5):
        assert scenario.tick(slot + timedelta(seconds=seconds)) == 0
    assert scenario.runs(schedule) == []


def test_a_young_event_outlives_its_run(scenario: RunScenario) -> None:
    """A run that was ended by hand today, as of long ago, goes; the evidence of today stays."""
    old_story(scenario)
    run = scenario.run(created_at="2026-01-01Z")
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'cancelled', completed_at = '2026-01-02Z' "
        "where id = %s",
        [run],
    )
    assert purge(scenario, scenario.db.value("select now()")) == 12 + 2
    assert scenario.events(run) == [(2, "run.cancelled")]


def test_the_procedure_commits_its_batches(committed: None, scenario: RunScenario) -> None:
    old_story(scenario, 600)
    scenario.db.execute("call lenses.sp_purge_history()")
    assert scenario.db.value("select count(*) from lenses.workflow_runs") in (0, 600)
    scenario.db.execute("update lenses.dispatch_settings set retention = '31 days'")
    scenario.db.execute("call lenses.sp_purge_history()")
    assert scenario.db.value("select count(*) from lenses.workflow_runs") == 0


@pytest.mark.parametrize("role", ["service_role", "authenticated", "anon"])
def test_no_request_purges(scenario: RunScenario, role: str) -> None:
    for query in (
        "select lenses.fn_purge_history_batch(now(), 10)",
        "call lenses.sp_purge_history()",
    ):
        with scenario.refused("42501"):
            scenario.db.execute(f"set local role {role}")
            scenario.db.execute(query)
