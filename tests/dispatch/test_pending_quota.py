"""A lenser whose runs wait in such numbers as his quota allows: his slots wait, nobody else's do."""

from __future__ import annotations

from datetime import timedelta

from tests.support.database import make_tenant
from tests.support.scenario import MONDAY, Scenario, at


def limit(scenario: Scenario, n: int | None) -> None:
    scenario.db.execute("update lenses.dispatch_settings set max_pending_runs_per_lenser = %s", [n])


def test_slots_beyond_the_quota_wait_and_are_no_error(scenario: Scenario) -> None:
    limit(scenario, 2)
    schedules = [scenario.make_schedule("0 9 * * *") for _ in range(4)]
    other = make_tenant(scenario.db)
    foreign = scenario.make_schedule("0 9 * * *", workflow_id=scenario.make_workflow(other))
    assert scenario.tick(MONDAY) == 3
    assert scenario.slots(foreign) == [MONDAY]
    waiting = [s for s in schedules if not scenario.slots(s)]
    assert len(waiting) == 2
    for schedule in waiting:
        row = scenario.schedule(schedule)
        assert row.last_dispatch_status == "deferred"
        assert (row.next_run_at, row.failure_count, row.last_error_at) == (MONDAY, 0, None)
        assert row.due_at > MONDAY
        assert scenario.skips(schedule) == []
    tick = scenario.db.row("select * from lenses.dispatch_ticks order by id desc limit 1")
    assert (tick.deferred, tick.failed, tick.skipped) == (2, 0, {})

    assert scenario.tick(at(1)) == 0
    for schedule in schedules:
        for run in scenario.runs(schedule):
            scenario.end(run.id)
    assert scenario.tick(at(2)) == 2
    assert [scenario.slots(s) for s in schedules] == [[MONDAY]] * 4


def test_slots_of_a_schedule_stay_in_order(scenario: Scenario) -> None:
    """What a calendar skips behind a slot that waits is logged once, when its turn has come."""
    calendar = scenario.make_calendar("skip_dates", "2027-03-03")
    schedule = scenario.make_schedule(
        "0 9 * * *", calendar_id=calendar, queue_policy={"onMissed": "backfill"}
    )
    limit(scenario, 1)
    later = MONDAY + timedelta(days=3)
    assert scenario.tick(later) == 1
    assert scenario.slots(schedule) == [MONDAY]
    for n in range(1, 4):
        scenario.tick(later + n * timedelta(minutes=1))
    assert scenario.skips(schedule) == []
    limit(scenario, None)
    scenario.play(later + timedelta(minutes=5), later + timedelta(minutes=6))
    wednesday = MONDAY + timedelta(days=2)
    assert scenario.slots(schedule) == [MONDAY, MONDAY + timedelta(days=1), later]
    assert scenario.skips(schedule) == [("calendar", wednesday)]


def test_what_waits_for_room_never_becomes_late(scenario: Scenario) -> None:
    limit(scenario, 1)
    first, second = (scenario.make_schedule("0 9 * * *") for _ in range(2))
    assert scenario.tick(MONDAY) == 1
    scenario.play(at(1), at(30))
    limit(scenario, None)
    assert scenario.tick(at(31)) == 1
    assert [scenario.slots(s) for s in (first, second)] == [[MONDAY]] * 2


def test_without_a_quota_nothing_waits(scenario: Scenario) -> None:
    for _ in range(5):
        scenario.make_schedule("0 9 * * *")
    assert scenario.tick(MONDAY) == 5
