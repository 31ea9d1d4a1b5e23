"""What a session has planned while a table was empty must serve it when the table is full."""

from __future__ import annotations

from tests.support.database import as_user
from tests.support.scenario import Scenario, at


def test_slots_are_looked_up_by_their_schedule(scenario: Scenario, committed: None) -> None:
    """No statistics say how many runs there are: the planner must not take the index that orders a
    workflow's runs for one of slots, and read all of it for each."""
    db = scenario.db
    db.execute("vacuum analyze lenses.workflow_runs")
    schedules = [scenario.make_schedule("*/5 * * * *", start_at="2020-01-01Z") for _ in range(20)]
    for minute in (0, 5, 10):
        assert scenario.tick(at(minute)) == 20
    for schedule in schedules:
        with as_user(db, scenario.tenant, "authenticated") as conn:
            done = conn.value(
                "select public.fn_backfill_schedule(%s, now() - interval '15 minutes', false, now())",
                [schedule],
            )
        assert done["dispatched"] >= 3
    db.execute("select pg_stat_force_next_flush()")
    db.execute("select pg_stat_clear_snapshot()")
    read = "select idx_scan from pg_stat_user_indexes where indexrelname = %s"
    assert db.value(read, ["workflow_runs_newest_idx"]) == 0
    assert db.value(read, ["workflow_runs_schedule_id_scheduled_for_key"]) >= 60
