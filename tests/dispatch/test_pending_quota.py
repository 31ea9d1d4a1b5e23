"""A lenser whose runs wait in such numbers as his quota allows: his slots wait, nobody else's do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

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


def previewed(scenario: Scenario, schedule: UUID, n: int = 3) -> list[tuple[str, str]]:
    return [
        (row.decision, row.reason)
        for row in scenario.db.rows(
            "select * from lenses.fn_preview_schedule_ticks(%s, %s, '4000 days')", [schedule, n]
        )
    ]


def explained(scenario: Scenario, schedule: UUID, minute: float) -> dict[str, Any]:
    return scenario.db.value("select lenses.fn_explain_schedule(%s, %s)", [schedule, at(minute)])


def waiting_reasons(scenario: Scenario, schedule: UUID) -> list[str]:
    return scenario.db.column(
        "select reason from lenses.schedule_slots where schedule_id = %s and status = 'DEFERRED'",
        [schedule],
    )


def test_what_waits_for_the_quota_says_so(scenario: Scenario) -> None:
    limit(scenario, 1)
    schedule = scenario.make_schedule()
    assert previewed(scenario, schedule) == [("dispatch", "ok")] * 3
    assert explained(scenario, schedule, 5)["verdict"] == "fires"
    scenario.tick(MONDAY)

    assert previewed(scenario, schedule) == [("defer", "pending_quota")] * 3
    told = explained(scenario, schedule, 5)
    assert told["verdict"] == "would_wait"
    assert told["because"] == (
        "the slot would wait now: pending_quota (1 of the tenant's runs waits now, of 1 at most)"
    )
    assert [g["guard"] for g in told["guards"] if not g["is_met"]] == ["quota"]

    scenario.tick(at(5))
    assert waiting_reasons(scenario, schedule) == ["pending_quota"]
    told = explained(scenario, schedule, 5)
    assert told["verdict"] == "waiting"
    assert told["because"].startswith("the slot waits: pending_quota: 1 of the tenant's runs waits")

    scenario.end(scenario.runs(schedule)[0].id)
    assert previewed(scenario, schedule) == [("dispatch", "ok")] * 3
    assert scenario.tick(at(6)) == 1
    assert waiting_reasons(scenario, schedule) == []


def test_the_quota_is_the_tenants_own(scenario: Scenario) -> None:
    limit(scenario, 1)
    schedule = scenario.make_schedule()
    other = scenario.make_schedule(workflow_id=scenario.make_workflow(make_tenant(scenario.db)))
    scenario.tick(MONDAY)
    scenario.end(scenario.runs(other)[0].id)
    assert previewed(scenario, schedule, 1) == [("defer", "pending_quota")]
    assert previewed(scenario, other, 1) == [("dispatch", "ok")]


@pytest.mark.parametrize("on_overlap", ["queue", "replace", None])
def test_a_limit_of_its_own_is_told_apart(scenario: Scenario, on_overlap: str | None) -> None:
    """Both are full: what the tick decides first is the reason, in the preview and the ledger."""
    limit(scenario, 1)
    policy = {"mode": "serial"} | ({"onOverlap": on_overlap} if on_overlap else {})
    schedule = scenario.make_schedule(queue_policy=policy)
    scenario.tick(MONDAY)
    expected = {
        "queue": ("defer", "overlap_in_flight"),
        "replace": ("defer", "pending_quota"),
        None: ("skip", "overlap_in_flight"),
    }[on_overlap]
    assert previewed(scenario, schedule, 1) == [expected]
    scenario.tick(at(5))
    if on_overlap is None:
        assert scenario.skips(schedule) == [("overlap_in_flight", at(5))]
    else:
        assert waiting_reasons(scenario, schedule) == [expected[1]]


def test_health_names_the_tenant(scenario: Scenario) -> None:
    limit(scenario, 1)
    now = scenario.db.value("select date_bin('5 minutes', now(), '2020-01-01Z')")
    handle = scenario.db.value(
        "select handle from lensers.profiles where id = %s", [scenario.tenant.id]
    )
    health = "select * from lenses.fn_health_work(null) where check_name = 'quota'"
    schedule = scenario.make_schedule(next_run_at=now - timedelta(minutes=5))
    scenario.tick(now - timedelta(minutes=5))
    assert scenario.db.rows(health) == []
    scenario.tick(now)
    scenario.db.execute("update lenses.workflow_schedules set due_at = now()")
    [line] = scenario.db.rows(health)
    assert (line.state, line.label) == ("warn", "1")
    assert line.detail.endswith(f"a slot waits for room: {handle} (1)")
    [mine] = scenario.db.rows(
        "select * from lenses.fn_health_schedules(%s) where label = 'QUOTA'", [scenario.tenant.id]
    )
    assert (mine.schedule_id, mine.state) == (schedule, "warn")
