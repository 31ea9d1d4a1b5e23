"""Late slots: what is late, and what onMissed makes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.scenario import MONDAY, Scenario, at, minutes


def queue(on_missed: str, **more: object) -> dict[str, object]:
    return {"mode": "parallel", "onMissed": on_missed, **more}


def test_a_slot_between_two_ticks_is_dispatched_once(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/15 * * * *")
    scenario.tick(MONDAY - timedelta(seconds=0.05))
    assert scenario.slots(schedule) == []
    assert scenario.tick(at(1) + timedelta(seconds=0.05)) == 1
    assert scenario.tick(at(2)) == 0
    assert scenario.slots(schedule) == minutes(0)


def test_within_the_grace_nothing_is_late(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    assert scenario.tick(at(2)) == 3
    assert scenario.slots(schedule) == minutes(0, 1, 2)
    assert scenario.skips(schedule) == []


def test_a_moment_beyond_the_grace_is_late(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    assert scenario.tick(at(2) + timedelta(milliseconds=1)) == 2
    assert scenario.slots(schedule) == minutes(1, 2)
    assert scenario.missed(schedule) == [(1, MONDAY, MONDAY)]


def test_skip_drops_late_slots_in_one_row_and_keeps_those_on_time(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    assert scenario.tick(at(31)) == 1
    assert scenario.slots(schedule) == minutes(30)
    assert scenario.missed(schedule) == [(6, at(0), at(25))]
    assert scenario.schedule(schedule).last_dispatch_status == "dispatched"
    assert scenario.schedule(schedule).next_run_at == at(35)


def test_skip_alone_leaves_last_run_at(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    assert scenario.tick(at(60)) == 0
    row = scenario.schedule(schedule)
    assert (row.last_dispatch_status, row.last_run_at) == ("skipped_missed", None)
    assert row.next_run_at == MONDAY + timedelta(days=1)


def test_run_once_takes_the_newest_late_slot(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=queue("run_once"))
    assert scenario.tick(at(29)) == 1
    run = scenario.runs(schedule)[0]
    assert (run.scheduled_for, run.metadata) == (at(25), {"missed": True})
    assert scenario.missed(schedule) == [(5, at(0), at(20))]


def test_run_once_beside_a_slot_on_time(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=queue("run_once"))
    assert scenario.tick(at(30)) == 2
    late, on_time = scenario.runs(schedule)
    assert (late.scheduled_for, late.metadata) == (at(25), {"missed": True})
    assert (on_time.scheduled_for, on_time.metadata) == (at(30), {})


def test_backfill_runs_every_late_slot_oldest_first(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=queue("backfill"))
    assert scenario.tick(at(29)) == 6
    assert scenario.slots(schedule) == minutes(0, 5, 10, 15, 20, 25)
    assert all(run.metadata == {"missed": True} for run in scenario.runs(schedule))
    assert scenario.skips(schedule) == []


def test_backfill_keeps_the_newest_of_its_maximum(scenario: Scenario) -> None:
    policy = queue("backfill", maxBackfill=2)
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    assert scenario.tick(at(29)) == 2
    assert scenario.slots(schedule) == minutes(20, 25)
    assert scenario.missed(schedule) == [(4, at(0), at(15))]


def test_backfill_goes_on_in_later_ticks_where_the_cap_stops_it(scenario: Scenario) -> None:
    policy = queue("backfill", maxBackfill=1_000_000)
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    scenario.db.execute("select lenses.fn_set_dispatch_settings('{\"max_catchup_per_tick\": 100}')")
    now = MONDAY + timedelta(minutes=249, seconds=30)
    assert [scenario.tick(now) for _ in range(4)] == [100, 100, 50, 0]
    assert scenario.slots(schedule) == minutes(*range(250))
    assert scenario.skips(schedule) == []


def test_what_the_cap_left_never_becomes_late(scenario: Scenario) -> None:
    """The first tick sees 150 slots; hours later the rest still runs under a policy set to skip."""
    schedule = scenario.make_schedule("* * * * *", queue_policy=queue("backfill", maxBackfill=1000))
    assert scenario.tick(at(149.5)) == 100
    scenario.set(schedule, queue_policy=queue("skip"))
    assert scenario.tick(at(600)) == 50 + 3
    assert scenario.slots(schedule) == minutes(*range(150), 598, 599, 600)
    assert scenario.missed(schedule) == [(448, at(150), at(597))]


def test_spread_sets_available_at_evenly(scenario: Scenario) -> None:
    policy = queue("spread", spreadWindowMs=60_000)
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    now = at(18)
    assert scenario.tick(now) == 4
    assert [run.available_at for run in scenario.runs(schedule)] == [
        now + timedelta(seconds=15 * k) for k in range(4)
    ]


def test_spread_over_two_ticks_goes_on_where_it_was(scenario: Scenario) -> None:
    policy = queue("spread", spreadWindowMs=120_000, maxBackfill=120)
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    now = at(119.5) + timedelta(minutes=3)
    scenario.tick(now)
    scenario.tick(now)
    late = [run for run in scenario.runs(schedule) if run.metadata == {"missed": True}]
    assert len(late) == 120
    assert [run.available_at for run in late] == [now + timedelta(seconds=k) for k in range(120)]


def test_spread_keeps_its_step_where_no_slot_on_time_follows(scenario: Scenario) -> None:
    policy = queue("spread", spreadWindowMs=1_000_000, maxBackfill=1000)
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    now = at(5 * 249 + 3)
    for minute in range(4):
        scenario.tick(now + timedelta(minutes=minute))
    starts = [
        run.available_at for run in scenario.runs(schedule) if run.metadata == {"missed": True}
    ]
    assert starts == [now + timedelta(seconds=4 * k) for k in range(250)]


@pytest.mark.parametrize("policy", ["skip", "run_once", "backfill", "spread"])
def test_a_gap_of_twenty_days_costs_bounded_rows(scenario: Scenario, policy: str) -> None:
    schedule = scenario.make_schedule(
        "* * * * *", queue_policy=queue(policy, maxBackfill=1_000_000)
    )
    now = MONDAY + timedelta(days=20)
    assert scenario.tick(now) <= 100
    assert scenario.db.value("select count(*) from agents.action_logs where schedule_id = %s",
                          [schedule]) <= 101  # fmt: skip


def test_every_slot_has_a_run_or_a_reason_over_gaps_of_every_size(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/7 * * * *", queue_policy=queue("run_once"))
    now = MONDAY
    for gap in (1, 3, 20, 1, 61, 2, 300, 1, 1):
        now += timedelta(minutes=gap)
        scenario.tick(now)
    covered = scenario.db.value(
        "select sum(slot_count) from lenses.schedule_slots where schedule_id = %s", [schedule]
    )
    expected = scenario.db.value(
        "select count(*) from lenses.fn_cron_next('*/7 * * * *', 'UTC', %s, 1000) as n "
        "where n <= %s", [MONDAY - timedelta(seconds=1), now],
    )  # fmt: skip
    assert covered == expected


def test_what_is_dropped_behind_a_slot_that_waits_is_told_once(scenario: Scenario) -> None:
    """Ticks that find the slot waiting still do not decide about the late ones again."""
    schedule = scenario.make_schedule(
        "*/30 * * * *", queue_policy={"mode": "serial", "onOverlap": "queue"}
    )
    assert scenario.tick(at(0)) == 1
    scenario.play(at(30), at(31))
    for minute in (115, 116, 118, 121, 124):
        scenario.tick(at(minute))
    assert scenario.missed(schedule) == [(2, at(60), at(90))]
    scenario.end(scenario.runs(schedule)[0].id, at=at(125))
    for minute in (125, 126):
        scenario.tick(at(minute))
    scenario.end(scenario.runs(schedule)[1].id, at=at(127))
    scenario.play(at(127), at(128))
    assert scenario.slots(schedule) == minutes(0, 30, 120)
    assert scenario.skips(schedule) == [("missed", at(90))]


def test_the_clock_set_back_dispatches_nothing_twice(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    scenario.tick(at(5))
    slots = scenario.slots(schedule)
    for back in (1, 180, 3600, 86400):
        assert scenario.tick(at(5) - timedelta(seconds=back)) == 0
    assert scenario.tick(at(10)) == 1
    assert scenario.slots(schedule) == [*slots, at(10)]


def test_purged_history_never_reopens_a_slot(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    assert scenario.tick(at(0)) == 1
    scenario.db.execute("set session_replication_role = replica")
    scenario.db.execute("delete from lenses.workflow_runs")
    scenario.db.execute("reset session_replication_role")
    assert scenario.tick(at(0) + timedelta(seconds=10)) == 0
    assert scenario.tick(at(0) - timedelta(seconds=5)) == 0
    assert scenario.slots(schedule) == []
    scenario.db.execute("select lenses.fn_recount()")
