"""Late is what fell due while nobody ticked; what a tick has left over is not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.dispatch.conftest import MONDAY, House, at, minutes


def drain(house: House, offset: float) -> None:
    """Ticks at one instant until nothing is left."""
    while house.tick(at(offset)):
        pass


def test_a_limit_shares_the_lag_and_drops_nothing(house: House) -> None:
    schedules = [house.make_schedule("* * * * *") for _ in range(30)]
    for minute in range(30):
        house.tick(at(minute) + timedelta(seconds=1.3), limit=10)
    newest = {house.slots(schedule)[-1] for schedule in schedules}
    assert newest == set(minutes(27, 28, 29))
    assert all(house.skips(schedule) == [] for schedule in schedules)
    drain(house, 29.5)
    assert all(house.slots(schedule) == minutes(*range(30)) for schedule in schedules)


def test_ticks_that_are_cut_off_after_a_batch_drop_nothing(house: House) -> None:
    """As the driver does it: a batch, and then its time is over."""
    schedules = [house.make_schedule("* * * * *") for _ in range(12)]
    for minute in range(20):
        tick = house.db.value("select lenses.fn_open_tick('driver', %s)", [at(minute)])
        house.db.execute("select lenses.fn_dispatch_pass(%s, %s, 2, 100)", [tick, at(minute)])
    drain(house, 20)
    for schedule in schedules:
        assert house.slots(schedule) == minutes(*range(21))
        assert house.skips(schedule) == []


def test_a_tick_that_did_nothing_counts_as_one_that_came(house: House) -> None:
    schedule = house.make_schedule("* * * * *")
    for minute in range(10):
        house.db.execute("select lenses.fn_open_tick('driver', %s)", [at(minute)])
    assert house.tick(at(10)) == 11
    assert house.skips(schedule) == []


def test_a_row_that_somebody_holds_for_minutes_loses_no_slot(house: House) -> None:
    held = house.make_schedule("* * * * *")
    house.make_schedule("* * * * *")
    with house.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            assert house.play(at(0), at(6)) == 7
        house.tick(at(7))
    assert house.slots(held) == minutes(*range(8))
    assert house.skips(held) == []


def test_a_due_row_that_somebody_holds_loses_no_slot(house: House) -> None:
    held = house.make_schedule("* * * * *")
    with house.db.another() as user:
        with user.transaction():
            user.execute(
                "select from lenses.schedule_due where schedule_id = %s for update", [held]
            )
            assert house.play(at(0), at(6)) == 0
        house.tick(at(7))
    assert house.slots(held) == minutes(*range(8))


def test_an_outage_makes_late_though_ticks_come_again_before_the_row_is_free(
    house: House,
) -> None:
    held = house.make_schedule("* * * * *")
    with house.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            house.play(at(0), at(3))
            house.play(at(13), at(16))
        drain(house, 17)
    assert house.missed(held) == [(7, at(4), at(10))]
    assert house.slots(held) == minutes(0, 1, 2, 3, *range(11, 18))


def test_two_outages_are_judged_each_by_itself(house: House) -> None:
    held = house.make_schedule("* * * * *", queue_policy={"mode": "parallel", "onMissed": "skip"})
    with house.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            for minute in (0, 1, 5, 6, 12):
                house.tick(at(minute))
        drain(house, 13)
    assert house.slots(held) == minutes(0, 1, 3, 4, 5, 6, 10, 11, 12, 13)
    [(count, first, last)] = house.missed(held)
    assert (count, first, last) == (4, at(2), at(9))


def test_an_outage_is_late_as_ever(house: House) -> None:
    schedule = house.make_schedule("* * * * *")
    house.play(at(0), at(2))
    house.tick(at(12))
    assert house.missed(schedule) == [(7, at(3), at(9))]
    assert house.slots(schedule) == minutes(0, 1, 2, 10, 11, 12)


@pytest.mark.parametrize("jitter", [30_000, 3_600_000])
def test_jitter_beside_a_gap(house: House, jitter: int) -> None:
    """Each slot is late or not by its own due time."""
    schedule = house.make_schedule("*/10 * * * *", jitter_ms=jitter)
    with house.db.another() as user:
        with user.transaction():
            user.execute(
                "select from lenses.workflow_schedules where id = %s for update", [schedule]
            )
            # The jitter of the first slots may lie before them: ticks come from then on.
            house.play(at(-60), at(100))
            house.play(at(160), at(260))
        drain(house, 261)
    due, first = {}, at(-60)
    for minute in range(0, 330, 10):
        own = house.db.value(
            "select lenses.fn_slot_due(%s, %s, %s)", [schedule, at(minute), jitter]
        )
        first = max(first, own)
        due[at(minute)] = first
    wanted = [s for s, d in due.items() if d <= at(261) and not at(100) < d < at(158)]
    assert house.slots(schedule) == wanted
    late = sum(1 for d in due.values() if at(100) < d < at(158))
    assert sum(count for count, _, _ in house.missed(schedule)) == late


def test_a_tick_of_a_false_future_is_no_gap_when_its_time_comes(house: House) -> None:
    held = house.make_schedule("* * * * *")
    with house.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            house.tick(at(0))
            house.tick(at(30))
            house.play(at(1), at(33))
        drain(house, 34)
    assert house.skips(held) == []
    assert house.slots(held) == minutes(*range(35))


def test_a_tick_of_a_false_future_hides_no_outage_before_it(house: House) -> None:
    schedule = house.make_schedule("* * * * *")
    house.tick(at(0))
    house.db.execute("select lenses.fn_open_tick('ahead', %s)", [at(180)])
    house.tick(at(1))
    house.tick(at(12))
    assert house.missed(schedule) == [(8, at(2), at(9))]


def test_what_passed_while_frozen_is_late(house: House) -> None:
    schedule = house.make_schedule("* * * * *")
    house.tick(at(0))
    house.db.execute("select lenses.fn_freeze_dispatch('moving house')")
    house.play(at(1), at(9))
    house.db.execute("select lenses.fn_unfreeze_dispatch()")
    house.tick(at(10))
    assert house.missed(schedule) == [(7, at(1), at(7))]
    assert house.slots(schedule) == minutes(0, 8, 9, 10)


def test_a_past_slot_that_is_written_now_met_no_tick(house: House) -> None:
    """Ticks came all along, but they could not see it."""
    now = house.db.value("select date_trunc('minute', now())")
    schedule = house.make_schedule("* * * * *", next_run_at=now + timedelta(hours=1))
    for minute in range(-60, 1):
        house.db.execute(
            "select lenses.fn_open_tick('driver', %s)", [now + timedelta(minutes=minute)]
        )
    house.set(schedule, next_run_at=now - timedelta(minutes=30))
    house.tick(now + timedelta(seconds=59))
    assert len(house.slots(schedule)) <= 3
    [(count, first, _)] = house.missed(schedule)
    assert first == now - timedelta(minutes=30)
    assert count + len(house.slots(schedule)) == 31


def test_a_past_slot_of_a_new_schedule_met_no_tick(house: House) -> None:
    now = house.db.value("select date_trunc('minute', now())")
    for minute in range(-60, 1):
        house.db.execute(
            "select lenses.fn_open_tick('driver', %s)", [now + timedelta(minutes=minute)]
        )
    schedule = house.make_schedule("* * * * *", next_run_at=now - timedelta(minutes=30))
    house.tick(now + timedelta(seconds=59))
    assert len(house.slots(schedule)) <= 3
    [(count, _, _)] = house.missed(schedule)
    assert count + len(house.slots(schedule)) == 31


def test_purged_ticks_make_nothing_late(house: House) -> None:
    held = house.make_schedule("* * * * *")
    with house.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            house.play(at(0), at(20))
            house.db.execute("delete from lenses.dispatch_ticks where started_at < %s", [at(15)])
        drain(house, 21)
    assert house.slots(held) == minutes(*range(22))


def test_a_lost_zone_drops_only_what_is_late(house: House) -> None:
    held = house.make_schedule("0 9 * * *")
    house.db.execute(
        "alter table lenses.workflow_schedules disable trigger workflow_schedules_check_update"
    )
    house.set(held, timezone="Atlantis/Capital")
    house.db.execute(
        "alter table lenses.workflow_schedules enable always trigger workflow_schedules_check_update"
    )
    with house.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            house.play(at(0), at(6))
        house.tick(at(7))
    assert house.slots(held) == [MONDAY]
    house.set(held, timezone="Europe/Paris")


def test_a_jump_ahead_and_back_makes_nothing_late(house: House) -> None:
    """Also when the minutes come that the clock had shown before, and for one that waits meanwhile."""
    schedule = house.make_schedule("*/5 * * * *")
    held = house.make_schedule("*/5 * * * *")
    house.play(at(0), at(10))
    house.play(at(191), at(193))
    said = {each: house.missed(each) for each in (schedule, held)}
    with house.db.another() as user:
        house.play(at(14), at(100))
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            house.play(at(101), at(200))
        house.play(at(201), at(210))
    for each in (schedule, held):
        assert house.slots(each) == minutes(*range(0, 215, 5))
        assert house.missed(each) == said[each]


def test_a_tick_of_a_false_future_is_none_when_its_time_comes(house: House) -> None:
    """An outage about it is one outage."""
    schedule = house.make_schedule("* * * * *")
    house.play(at(0), at(3))
    house.db.execute("select lenses.fn_open_tick('ahead', %s)", [at(20)])
    house.play(at(4), at(10))
    house.tick(at(30))
    assert house.slots(schedule) == minutes(*range(11), 28, 29, 30)
    assert house.missed(schedule) == [(17, at(11), at(27))]
