"""What a session has planned while a table was empty must serve it when the table is full."""

from __future__ import annotations

from tests.support.scenario import Scenario, at


def test_slots_are_looked_up_by_their_schedule(scenario: Scenario, committed: None) -> None:
    """No statistics say how many runs there are: the planner must not take the index that orders a
    workflow's runs for one of slots, and read all of it for each."""
    scenario.db.execute("vacuum analyze lenses.workflow_runs")
    for _ in range(20):
        scenario.make_schedule("*/5 * * * *")
    for minute in (0, 5, 10):
        assert scenario.tick(at(minute)) == 20
    scenario.db.execute("select pg_stat_force_next_flush()")
    scenario.db.execute("select pg_stat_clear_snapshot()")
    read = "select idx_scan from pg_stat_user_indexes where indexrelname = %s"
    assert scenario.db.value(read, ["workflow_runs_newest_idx"]) == 0
    assert scenario.db.value(read, ["workflow_runs_schedule_id_scheduled_for_key"]) >= 60
