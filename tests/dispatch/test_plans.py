"""What a session has planned while a table was empty must serve it when the table is full."""

from __future__ import annotations

from tests.dispatch.conftest import House, at


def test_slots_are_looked_up_by_their_schedule(house: House) -> None:
    """No statistics say how many runs there are: the planner must not take the index that orders a
    workflow's runs for one of slots, and read all of it for each."""
    house.db.execute("vacuum analyze lenses.workflow_runs")
    for _ in range(20):
        house.make_schedule("*/5 * * * *")
    for minute in (0, 5, 10):
        assert house.tick(at(minute)) == 20
    house.db.execute("select pg_stat_force_next_flush()")
    house.db.execute("select pg_stat_clear_snapshot()")
    read = "select idx_scan from pg_stat_user_indexes where indexrelname = %s"
    assert house.db.value(read, ["workflow_runs_newest_idx"]) == 0
    assert house.db.value(read, ["workflow_runs_schedule_id_scheduled_for_key"]) >= 60
