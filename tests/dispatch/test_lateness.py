"""Late is what fell due while nobody ticked; what a tick has left over is not."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.scenario import MONDAY, Scenario, at, minutes


def drain(scenario: Scenario, offset: float) -> None:
    """Ticks at one instant until nothing is left."""
    while scenario.tick(at(offset)):
        pass


def test_a_limit_shares_the_lag_and_drops_nothing(scenario: Scenario) -> None:
    schedules = [scenario.make_schedule("* * * * *") for _ in range(30)]
    for minute in range(30):
        scenario.tick(at(minute) + timedelta(seconds=1.3), limit=10)
    newest = {scenario.slots(schedule)[-1] for schedule in schedules}
    assert newest == set(minutes(27, 28, 29))
    assert all(scenario.skips(schedule) == [] for schedule in schedules)
    drain(scenario, 29.5)
    assert all(scenario.slots(schedule) == minutes(*range(30)) for schedule in schedules)


def test_ticks_that_are_cut_off_after_a_batch_drop_nothing(scenario: Scenario) -> None:
    """As the driver does it: a batch, and then its time is over."""
    schedules = [scenario.make_schedule("* * * * *") for _ in range(12)]
    for minute in range(20):
        tick = scenario.db.value("select lenses.fn_begin_tick_at('driver', %s)", [at(minute)])
        scenario.db.execute("select lenses.fn_dispatch_pass(%s, %s, 2, 100)", [tick, at(minute)])
    drain(scenario, 20)
    for schedule in schedules:
        assert scenario.slots(schedule) == minutes(*range(21))
        assert scenario.skips(schedule) == []


def test_a_tick_that_did_nothing_counts_as_one_that_came(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    for minute in range(10):
        scenario.db.execute("select lenses.fn_begin_tick_at('driver', %s)", [at(minute)])
    assert scenario.tick(at(10)) == 11
    assert scenario.skips(schedule) == []


def test_a_row_that_somebody_holds_for_minutes_loses_no_slot(
    scenario: Scenario, committed: None
) -> None:
    held = scenario.make_schedule("* * * * *")
    scenario.make_schedule("* * * * *")
    with scenario.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            assert scenario.play(at(0), at(6)) == 7
        scenario.tick(at(7))
    assert scenario.slots(held) == minutes(*range(8))
    assert scenario.skips(held) == []


def test_a_due_row_that_somebody_holds_loses_no_slot(scenario: Scenario, committed: None) -> None:
    held = scenario.make_schedule("* * * * *")
    with scenario.db.another() as user:
        with user.transaction():
            user.execute(
                "select from lenses.schedule_due where schedule_id = %s for update", [held]
            )
            assert scenario.play(at(0), at(6)) == 0
        scenario.tick(at(7))
    assert scenario.slots(held) == minutes(*range(8))


def test_an_outage_makes_late_though_ticks_come_again_before_the_row_is_free(
    scenario: Scenario,
    committed: None,
) -> None:
    held = scenario.make_schedule("* * * * *")
    with scenario.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            scenario.play(at(0), at(3))
            scenario.play(at(13), at(16))
        drain(scenario, 17)
    assert scenario.missed(held) == [(7, at(4), at(10))]
    assert scenario.slots(held) == minutes(0, 1, 2, 3, *range(11, 18))


def test_two_outages_are_judged_each_by_itself(scenario: Scenario, committed: None) -> None:
    held = scenario.make_schedule(
        "* * * * *", queue_policy={"mode": "parallel", "onMissed": "skip"}
    )
    with scenario.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            for minute in (0, 1, 5, 6, 12):
                scenario.tick(at(minute))
        drain(scenario, 13)
    assert scenario.slots(held) == minutes(0, 1, 3, 4, 5, 6, 10, 11, 12, 13)
    [(count, first, last)] = scenario.missed(held)
    assert (count, first, last) == (4, at(2), at(9))


def test_an_outage_is_late_as_ever(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    scenario.play(at(0), at(2))
    scenario.tick(at(12))
    assert scenario.missed(schedule) == [(7, at(3), at(9))]
    assert scenario.slots(schedule) == minutes(0, 1, 2, 10, 11, 12)


@pytest.mark.parametrize("jitter", [30_000, 3_600_000])
def test_jitter_beside_a_gap(scenario: Scenario, jitter: int, committed: None) -> None:
    """Each slot is late or not by its own due time."""
    schedule = scenario.make_schedule("*/10 * * * *", jitter_ms=jitter)
    with scenario.db.another() as user:
        with user.transaction():
            user.execute(
                "select from lenses.workflow_schedules where id = %s for update", [schedule]
            )
            # The jitter of the first slots may lie before them: ticks come from then on.
            scenario.play(at(-60), at(100))
            scenario.play(at(160), at(260))
        drain(scenario, 261)
    due, first = {}, at(-60)
    for minute in range(0, 330, 10):
        own = scenario.db.value(
            "select lenses.fn_slot_due(%s, %s, %s)", [schedule, at(minute), jitter]
        )
        first = max(first, own)
        due[at(minute)] = first
    wanted = [s for s, d in due.items() if d <= at(261) and not at(100) < d < at(158)]
    assert scenario.slots(schedule) == wanted
    late = sum(1 for d in due.values() if at(100) < d < at(158))
    assert sum(count for count, _, _ in scenario.missed(schedule)) == late


def test_a_tick_of_a_false_future_is_no_gap_when_its_time_comes(
    scenario: Scenario, committed: None
) -> None:
    held = scenario.make_schedule("* * * * *")
    with scenario.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            scenario.tick(at(0))
            scenario.tick(at(30))
            scenario.play(at(1), at(33))
        drain(scenario, 34)
    assert scenario.skips(held) == []
    assert scenario.slots(held) == minutes(*range(35))


def test_a_tick_of_a_false_future_hides_no_outage_before_it(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    scenario.tick(at(0))
    scenario.db.execute("select lenses.fn_begin_tick_at('ahead', %s)", [at(180)])
    scenario.tick(at(1))
    scenario.tick(at(12))
    assert scenario.missed(schedule) == [(8, at(2), at(9))]


def test_what_passed_while_frozen_is_late(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    scenario.tick(at(0))
    scenario.db.execute("select lenses.fn_freeze_dispatch('moving scenario')")
    scenario.play(at(1), at(9))
    scenario.db.execute("select lenses.fn_unfreeze_dispatch()")
    scenario.tick(at(10))
    assert scenario.missed(schedule) == [(7, at(1), at(7))]
    assert scenario.slots(schedule) == minutes(0, 8, 9, 10)


def test_a_past_slot_that_is_written_now_met_no_tick(scenario: Scenario) -> None:
    """Ticks came all along, but they could not see it."""
    now = scenario.db.value("select date_trunc('minute', now())")
    schedule = scenario.make_schedule("* * * * *", next_run_at=now + timedelta(hours=1))
    for minute in range(-60, 1):
        scenario.db.execute(
            "select lenses.fn_begin_tick_at('driver', %s)", [now + timedelta(minutes=minute)]
        )
    scenario.set(schedule, next_run_at=now - timedelta(minutes=30))
    scenario.tick(now + timedelta(seconds=59))
    assert len(scenario.slots(schedule)) <= 3
    [(count, first, _)] = scenario.missed(schedule)
    assert first == now - timedelta(minutes=30)
    assert count + len(scenario.slots(schedule)) == 31


def test_a_past_slot_of_a_new_schedule_met_no_tick(scenario: Scenario) -> None:
    now = scenario.db.value("select date_trunc('minute', now())")
    for minute in range(-60, 1):
        scenario.db.execute(
            "select lenses.fn_begin_tick_at('driver', %s)", [now + timedelta(minutes=minute)]
        )
    schedule = scenario.make_schedule(
        "* * * * *", next_run_at=now - timedelta(minutes=30), created_at=now
    )
    scenario.tick(now + timedelta(seconds=59))
    assert len(scenario.slots(schedule)) <= 3
    [(count, _, _)] = scenario.missed(schedule)
    assert count + len(scenario.slots(schedule)) == 31


def test_purged_ticks_make_nothing_late(scenario: Scenario, committed: None) -> None:
    held = scenario.make_schedule("* * * * *")
    with scenario.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            scenario.play(at(0), at(20))
            scenario.db.execute("delete from lenses.dispatch_ticks where started_at < %s", [at(15)])
        drain(scenario, 21)
    assert scenario.slots(held) == minutes(*range(22))


def test_a_lost_zone_drops_only_what_is_late(scenario: Scenario, committed: None) -> None:
    held = scenario.make_schedule("0 9 * * *")
    scenario.db.execute(
        "alter table lenses.workflow_schedules disable trigger workflow_schedules_check_update"
    )
    scenario.set(held, timezone="Atlantis/Capital")
    scenario.db.execute(
        "alter table lenses.workflow_schedules enable always trigger workflow_schedules_check_update"
    )
    with scenario.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            scenario.play(at(0), at(6))
        scenario.tick(at(7))
    assert scenario.slots(held) == [MONDAY]
    scenario.set(held, timezone="Europe/Paris")


def test_a_jump_ahead_and_back_makes_nothing_late(scenario: Scenario, committed: None) -> None:
    """Also when the minutes come that the clock had shown before, and for one that waits meanwhile."""
    schedule = scenario.make_schedule("*/5 * * * *")
    held = scenario.make_schedule("*/5 * * * *")
    scenario.play(at(0), at(10))
    scenario.play(at(191), at(193))
    said = {each: scenario.missed(each) for each in (schedule, held)}
    with scenario.db.another() as user:
        scenario.play(at(14), at(100))
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            scenario.play(at(101), at(200))
        scenario.play(at(201), at(210))
    for each in (schedule, held):
        assert scenario.slots(each) == minutes(*range(0, 215, 5))
        assert scenario.missed(each) == said[each]


def test_a_tick_of_a_false_future_is_none_when_its_time_comes(scenario: Scenario) -> None:
    """An outage about it is one outage."""
    schedule = scenario.make_schedule("* * * * *")
    scenario.play(at(0), at(3))
    scenario.db.execute("select lenses.fn_begin_tick_at('ahead', %s)", [at(20)])
    scenario.play(at(4), at(10))
    scenario.tick(at(30))
    assert scenario.slots(schedule) == minutes(*range(11), 28, 29, 30)
    assert scenario.missed(schedule) == [(17, at(11), at(27))]
