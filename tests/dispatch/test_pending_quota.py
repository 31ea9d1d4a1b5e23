"""A lenser whose runs wait in such numbers as his quota allows: his slots wait, nobody else's do."""

from __future__ import annotations

from datetime import timedelta

from tests.dispatch.conftest import MONDAY, House, at
from tests.support.database import make_tenant


def limit(house: House, n: int | None) -> None:
    house.db.execute("update lenses.dispatch_settings set max_pending_runs_per_lenser = %s", [n])


def test_slots_beyond_the_quota_wait_and_are_no_error(house: House) -> None:
    limit(house, 2)
    schedules = [house.make_schedule("0 9 * * *") for _ in range(4)]
    other = make_tenant(house.db)
    foreign = house.make_schedule("0 9 * * *", workflow_id=house.make_workflow(other))
    assert house.tick(MONDAY) == 3
    assert house.slots(foreign) == [MONDAY]
    waiting = [s for s in schedules if not house.slots(s)]
    assert len(waiting) == 2
    for schedule in waiting:
        row = house.schedule(schedule)
        assert row.last_dispatch_status == "deferred"
        assert (row.next_run_at, row.failure_count, row.last_error_at) == (MONDAY, 0, None)
        assert row.due_at > MONDAY
        assert house.skips(schedule) == []
    tick = house.db.row("select * from lenses.dispatch_ticks order by id desc limit 1")
    assert (tick.deferred, tick.failed, tick.skipped) == (2, 0, {})

    assert house.tick(at(1)) == 0
    for schedule in schedules:
        for run in house.runs(schedule):
            house.end(run.id)
    assert house.tick(at(2)) == 2
    assert [house.slots(s) for s in schedules] == [[MONDAY]] * 4


def test_slots_of_a_schedule_stay_in_order(house: House) -> None:
    """What a calendar skips behind a slot that waits is logged once, when its turn has come."""
    calendar = house.make_calendar("skip_dates", "2027-03-03")
    schedule = house.make_schedule(
        "0 9 * * *", calendar_id=calendar, queue_policy={"onMissed": "backfill"}
    )
    limit(house, 1)
    later = MONDAY + timedelta(days=3)
    assert house.tick(later) == 1
    assert house.slots(schedule) == [MONDAY]
    for n in range(1, 4):
        house.tick(later + n * timedelta(minutes=1))
    assert house.skips(schedule) == []
    limit(house, None)
    house.play(later + timedelta(minutes=5), later + timedelta(minutes=6))
    wednesday = MONDAY + timedelta(days=2)
    assert house.slots(schedule) == [MONDAY, MONDAY + timedelta(days=1), later]
    assert house.skips(schedule) == [("calendar", wednesday)]


def test_what_waits_for_room_never_becomes_late(house: House) -> None:
    limit(house, 1)
    first, second = (house.make_schedule("0 9 * * *") for _ in range(2))
    assert house.tick(MONDAY) == 1
    house.play(at(1), at(30))
    limit(house, None)
    assert house.tick(at(31)) == 1
    assert [house.slots(s) for s in (first, second)] == [[MONDAY]] * 2


def test_without_a_quota_nothing_waits(house: House) -> None:
    for _ in range(5):
        house.make_schedule("0 9 * * *")
    assert house.tick(MONDAY) == 5
