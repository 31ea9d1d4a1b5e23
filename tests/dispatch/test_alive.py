"""No schedule is ever silently dead: a missing next slot is computed, whatever made it missing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.dispatch.test_failures import cure, poison
from tests.support.database import Database, as_user
from tests.support.scenario import MONDAY, Scenario, at, minutes
from tests.support.work import unguarded

LOST = "Atlantis/Capital"
BACKFILL = {"mode": "parallel", "onMissed": "backfill", "maxBackfill": 1000}


def first_after_now(scenario: Scenario, schedule: UUID) -> Any:
    return scenario.db.value(
        "select lenses.fn_next_slot(s.cron_spec, s.timezone, s.interval_ms, s.created_at, "
        "s.start_at, s.end_at, now()) from lenses.workflow_schedules as s where s.id = %s",
        [schedule],
    )


def kill(scenario: Scenario, schedule: UUID) -> None:
    """An active schedule without a next slot, as no trigger would leave it."""
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.set(schedule, next_run_at=None, due_at=None)
    scenario.db.execute(
        "update lenses.schedule_due set due_at = null where schedule_id = %s", [schedule]
    )


def lose_zone(scenario: Scenario, schedule: UUID) -> None:
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.set(schedule, timezone=LOST)


def find_zone(scenario: Scenario, zone: str) -> None:
    """What the server calls `zone` is what the lost schedules wait for: their file is back."""
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.db.execute(
            "update lenses.workflow_schedules set timezone = %s where timezone = %s", [zone, LOST]
        )
    scenario.db.execute(
        "update lenses.schedule_due set awaits_zone = %s where awaits_zone = %s", [zone, LOST]
    )


@contextmanager
def replica(db: Database) -> Iterator[None]:
    """Foreign keys and triggers are silent, as they are for logical replication and some restores."""
    db.execute("set session_replication_role = replica")
    yield
    db.execute("reset session_replication_role")


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


@pytest.mark.parametrize(
    "columns",
    [{"cron": "*/5 * * * *"}, {"cron": None, "interval_ms": 300_000}],
    ids=["cron", "interval"],
)
@pytest.mark.parametrize("policy", [{"mode": "parallel"}, BACKFILL], ids=["skip", "backfill"])
def test_a_tick_of_the_future_loses_no_slot(
    scenario: Scenario, columns: dict[str, Any], policy: dict[str, Any]
) -> None:
    schedule = scenario.make_schedule(queue_policy=policy, **columns)
    scenario.play(at(0), at(10))
    scenario.tick(at(190))
    fired = set(scenario.slots(schedule))
    assert at(190) in fired
    scenario.play(at(11), at(200))
    assert scenario.slots(schedule) == minutes(*range(0, 201, 5))
    for slot in set(minutes(*range(0, 201, 5))) - fired:
        run = scenario.db.row(
            "select created_at, metadata from lenses.workflow_runs "
            "where schedule_id = %s and scheduled_for = %s", [schedule, slot],
        )  # fmt: skip
        assert (run.created_at, run.metadata) == (slot, {})


def test_a_future_that_ended_the_window_is_taken_back(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(end_at=at(60))
    scenario.play(at(0), at(10))
    scenario.tick(at(190))
    assert scenario.schedule(schedule).next_run_at is None
    scenario.play(at(11), at(70))
    assert scenario.slots(schedule) == minutes(*range(0, 61, 5))


def test_a_retry_of_the_future_is_made_now(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=BACKFILL)
    scenario.play(at(0), at(4))
    poison(scenario, schedule)
    scenario.tick(at(5))
    scenario.tick(at(185))
    assert scenario.schedule(schedule).due_at > at(180)
    cure(scenario)
    scenario.play(at(6), at(20))
    assert scenario.slots(schedule) == minutes(0, 5, 10, 15, 20)


def test_a_deferred_slot_of_the_future_is_looked_at_now(scenario: Scenario) -> None:
    policy = {"mode": "serial", "onOverlap": "queue", "onMissed": "backfill"}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(185))
    first = scenario.runs(schedule)[0].id
    assert scenario.schedule(schedule).due_at > at(180)
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'cancelled' where id = %s", [first]
    )
    scenario.tick(at(6))
    assert scenario.slots(schedule) == minutes(0, 5)


def test_runs_of_the_future_are_there_now(scenario: Scenario) -> None:
    policy = {**BACKFILL, "onMissed": "spread", "spreadWindowMs": 600_000}
    schedule = scenario.make_schedule("*/5 * * * *", queue_policy=policy)
    scenario.tick(at(0))
    scenario.tick(at(180))
    held = scenario.runs(schedule)[0].id
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "started_at = %s, lease_expires_at = %s where id = %s", [at(180), at(185), held],
    )  # fmt: skip
    scenario.tick(at(1))
    runs = scenario.runs(schedule)
    assert runs[0].lease_expires_at == at(6)
    available = [run.available_at for run in runs if run.available_at]
    assert available
    assert max(available) <= at(11)


def test_a_lease_longer_than_any_can_be_is_cut(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    scenario.tick(at(0))
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "started_at = %s, lease_expires_at = %s", [at(0), at(60 * 24 * 30)],
    )  # fmt: skip
    scenario.tick(at(1))
    assert scenario.runs(schedule)[0].lease_expires_at == at(1 + 60 * 24)


def test_the_future_is_undone_in_parts(scenario: Scenario) -> None:
    """What came due while others were put back is on time when its turn comes."""
    schedules = [scenario.make_schedule("* * * * *") for _ in range(7)]
    scenario.play(at(0), at(1))
    scenario.tick(at(100))
    ids = "select array_agg(id) from lenses.dispatch_ticks where started_at > %s"
    scenario.db.execute(
        "create or replace function lenses.fn_keep_alive("
        "p_tick_id bigint, p_now timestamptz, p_limit integer) returns integer "
        "language plpgsql security definer set search_path = pg_catalog, pg_temp as "
        "$$ begin return lenses.fn_undo_future(p_tick_id, p_now, 1); end $$"
    )
    scenario.play(at(2), at(12))
    assert scenario.db.value(ids + " and undone_at is null", [at(20)]) is None
    for schedule in schedules:
        assert [slot for slot in scenario.slots(schedule) if slot < at(90)] == minutes(*range(13))
        assert [reason for reason, slot in scenario.skips(schedule) if slot < at(90)] == []


def test_a_workflow_that_is_gone_is_named(scenario: Scenario) -> None:
    workflow = scenario.make_workflow()
    schedule = scenario.make_schedule("* * * * *", workflow_id=workflow)
    with replica(scenario.db):
        scenario.db.execute("delete from lenses.workflows where id = %s", [workflow])
    scenario.play(at(0), at(1))
    assert scenario.skips(schedule) == [("workflow_missing", at(0)), ("workflow_missing", at(1))]
    row = scenario.schedule(schedule)
    assert row.last_dispatch_status == "validation_failed"
    assert str(workflow) in row.last_error_message
    assert [(v.invariant, v.subject) for v in scenario.violations()] == [
        ("parent_exists", schedule)
    ]
    scenario.db.execute("delete from lenses.workflow_schedules where id = %s", [schedule])


@pytest.mark.parametrize("parent", ["calendar", "assignment"])
def test_what_would_judge_and_is_gone_lets_nothing_pass(scenario: Scenario, parent: str) -> None:
    if parent == "calendar":
        column, table = "calendar_id", "lenses.schedule_calendars"
        link = scenario.make_calendar("skip_dates", "2027-12-25")
    else:
        column, table = "workflow_assignment_id", "agents.workflow_assignments"
        link = scenario.db.value(
            "insert into agents.workflow_assignments (workflow_id, lenser_id, assignee_type, "
            "assignee_id) values (%s, %s, 'agent', %s) returning id",
            [scenario.workflow, scenario.tenant.id, scenario.make_agent()],
        )
    schedule = scenario.make_schedule("* * * * *", **{column: link})
    with replica(scenario.db):
        scenario.db.execute(f"delete from {table} where id = %s", [link])
    assert scenario.tick(at(0)) == 0
    assert scenario.skips(schedule) == [(f"{parent}_missing", at(0))]
    assert scenario.schedule(schedule).last_dispatch_status == "validation_failed"
    assert [v.invariant for v in scenario.violations()] == ["parent_exists"]
    scenario.set(schedule, **{column: None})


def test_recompute_brings_back_the_due_row(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    with replica(scenario.db):
        scenario.db.execute("delete from lenses.schedule_due where schedule_id = %s", [schedule])
    assert [v.invariant for v in scenario.violations()] == ["due_index"]
    row = scenario.db.row("select * from lenses.fn_recompute_schedule(%s)", [schedule])
    assert row.next_run_at == MONDAY


def test_recompute_never_takes_a_slot_that_was_used_up(scenario: Scenario) -> None:
    """With negative jitter a slot is judged before its instant."""
    schedule = scenario.make_schedule("0 * * * *", start_at=None, jitter_ms=1_800_000)
    slot = scenario.schedule(schedule).next_run_at
    scenario.db.execute(
        "insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, "
        "occurred_at) values (%s, %s, 'schedule_skipped', jsonb_build_object('reason', "
        "'calendar', 'scheduled_for', %s), least(now(), %s - interval '1 microsecond'))",
        [scenario.tenant.id, schedule, slot, slot],
    )
    early = scenario.db.value("select now() >= %s - interval '30 minutes'", [slot])
    row = scenario.db.row("select * from lenses.fn_recompute_schedule(%s)", [schedule])
    assert row.next_run_at == slot + timedelta(hours=1 if early else 0)


def test_recompute_refuses_what_it_cannot_do(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(timezone="Asia/Tokyo")
    lose_zone(scenario, schedule)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=LOST):
        scenario.db.execute("select lenses.fn_recompute_schedule(%s)", [schedule])
    assert scenario.schedule(schedule).next_run_at == MONDAY
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="there is no schedule"):
        scenario.db.execute("select lenses.fn_recompute_schedule(%s)", [scenario.workflow])


def test_misplaced_next_slots_are_named(scenario: Scenario) -> None:
    hourly: dict[str, Any] = {"cron": "0 * * * *", "start_at": None}
    names = {
        "DEAD": scenario.make_schedule(**hourly),
        "PARKED": scenario.make_schedule(**hourly),
        "NOT_A_SLOT": scenario.make_schedule(**hourly),
        "ZONE_CHANGED": scenario.make_schedule("0 9 * * *", start_at=None, timezone="Asia/Tokyo"),
    }
    fine = [
        scenario.make_schedule(**hourly),
        scenario.make_schedule("0 * * * *"),
        scenario.make_schedule(**hourly, is_active=False),
        scenario.make_schedule(None, start_at=None, interval_ms=300_000),
        scenario.make_schedule("* * * * *", next_run_at="2026-01-01T00:00:00Z"),
    ]
    kill(scenario, names["DEAD"])
    for label, hours in (("PARKED", 3), ("NOT_A_SLOT", 0.01), ("ZONE_CHANGED", 1)):
        scenario.db.execute(
            "update lenses.workflow_schedules "
            "set next_run_at = next_run_at + make_interval(secs => %s) where id = %s",
            [hours * 3600, names[label]],
        )
    find = "select label, id from lenses.fn_misplaced_schedules() where resource = 'schedule'"
    assert dict(scenario.db.rows(find)) == names
    for schedule in [*names.values(), *fine]:
        scenario.db.execute("select lenses.fn_recompute_schedule(%s)", [schedule])
    assert scenario.db.rows(find) == []


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
