"""queue_policy: serial and maxConcurrency, with onOverlap skip, queue and replace."""

from __future__ import annotations

from datetime import timedelta

from tests.support.scenario import MONDAY, Scenario, at, minutes


def test_skip_counts_runs_that_have_not_started(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *", queue_policy={"mode": "serial"})
    assert scenario.play(at(0), at(30)) == 1
    assert scenario.slots(schedule) == minutes(0)
    assert scenario.skips(schedule) == [("overlap_in_flight", at(n)) for n in range(1, 31)]


def test_max_concurrency_lets_so_many_fly(scenario: Scenario) -> None:
    policy = {"mode": "parallel", "maxConcurrency": 3}
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    assert scenario.play(at(0), at(5)) == 3
    scenario.end(scenario.runs(schedule)[1].id)
    assert scenario.tick(at(6)) == 1
    assert scenario.slots(schedule) == minutes(0, 1, 2, 6)


def test_parallel_is_the_default_and_has_no_limit(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    assert scenario.play(at(0), at(5)) == 6
    assert scenario.skips(schedule) == []


def test_a_run_by_hand_counts(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy={"mode": "serial"})
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, lenser_id, workflow_version, "
        "idempotency_key, status) values (%s, %s, %s, 1, 'by hand', 'pending')",
        [scenario.workflow, schedule, scenario.tenant.id],
    )
    assert scenario.tick(at(0)) == 0
    assert scenario.skips(schedule) == [("overlap_in_flight", at(0))]


def test_queue_defers_and_runs_every_slot_in_order(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue"}
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    scenario.play(at(0), at(5))
    row = scenario.schedule(schedule)
    assert row.last_dispatch_status == "deferred"
    assert (row.next_run_at, row.last_run_at) == (at(1), at(0))
    assert scenario.skips(schedule) == []
    for n in range(6):
        scenario.end(scenario.runs(schedule)[n].id, at=at(6 + n))
        scenario.tick(at(6 + n) + timedelta(seconds=1))
    assert scenario.slots(schedule)[:7] == minutes(*range(7))
    assert scenario.skips(schedule) == []


def test_a_deferred_slot_is_seen_in_the_ledger(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue"}
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    scenario.play(at(0), at(1))
    row = scenario.db.row(
        "select run_at, reason from lenses.schedule_slots "
        "where schedule_id = %s and status = 'DEFERRED'", [schedule],
    )  # fmt: skip
    assert tuple(row) == (at(1), "overlap_in_flight")


def test_a_deferred_slot_is_looked_at_again_when_a_run_ends(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue"}
    schedule = scenario.make_schedule("0 9,10 * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(60))
    assert scenario.schedule(schedule).due_at > at(60)
    scenario.end(scenario.runs(schedule)[0].id, at=at(60.2))
    assert scenario.schedule(schedule).due_at <= at(60.2)
    assert scenario.tick(at(60.3)) == 1


def test_a_deferred_slot_waits_through_an_outage_without_becoming_late(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(5))
    # Nobody ticks for an hour: 09:10 to 09:55 are late and dropped, 10:00 and 10:05 are on time.
    scenario.end(scenario.runs(schedule)[0].id, at=at(30))
    assert scenario.tick(at(66.5)) == 1
    assert scenario.slots(schedule) == minutes(0, 5)
    assert scenario.missed(schedule) == [(11, at(10), at(60))]
    scenario.end(scenario.runs(schedule)[1].id, at=at(67))
    assert scenario.tick(at(67.5)) == 1
    assert scenario.slots(schedule) == minutes(0, 5, 65)


def test_replace_cancels_the_oldest(scenario: Scenario) -> None:
    policy = {"mode": "parallel", "maxConcurrency": 2, "onOverlap": "replace"}
    schedule = scenario.make_schedule("* * * * *", queue_policy=policy)
    assert scenario.play(at(0), at(3)) == 4
    assert [run.status for run in scenario.runs(schedule)] == [
        "cancelled", "cancelled", "pending", "pending",
    ]  # fmt: skip


def test_replace_of_a_running_run(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "replace"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    scenario.tick(at(0))
    run = scenario.runs(schedule)[0].id
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "lease_expires_at = %s where id = %s", [at(60), run],
    )  # fmt: skip
    scenario.tick(at(5))
    assert [r.status for r in scenario.runs(schedule)] == ["cancelled", "pending"]


def test_serial_with_backfill_queues_by_itself(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onMissed": "backfill"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    now = at(24)
    for n in range(5):
        assert scenario.tick(now) == 1
        scenario.end(scenario.runs(schedule)[n].id, at=now)
        now += timedelta(seconds=10)
    assert scenario.slots(schedule)[:5] == minutes(0, 5, 10, 15, 20)
    assert scenario.skips(schedule) == []


def test_the_default_of_the_settings_applies_where_the_policy_is_silent(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *", queue_policy={"mode": "serial"})
    scenario.db.execute(
        'select lenses.fn_set_dispatch_settings(\'{"default_on_overlap": "replace"}\')'
    )
    scenario.play(at(0), at(2))
    assert [r.status for r in scenario.runs(schedule)] == ["cancelled", "cancelled", "pending"]


def test_a_dead_worker_blocks_no_longer_than_its_lease(scenario: Scenario) -> None:
    policy = {"mode": "serial"}
    schedule = scenario.make_schedule(
        "*/5 * * * *", queue_policy=policy, retry_policy={"maxRetries": 0}
    )
    scenario.tick(at(0))
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "lease_expires_at = %s where schedule_id = %s", [at(7), schedule],
    )  # fmt: skip
    assert scenario.tick(at(5)) == 0
    assert scenario.tick(at(10)) == 1
    assert [r.status for r in scenario.runs(schedule)] == ["timed_out", "pending"]
    assert scenario.schedule(schedule).last_result["status"] == "timed_out"
    assert scenario.slots(schedule) == [MONDAY, at(10)]
