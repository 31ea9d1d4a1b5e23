"""Edits, pauses and resumes: none fires a past slot, none loses one silently."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.scenario import MONDAY, Scenario, at, minutes

NOW = "date_trunc('minute', now())"


def past(scenario: Scenario, offset: str) -> datetime:
    """A whole minute so long ago, by the server's clock."""
    return scenario.db.value(f"select {NOW} - %s::interval", [offset])


@pytest.mark.parametrize(
    "edit",
    [
        {"cron_expr": "*/10 * * * *"},
        {"timezone": "Asia/Kathmandu"},
        {"jitter_ms": 1000},
        {"end_at": datetime(2099, 1, 1, tzinfo=UTC)},
        {"start_at": datetime(2020, 1, 1, tzinfo=UTC)},
        {"cron_expr": None, "schedule_type": "interval", "interval_ms": 300_000},
    ],
    ids=lambda edit: "-".join(edit),
)
def test_an_edit_never_fires_a_past_slot(scenario: Scenario, edit: dict[str, Any]) -> None:
    slot = past(scenario, "30 minutes")
    schedule = scenario.make_schedule("*/5 * * * *", next_run_at=slot)
    scenario.set(schedule, **edit)
    now = scenario.db.value("select now()")
    assert scenario.schedule(schedule).next_run_at > now
    assert scenario.tick(now) == 0
    [gone] = scenario.db.rows(
        "select * from lenses.schedule_slots where schedule_id = %s", [schedule]
    )
    assert (gone.status, gone.reason, gone.run_at) == ("SKIPPED", "schedule_edited", slot)
    assert gone.slot_count in (6, 7)
    assert now - timedelta(minutes=5) < gone.run_at_last <= now


@pytest.mark.parametrize(
    "edit",
    [{"description": "x"}, {"inputs_template": {"a": 1}}, {"retry_policy": {"maxRetries": 3}},
     {"cron_expr": "*/5 * * * *"}, {"pre_dispatch_condition": None}],
    ids=lambda edit: "-".join(edit),
)  # fmt: skip
def test_a_save_that_leaves_the_rule_keeps_the_next_slot(
    scenario: Scenario, edit: dict[str, Any]
) -> None:
    slot = past(scenario, "30 minutes")
    schedule = scenario.make_schedule("*/5 * * * *", next_run_at=slot)
    scenario.set(schedule, **edit)
    row = scenario.schedule(schedule)
    assert (row.next_run_at, row.due_at) == (slot, slot)


def test_an_explicit_next_run_at_is_kept_and_due_at_follows(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    scenario.set(schedule, next_run_at=at(17))
    row = scenario.schedule(schedule)
    assert (row.next_run_at, row.due_at) == (at(17), at(17))
    assert scenario.tick(at(17)) == 1
    assert scenario.slots(schedule) == minutes(17)


def test_a_new_schedule_looks_after_now(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *", start_at=datetime(2020, 1, 1, tzinfo=UTC))
    now = scenario.db.value("select now()")
    assert now < scenario.schedule(schedule).next_run_at <= now + timedelta(minutes=1)


def test_a_disabled_schedule_is_never_dispatched_and_starts_anew(scenario: Scenario) -> None:
    slot = past(scenario, "1 day")
    schedule = scenario.make_schedule("* * * * *", next_run_at=slot, is_active=False)
    assert scenario.schedule(schedule).due_at is None
    assert scenario.tick(scenario.db.value("select now()")) == 0
    scenario.set(schedule, is_active=True)
    row = scenario.schedule(schedule)
    assert row.next_run_at > scenario.db.value("select now()")
    assert row.due_at == row.next_run_at
    assert scenario.skips(schedule) == []


def pause(scenario: Scenario, schedule: Any, ago: str, until: datetime | None = None) -> None:
    scenario.db.execute(
        "update lenses.workflow_schedules set is_active = false, paused_at = now() - %s::interval, "
        "paused_until = %s where id = %s", [ago, until, schedule],
    )  # fmt: skip


def test_a_pause_takes_the_schedule_out_of_the_due_index_at_once(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    pause(scenario, schedule, "0 s")
    row = scenario.schedule(schedule)
    assert (row.next_run_at, row.due_at) == (MONDAY, None)
    assert scenario.tick(at(10)) == 0


def test_resume_by_skip_leaves_nothing_past(scenario: Scenario) -> None:
    first, last = past(scenario, "30 minutes"), past(scenario, "0 minutes")
    schedule = scenario.make_schedule("* * * * *", next_run_at=first)
    pause(scenario, schedule, "31 minutes")
    scenario.set(schedule, is_active=True)
    row = scenario.schedule(schedule)
    assert row.next_run_at > last
    assert (row.paused_at, row.last_dispatch_status) == (None, "skipped_missed")
    [(count, logged_first, logged_last)] = scenario.missed(schedule)
    assert logged_first == first
    assert logged_last == row.next_run_at - timedelta(minutes=1)
    assert count == (logged_last - first) / timedelta(minutes=1) + 1
    assert scenario.tick(scenario.db.value("select now()")) == 0


def test_resume_by_its_own_backfill(scenario: Scenario) -> None:
    first = past(scenario, "30 minutes")
    policy = {"mode": "parallel", "onMissed": "backfill"}
    schedule = scenario.make_schedule("* * * * *", next_run_at=first, queue_policy=policy)
    pause(scenario, schedule, "31 minutes")
    scenario.set(schedule, is_active=True)
    runs = scenario.tick(scenario.db.value("select now()"))
    assert runs >= 31
    assert scenario.slots(schedule)[0] == first
    assert scenario.skips(schedule) == []
    assert all(run.metadata == {"missed": True} for run in scenario.runs(schedule)[:30])


def test_the_choice_at_resume_holds_for_this_once(scenario: Scenario) -> None:
    first = past(scenario, "30 minutes")
    schedule = scenario.make_schedule("*/10 * * * *", next_run_at=first)
    pause(scenario, schedule, "31 minutes")
    scenario.set(schedule, is_active=True, missed_override="run_once")
    assert scenario.tick(scenario.db.value("select now()")) == 1
    row = scenario.schedule(schedule)
    assert (row.missed_override, row.missed_before) == (None, None)
    later = row.next_run_at + timedelta(minutes=35)
    scenario.tick(later)
    assert len(list(scenario.missed(schedule))) == 2


@pytest.mark.parametrize(
    ("queue_policy", "condition"),
    [
        ({"mode": "serial"}, None),
        ({"mode": "parallel", "maxConcurrency": 3, "onOverlap": "queue"}, None),
        ({"mode": "parallel"}, {"/last_24h_stats/failed": {"lt": 1000}}),
    ],
)
def test_the_choice_at_resume_holds_over_many_passes(
    scenario: Scenario, queue_policy: dict[str, Any], condition: dict[str, Any] | None
) -> None:
    """Own onMissed is skip; what waits for another pass, or for an earlier run, stays chosen."""
    first = past(scenario, "61 minutes")
    schedule = scenario.make_schedule(
        "* * * * *",
        next_run_at=first,
        queue_policy={**queue_policy, "onMissed": "skip"},
        pre_dispatch_condition=condition,
    )
    pause(scenario, schedule, "61 minutes")
    scenario.set(schedule, is_active=True, missed_override="backfill")
    now = scenario.db.value("select now()")
    for _ in range(70):
        now += timedelta(seconds=1)
        scenario.tick(now)
        for run in scenario.runs(schedule):
            if run.status == "pending":
                scenario.end(run.id)
    assert scenario.missed(schedule) == []
    assert scenario.slots(schedule)[:61] == [first + timedelta(minutes=n) for n in range(61)]


def test_the_choice_at_resume_holds_beyond_the_cap(scenario: Scenario) -> None:
    first = past(scenario, "250 minutes")
    policy = {"mode": "parallel", "maxBackfill": 1000}
    schedule = scenario.make_schedule("* * * * *", next_run_at=first, queue_policy=policy)
    pause(scenario, schedule, "250 minutes")
    scenario.set(schedule, is_active=True, missed_override="backfill")
    now = scenario.db.value("select now()")
    for minute in range(4):
        scenario.tick(now + timedelta(seconds=minute))
    assert scenario.missed(schedule) == []
    assert scenario.slots(schedule)[:250] == [first + timedelta(minutes=n) for n in range(250)]


def test_a_choice_at_resume_ends_with_the_next_pause(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *", next_run_at=past(scenario, "30 minutes"))
    pause(scenario, schedule, "31 minutes")
    scenario.set(schedule, is_active=True, missed_override="backfill")
    scenario.set(schedule, is_active=False, paused_at=scenario.db.value("select now()"))
    assert scenario.schedule(schedule).missed_override is None


def test_missed_grace_does_not_count_at_a_resume(scenario: Scenario) -> None:
    """A slot of this very minute has passed during the pause: late, though within the grace."""
    slot = past(scenario, "0 minutes")
    schedule = scenario.make_schedule("* * * * *", next_run_at=slot)
    pause(scenario, schedule, "5 minutes")
    scenario.set(schedule, is_active=True)
    assert scenario.missed(schedule)[0][1] == slot
    assert scenario.tick(scenario.db.value("select now()")) == 0


def test_a_pause_with_an_end_is_over_at_that_instant(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    pause(scenario, schedule, "0 s", until=at(10))
    assert scenario.tick(at(5)) == 0
    assert scenario.tick(at(10)) == 1
    row = scenario.schedule(schedule)
    assert (row.is_active, row.paused_at, row.paused_until) == (True, None, None)
    assert scenario.slots(schedule) == minutes(10)
    assert scenario.missed(schedule) == [(2, at(0), at(5))]


def test_a_pause_with_an_end_and_backfill(scenario: Scenario) -> None:
    policy = {"mode": "parallel", "onMissed": "backfill"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    pause(scenario, schedule, "0 s", until=at(11))
    assert scenario.tick(at(11)) == 3
    assert scenario.slots(schedule) == minutes(0, 5, 10)


def test_a_window_holds_both_its_ends(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", start_at=at(0), end_at=at(10))
    assert scenario.play(at(-10), at(30)) == 3
    assert scenario.slots(schedule) == minutes(0, 5, 10)
    row = scenario.schedule(schedule)
    assert (row.next_run_at, row.due_at) == (None, None)


def test_intervals_count_from_their_anchor(scenario: Scenario) -> None:
    start = at(0) + timedelta(seconds=7)
    schedule = scenario.make_schedule(
        None, schedule_type="interval", interval_ms=420_000, start_at=start
    )
    scenario.set(schedule, description="edited", jitter_ms=5)
    scenario.set(schedule, jitter_ms=0)
    assert scenario.schedule(schedule).next_run_at == start
    for n in range(5):
        scenario.tick(start + timedelta(minutes=7 * n, seconds=31))
    assert scenario.slots(schedule) == [start + timedelta(minutes=7 * n) for n in range(5)]


def test_without_a_start_the_anchor_is_no_slot_itself(scenario: Scenario) -> None:
    created = datetime(2027, 3, 1, 8, 59, 42, tzinfo=UTC)
    schedule = scenario.make_schedule(
        None, interval_ms=600_000, created_at=created, next_run_at=None, schedule_type="interval"
    )
    next_run = scenario.schedule(schedule).next_run_at
    assert next_run == datetime(2027, 3, 1, 9, 9, tzinfo=UTC)


def test_jitter_is_the_same_each_time_and_bounded(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 * * * *", jitter_ms=120_000)
    values = scenario.db.column(
        "select extract(epoch from lenses.fn_slot_due(%s, t, 120000) - t) "
        "from generate_series(%s::timestamptz, %s::timestamptz + '999 hours', '1 hour') as t",
        [schedule, MONDAY, MONDAY],
    )
    assert all(-120 <= value <= 120 for value in values)
    assert min(values) < -110 and max(values) > 110 and len(set(values)) > 900
    due = scenario.schedule(schedule).due_at
    assert due == MONDAY + timedelta(seconds=float(values[0]))
    assert scenario.tick(due - timedelta(milliseconds=1)) == 0
    assert scenario.tick(due) == 1
    assert scenario.slots(schedule) == [MONDAY]


def test_a_day_of_jitter_loses_and_doubles_nothing(scenario: Scenario) -> None:
    policy = {"mode": "parallel", "onMissed": "backfill"}
    schedule = scenario.make_schedule("0 * * * *", jitter_ms=86_400_000, queue_policy=policy)
    scenario.play(MONDAY - timedelta(days=2), MONDAY + timedelta(days=4), timedelta(minutes=30))
    slots = scenario.slots(schedule)
    assert slots == [MONDAY + timedelta(hours=n) for n in range(len(slots))]
    assert 24 * 3 <= len(slots) <= 24 * 5 + 1
    assert scenario.skips(schedule) == []


def test_a_rotation_moves_on_with_dispatches_only(scenario: Scenario) -> None:
    calendar = scenario.make_calendar("skip_dates", "2027-03-02")
    rotation = '[{"n": 0}, {"n": 1}, {"n": 2}]'
    schedule = scenario.make_schedule("0 9 * * *", inputs_rotation=rotation, calendar_id=calendar)
    for day in range(5):
        scenario.tick(MONDAY + timedelta(days=day))
    assert [run.context_inputs["n"] for run in scenario.runs(schedule)] == [0, 1, 2, 0]
    used = scenario.db.column(
        "select payload -> 'rotation_index_used' from agents.action_logs "
        "where action_type = 'dispatch_schedule' order by id"
    )
    assert used == [0, 1, 2, 0]
    scenario.set(schedule, inputs_rotation='[{"n": 7}, {"n": 8}]')
    scenario.tick(MONDAY + timedelta(days=5))
    assert scenario.runs(schedule)[-1].context_inputs == {"n": 7}
    scenario.set(schedule, inputs_rotation="[]", inputs_template={"n": 9})
    scenario.tick(MONDAY + timedelta(days=6))
    assert scenario.runs(schedule)[-1].context_inputs == {"n": 9}


def test_copied_rows_keep_their_next_slot(scenario: Scenario) -> None:
    columns = "workflow_id, lenser_id, cron_expr, schedule_type, jitter_ms, next_run_at"
    with scenario.db.cursor().copy(
        f"copy lenses.workflow_schedules ({columns}) from stdin"
    ) as copy:
        copy.write_row([scenario.workflow, scenario.tenant.id, "0 9 * * *", "cron", 0, at(3)])
    row = scenario.db.row("select * from lenses.workflow_schedules")
    assert (row.next_run_at, row.due_at, row.timezone) == (at(3), at(3), "UTC")


def test_an_edit_of_a_paused_schedule_says_which_slots_it_dropped(scenario: Scenario) -> None:
    slot = past(scenario, "30 minutes")
    schedule = scenario.make_schedule("*/5 * * * *", next_run_at=slot)
    pause(scenario, schedule, "31 minutes")
    scenario.set(schedule, cron_expr="*/10 * * * *")
    [gone] = scenario.db.rows(
        "select * from lenses.schedule_slots where schedule_id = %s", [schedule]
    )
    assert (gone.status, gone.reason, gone.run_at) == ("SKIPPED", "schedule_edited", slot)


def test_the_ledger_keeps_the_slots_of_a_deleted_schedule(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    scenario.tick(at(0))
    scenario.db.execute("delete from lenses.workflow_schedules where id = %s", [schedule])
    [slot] = scenario.db.rows(
        "select * from lenses.schedule_slots where schedule_id = %s", [schedule]
    )
    assert (slot.run_at, slot.status) == (at(0), "ENQUEUED")
