"""No schedule is ever silently dead: a missing next slot is computed, whatever made it missing."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.dispatch.silence import BACKFILL, LOST, kill, lose_zone
from tests.support.database import as_user
from tests.support.scenario import MONDAY, Scenario, at, minutes
from tests.support.work import unguarded


def first_after_now(scenario: Scenario, schedule: UUID) -> Any:
    return scenario.db.value(
        "select lenses.fn_next_slot(s.cron_spec, s.timezone, s.interval_ms, s.created_at, "
        "s.start_at, s.end_at, now()) from lenses.workflow_schedules as s where s.id = %s",
        [schedule],
    )


def find_zone(scenario: Scenario, zone: str) -> None:
    """What the server calls `zone` is what the lost schedules wait for: their file is back."""
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.db.execute(
            "update lenses.workflow_schedules set timezone = %s where timezone = %s", [zone, LOST]
        )
    scenario.db.execute(
        "update lenses.schedule_due set awaits_zone = %s where awaits_zone = %s", [zone, LOST]
    )


@pytest.mark.parametrize(
    "columns",
    [{"cron": "*/7 * * * *"}, {"cron": None, "interval_ms": 420_000}],
    ids=["cron", "interval"],
)
def test_null_means_compute_it(scenario: Scenario, columns: dict[str, Any]) -> None:
    schedule = scenario.make_schedule(start_at=None, **columns)
    scenario.set(schedule, next_run_at=MONDAY)
    scenario.set(schedule, next_run_at=None)
    row = scenario.schedule(schedule)
    assert row.next_run_at == row.due_at == first_after_now(scenario, schedule)


def test_null_by_service_role(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(start_at=None)
    with as_user(scenario.db, None, role="service_role"):
        scenario.set(schedule, next_run_at=None)
    assert scenario.schedule(schedule).next_run_at == first_after_now(scenario, schedule)


def test_null_gives_up_what_waits_and_says_so(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *", start_at=None)
    scenario.db.execute(
        "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) "
        "- interval '3 minutes' where id = %s",
        [schedule],
    )
    scenario.set(schedule, next_run_at=None)
    row = scenario.schedule(schedule)
    assert row.next_run_at == first_after_now(scenario, schedule)
    ((reason, last),) = scenario.skips(schedule)
    assert reason == "schedule_edited"
    assert last == row.next_run_at - timedelta(minutes=1)


def test_a_slot_that_has_a_run_is_not_computed_again(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    scenario.tick(MONDAY)
    scenario.set(schedule, next_run_at=None)
    assert scenario.schedule(schedule).next_run_at == MONDAY + timedelta(days=1)


SAVES: dict[str, Callable[[Scenario, UUID], Any]] = {
    "no change": lambda scenario, schedule: scenario.set(schedule, is_active=True),
    "a change of something else": lambda scenario, schedule: scenario.set(
        schedule, description="x"
    ),
    "patch": lambda scenario, schedule: scenario.db.execute(
        "select public.fn_patch_workflow_schedule(%s, '{\"is_active\": true}')", [schedule]
    ),
    "pause and resume": lambda scenario, schedule: scenario.db.execute(
        "select public.fn_pause_workflow_schedule(%(id)s); "
        "select public.fn_resume_workflow_schedule(%(id)s)".replace("%(id)s", f"'{schedule}'")
    ),
    "upsert": lambda scenario, schedule: scenario.db.execute(
        "select public.fn_upsert_workflow_schedule(%s, %s, '*/5 * * * *', 'UTC', p_start_at => %s)",
        [scenario.workflow, schedule, MONDAY],
    ),
}


@pytest.mark.parametrize("save", SAVES)
def test_any_save_revives(scenario: Scenario, save: str) -> None:
    schedule = scenario.make_schedule()
    kill(scenario, schedule)
    (found,) = scenario.violations()
    assert (found.invariant, found.subject) == ("active_has_next", schedule)
    if save in ("no change", "a change of something else"):
        SAVES[save](scenario, schedule)
    else:
        with as_user(scenario.db, scenario.tenant):
            SAVES[save](scenario, schedule)
    row = scenario.schedule(schedule)
    assert (row.is_active, row.next_run_at, row.due_at) == (True, MONDAY, MONDAY)


def test_activation_revives(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(is_active=False)
    kill(scenario, schedule)
    scenario.set(schedule, is_active=True)
    assert scenario.schedule(schedule).due_at == MONDAY


def test_a_finished_window_stays_finished(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(start_at=MONDAY, end_at=at(5))
    scenario.play(at(0), at(6))
    assert scenario.slots(schedule) == minutes(0, 5)
    scenario.set(schedule, description="x")
    scenario.set(schedule, next_run_at=None)
    row = scenario.schedule(schedule)
    assert (row.next_run_at, row.due_at) == (None, None)


def test_the_tick_revives_where_the_zone_is_back(scenario: Scenario) -> None:
    waiting = scenario.make_schedule("*/5 * * * *", timezone="Asia/Tokyo")
    other = scenario.make_schedule("*/5 * * * *", timezone="Asia/Tokyo")
    lose_zone(scenario, waiting)
    scenario.tick(at(0))
    row = scenario.schedule(waiting)
    assert (row.next_run_at, row.last_dispatch_status) == (None, "validation_failed")
    assert scenario.violations() == []
    scenario.play(at(1), at(12))
    find_zone(scenario, "Asia/Tokyo")
    scenario.tick(at(13))
    row = scenario.schedule(waiting)
    assert (row.next_run_at, row.last_error_message) == (at(15), None)
    assert row.last_dispatch_status == "dispatched"
    scenario.play(at(14), at(20))
    assert scenario.slots(waiting) == minutes(0, 15, 20)
    assert scenario.slots(other) == minutes(0, 5, 10, 15, 20)


def test_a_save_while_the_zone_is_gone_waits_for_it_too(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", timezone="Asia/Tokyo")
    lose_zone(scenario, schedule)
    kill(scenario, schedule)
    scenario.set(schedule, description="still here")
    scenario.set(schedule, is_active=False, paused_at=at(0))
    scenario.set(schedule, is_active=True)
    assert scenario.schedule(schedule).next_run_at is None
    find_zone(scenario, "Asia/Tokyo")
    scenario.tick(at(1))
    assert scenario.schedule(schedule).next_run_at == at(5)


def test_no_zone_is_asked_for_where_nobody_waits(scenario: Scenario) -> None:
    scenario.make_schedule()
    with scenario.db.transaction():
        scenario.db.execute("set local track_functions = 'all'")
        scenario.tick(at(0))
        calls = dict(scenario.db.rows("select funcname, calls from pg_stat_xact_user_functions"))
    assert "fn_revive_schedules" in calls
    assert "fn_has_zone" not in calls


def play_saves(scenario: Scenario) -> None:
    """From here on a save looks at the played clock, as ticks do, not at the server's."""
    text = scenario.db.value(
        "select pg_get_functiondef('lenses.tg_workflow_schedules_check()'::regprocedure)"
    )
    played = text.replace(":= now();", ":= current_setting('lf_test.now')::timestamptz;")
    assert played != text
    scenario.db.execute(played)
    saves_at(scenario, MONDAY)


def saves_at(scenario: Scenario, now: datetime) -> None:
    scenario.db.execute("select set_config('lf_test.now', %s, false)", [now.isoformat()])


HOSTILE = (
    "next_run_at = null",
    "next_run_at = %(now)s + interval '2 days'",
    "next_run_at = %(now)s - interval '1 hour'",
    "next_run_at = %(now)s + interval '90 seconds'",
    "is_active = not is_active",
    "is_active = false, paused_at = %(now)s",
    "is_active = true",
    "timezone = 'America/New_York'",
    "timezone = 'Asia/Kathmandu'",
    "start_at = null",
    "start_at = %(now)s - interval '1 day'",
    "end_at = %(now)s + interval '5 hours'",
    "end_at = null",
    "due_at = null",
    "description = 'x'",
)


@pytest.mark.parametrize("seed", range(3))
def test_hostile_updates_silence_nothing(scenario: Scenario, seed: int) -> None:
    """Days of ticks, some of them by a clock that is ahead, among hostile writes.

    A schedule that is active has a next slot as long as one is left; from the last write on each of
    its slots has a run or a reason.
    """
    rng = random.Random(seed)
    play_saves(scenario)
    schedules = [
        scenario.make_schedule("*/20 * * * *"),
        scenario.make_schedule("7 */2 * * *", timezone="Europe/Paris", jitter_ms=120_000),
        scenario.make_schedule(None, interval_ms=1_500_000),
        scenario.make_schedule("*/30 * * * *", queue_policy=BACKFILL),
    ]
    now, step = MONDAY, timedelta(minutes=5)
    for _ in range(12):
        saves_at(scenario, now)
        for schedule in schedules:
            if rng.random() < 0.5:
                change = rng.choice(HOSTILE)
                scenario.db.execute(
                    f"update lenses.workflow_schedules set {change} where id = %(id)s",
                    {"now": now, "id": schedule},
                )
        if rng.random() < 0.3:
            scenario.tick(now + timedelta(hours=rng.randint(1, 9)))
        for _ in range(rng.randint(3, 24)):
            scenario.tick(now)
            now += step
        assert scenario.violations() == []
    saves_at(scenario, now)
    scenario.db.execute(
        "update lenses.workflow_schedules set end_at = null, start_at = %s", [MONDAY]
    )
    scenario.db.execute("update lenses.workflow_schedules set is_active = true, next_run_at = null")
    start = now
    scenario.play(now, now + timedelta(hours=6), step)
    for schedule in schedules:
        due = scenario.db.column(
            "select s from lenses.fn_next_slots(%s, %s, %s, 1000) as s",
            [schedule, start + timedelta(minutes=5), start + timedelta(hours=5, minutes=50)],
        )
        told = set(scenario.slots(schedule)) | {
            slot
            for slot in due
            if scenario.db.value(
                "select exists (select from agents.action_logs where schedule_id = %(id)s and "
                "action_type in ('schedule_skipped', 'schedule_failed') and %(at)s between "
                "coalesce((payload #>> '{detail,first}')::timestamptz, "
                "(payload ->> 'scheduled_for')::timestamptz) "
                "and (payload ->> 'scheduled_for')::timestamptz)",
                {"id": schedule, "at": slot},
            )
        }
        assert [slot for slot in due if slot not in told] == []
        assert due
