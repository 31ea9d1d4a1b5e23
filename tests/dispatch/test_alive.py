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

from tests.dispatch.conftest import MONDAY, House, at, minutes
from tests.dispatch.test_failures import cure, poison
from tests.support.database import Database, as_user
from tests.support.work import unguarded

LOST = "Atlantis/Capital"
BACKFILL = {"mode": "parallel", "onMissed": "backfill", "maxBackfill": 1000}


def first_after_now(house: House, schedule: UUID) -> Any:
    return house.db.value(
        "select lenses.fn_next_slot(s.cron_spec, s.timezone, s.interval_ms, s.created_at, "
        "s.start_at, s.end_at, now()) from lenses.workflow_schedules as s where s.id = %s",
        [schedule],
    )


def kill(house: House, schedule: UUID) -> None:
    """An active schedule without a next slot, as no trigger would leave it."""
    with unguarded(house.db, "lenses.workflow_schedules"):
        house.set(schedule, next_run_at=None, due_at=None)
    house.db.execute(
        "update lenses.schedule_due set due_at = null where schedule_id = %s", [schedule]
    )


def lose_zone(house: House, schedule: UUID) -> None:
    with unguarded(house.db, "lenses.workflow_schedules"):
        house.set(schedule, timezone=LOST)


def find_zone(house: House, zone: str) -> None:
    """What the server calls `zone` is what the lost schedules wait for: their file is back."""
    with unguarded(house.db, "lenses.workflow_schedules"):
        house.db.execute(
            "update lenses.workflow_schedules set timezone = %s where timezone = %s", [zone, LOST]
        )
    house.db.execute(
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
def test_null_means_compute_it(house: House, columns: dict[str, Any]) -> None:
    schedule = house.make_schedule(start_at=None, **columns)
    house.set(schedule, next_run_at=MONDAY)
    house.set(schedule, next_run_at=None)
    row = house.schedule(schedule)
    assert row.next_run_at == row.due_at == first_after_now(house, schedule)


def test_null_by_service_role(house: House) -> None:
    schedule = house.make_schedule(start_at=None)
    with as_user(house.db, None, role="service_role"):
        house.set(schedule, next_run_at=None)
    assert house.schedule(schedule).next_run_at == first_after_now(house, schedule)


def test_null_gives_up_what_waits_and_says_so(house: House) -> None:
    schedule = house.make_schedule("* * * * *", start_at=None)
    house.db.execute(
        "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) "
        "- interval '3 minutes' where id = %s",
        [schedule],
    )
    house.set(schedule, next_run_at=None)
    row = house.schedule(schedule)
    assert row.next_run_at == first_after_now(house, schedule)
    ((reason, last),) = house.skips(schedule)
    assert reason == "schedule_edited"
    assert last == row.next_run_at - timedelta(minutes=1)


def test_a_slot_that_has_a_run_is_not_computed_again(house: House) -> None:
    schedule = house.make_schedule("0 9 * * *")
    house.tick(MONDAY)
    house.set(schedule, next_run_at=None)
    assert house.schedule(schedule).next_run_at == MONDAY + timedelta(days=1)


SAVES: dict[str, Callable[[House, UUID], Any]] = {
    "no change": lambda house, schedule: house.set(schedule, is_active=True),
    "a change of something else": lambda house, schedule: house.set(schedule, description="x"),
    "patch": lambda house, schedule: house.db.execute(
        "select public.fn_patch_workflow_schedule(%s, '{\"is_active\": true}')", [schedule]
    ),
    "pause and resume": lambda house, schedule: house.db.execute(
        "select public.fn_pause_workflow_schedule(%(id)s); "
        "select public.fn_resume_workflow_schedule(%(id)s)".replace("%(id)s", f"'{schedule}'")
    ),
    "upsert": lambda house, schedule: house.db.execute(
        "select public.fn_upsert_workflow_schedule(%s, %s, '*/5 * * * *', 'UTC', p_start_at => %s)",
        [house.workflow, schedule, MONDAY],
    ),
}


@pytest.mark.parametrize("save", SAVES)
def test_any_save_revives(house: House, save: str) -> None:
    schedule = house.make_schedule()
    kill(house, schedule)
    (found,) = house.violations()
    assert (found.invariant, found.subject) == ("active_has_next", schedule)
    if save in ("no change", "a change of something else"):
        SAVES[save](house, schedule)
    else:
        with as_user(house.db, house.tenant):
            SAVES[save](house, schedule)
    row = house.schedule(schedule)
    assert (row.is_active, row.next_run_at, row.due_at) == (True, MONDAY, MONDAY)


def test_activation_revives(house: House) -> None:
    schedule = house.make_schedule(is_active=False)
    kill(house, schedule)
    house.set(schedule, is_active=True)
    assert house.schedule(schedule).due_at == MONDAY


def test_a_finished_window_stays_finished(house: House) -> None:
    schedule = house.make_schedule(start_at=MONDAY, end_at=at(5))
    house.play(at(0), at(6))
    assert house.slots(schedule) == minutes(0, 5)
    house.set(schedule, description="x")
    house.set(schedule, next_run_at=None)
    row = house.schedule(schedule)
    assert (row.next_run_at, row.due_at) == (None, None)


def test_the_tick_revives_where_the_zone_is_back(house: House) -> None:
    waiting = house.make_schedule("*/5 * * * *", timezone="Asia/Tokyo")
    other = house.make_schedule("*/5 * * * *", timezone="Asia/Tokyo")
    lose_zone(house, waiting)
    house.tick(at(0))
    row = house.schedule(waiting)
    assert (row.next_run_at, row.last_dispatch_status) == (None, "validation_failed")
    assert house.violations() == []
    house.play(at(1), at(12))
    find_zone(house, "Asia/Tokyo")
    house.tick(at(13))
    row = house.schedule(waiting)
    assert (row.next_run_at, row.last_error_message) == (at(15), None)
    assert row.last_dispatch_status == "dispatched"
    house.play(at(14), at(20))
    assert house.slots(waiting) == minutes(0, 15, 20)
    assert house.slots(other) == minutes(0, 5, 10, 15, 20)


def test_a_save_while_the_zone_is_gone_waits_for_it_too(house: House) -> None:
    schedule = house.make_schedule("*/5 * * * *", timezone="Asia/Tokyo")
    lose_zone(house, schedule)
    kill(house, schedule)
    house.set(schedule, description="still here")
    house.set(schedule, is_active=False, paused_at=at(0))
    house.set(schedule, is_active=True)
    assert house.schedule(schedule).next_run_at is None
    find_zone(house, "Asia/Tokyo")
    house.tick(at(1))
    assert house.schedule(schedule).next_run_at == at(5)


def test_no_zone_is_asked_for_where_nobody_waits(house: House) -> None:
    house.make_schedule()
    with house.db.transaction():
        house.db.execute("set local track_functions = 'all'")
        house.tick(at(0))
        calls = dict(house.db.rows("select funcname, calls from pg_stat_xact_user_functions"))
    assert "fn_revive_schedules" in calls
    assert "fn_has_zone" not in calls


@pytest.mark.parametrize(
    "columns",
    [{"cron": "*/5 * * * *"}, {"cron": None, "interval_ms": 300_000}],
    ids=["cron", "interval"],
)
@pytest.mark.parametrize("policy", [{"mode": "parallel"}, BACKFILL], ids=["skip", "backfill"])
def test_a_tick_of_the_future_loses_no_slot(
    house: House, columns: dict[str, Any], policy: dict[str, Any]
) -> None:
    schedule = house.make_schedule(queue_policy=policy, **columns)
    house.play(at(0), at(10))
    house.tick(at(190))
    fired = set(house.slots(schedule))
    assert at(190) in fired
    house.play(at(11), at(200))
    assert house.slots(schedule) == minutes(*range(0, 201, 5))
    for slot in set(minutes(*range(0, 201, 5))) - fired:
        run = house.db.row(
            "select created_at, metadata from lenses.workflow_runs "
            "where schedule_id = %s and scheduled_for = %s", [schedule, slot],
        )  # fmt: skip
        assert (run.created_at, run.metadata) == (slot, {})


def test_a_future_that_ended_the_window_is_taken_back(house: House) -> None:
    schedule = house.make_schedule(end_at=at(60))
    house.play(at(0), at(10))
    house.tick(at(190))
    assert house.schedule(schedule).next_run_at is None
    house.play(at(11), at(70))
    assert house.slots(schedule) == minutes(*range(0, 61, 5))


def test_a_retry_of_the_future_is_made_now(house: House) -> None:
    schedule = house.make_schedule("*/5 * * * *", queue_policy=BACKFILL)
    house.play(at(0), at(4))
    poison(house, schedule)
    house.tick(at(5))
    house.tick(at(185))
    assert house.schedule(schedule).due_at > at(180)
    cure(house)
    house.play(at(6), at(20))
    assert house.slots(schedule) == minutes(0, 5, 10, 15, 20)


def test_a_deferred_slot_of_the_future_is_looked_at_now(house: House) -> None:
    policy = {"mode": "serial", "onOverlap": "queue", "onMissed": "backfill"}
    schedule = house.make_schedule("*/5 * * * *", queue_policy=policy)
    house.tick(at(0))
    house.tick(at(185))
    first = house.runs(schedule)[0].id
    assert house.schedule(schedule).due_at > at(180)
    house.db.execute("update lenses.workflow_runs set status = 'cancelled' where id = %s", [first])
    house.tick(at(6))
    assert house.slots(schedule) == minutes(0, 5)


def test_runs_of_the_future_are_there_now(house: House) -> None:
    policy = {**BACKFILL, "onMissed": "spread", "spreadWindowMs": 600_000}
    schedule = house.make_schedule("*/5 * * * *", queue_policy=policy)
    house.tick(at(0))
    house.tick(at(180))
    held = house.runs(schedule)[0].id
    house.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "started_at = %s, lease_expires_at = %s where id = %s", [at(180), at(185), held],
    )  # fmt: skip
    house.tick(at(1))
    runs = house.runs(schedule)
    assert runs[0].lease_expires_at == at(6)
    available = [run.available_at for run in runs if run.available_at]
    assert available
    assert max(available) <= at(11)


def test_a_lease_longer_than_any_can_be_is_cut(house: House) -> None:
    schedule = house.make_schedule("*/5 * * * *")
    house.tick(at(0))
    house.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
        "started_at = %s, lease_expires_at = %s", [at(0), at(60 * 24 * 30)],
    )  # fmt: skip
    house.tick(at(1))
    assert house.runs(schedule)[0].lease_expires_at == at(1 + 60 * 24)


def test_the_future_is_undone_in_parts(house: House) -> None:
    """What came due while others were put back is on time when its turn comes."""
    schedules = [house.make_schedule("* * * * *") for _ in range(7)]
    house.play(at(0), at(1))
    house.tick(at(100))
    ids = "select array_agg(id) from lenses.dispatch_ticks where started_at > %s"
    house.db.execute(
        "create or replace function lenses.fn_keep_alive("
        "p_tick_id bigint, p_now timestamptz, p_limit integer) returns integer "
        "language plpgsql security definer set search_path = pg_catalog, pg_temp as "
        "$$ begin return lenses.fn_undo_future(p_tick_id, p_now, 1); end $$"
    )
    house.play(at(2), at(12))
    assert house.db.value(ids + " and undone_at is null", [at(20)]) is None
    for schedule in schedules:
        assert [slot for slot in house.slots(schedule) if slot < at(90)] == minutes(*range(13))
        assert [reason for reason, slot in house.skips(schedule) if slot < at(90)] == []


def test_a_workflow_that_is_gone_is_named(house: House) -> None:
    workflow = house.make_workflow()
    schedule = house.make_schedule("* * * * *", workflow_id=workflow)
    with replica(house.db):
        house.db.execute("delete from lenses.workflows where id = %s", [workflow])
    house.play(at(0), at(1))
    assert house.skips(schedule) == [("workflow_missing", at(0)), ("workflow_missing", at(1))]
    row = house.schedule(schedule)
    assert row.last_dispatch_status == "validation_failed"
    assert str(workflow) in row.last_error_message
    assert [(v.invariant, v.subject) for v in house.violations()] == [("parent_exists", schedule)]
    house.db.execute("delete from lenses.workflow_schedules where id = %s", [schedule])


@pytest.mark.parametrize("parent", ["calendar", "assignment"])
def test_what_would_judge_and_is_gone_lets_nothing_pass(house: House, parent: str) -> None:
    if parent == "calendar":
        column, table = "calendar_id", "lenses.schedule_calendars"
        link = house.make_calendar("skip_dates", "2027-12-25")
    else:
        column, table = "workflow_assignment_id", "agents.workflow_assignments"
        link = house.db.value(
            "insert into agents.workflow_assignments (workflow_id, lenser_id, assignee_type, "
            "assignee_id) values (%s, %s, 'agent', %s) returning id",
            [house.workflow, house.tenant.id, house.make_agent()],
        )
    schedule = house.make_schedule("* * * * *", **{column: link})
    with replica(house.db):
        house.db.execute(f"delete from {table} where id = %s", [link])
    assert house.tick(at(0)) == 0
    assert house.skips(schedule) == [(f"{parent}_missing", at(0))]
    assert house.schedule(schedule).last_dispatch_status == "validation_failed"
    assert [v.invariant for v in house.violations()] == ["parent_exists"]
    house.set(schedule, **{column: None})


def test_recompute_brings_back_the_due_row(house: House) -> None:
    schedule = house.make_schedule()
    with replica(house.db):
        house.db.execute("delete from lenses.schedule_due where schedule_id = %s", [schedule])
    assert [v.invariant for v in house.violations()] == ["due_index"]
    row = house.db.row("select * from lenses.fn_recompute_schedule(%s)", [schedule])
    assert row.next_run_at == MONDAY


def test_recompute_never_takes_a_slot_that_was_used_up(house: House) -> None:
    """With negative jitter a slot is judged before its instant."""
    schedule = house.make_schedule("0 * * * *", start_at=None, jitter_ms=1_800_000)
    slot = house.schedule(schedule).next_run_at
    house.db.execute(
        "insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, "
        "occurred_at) values (%s, %s, 'schedule_skipped', jsonb_build_object('reason', "
        "'calendar', 'scheduled_for', %s), least(now(), %s - interval '1 microsecond'))",
        [house.tenant.id, schedule, slot, slot],
    )
    early = house.db.value("select now() >= %s - interval '30 minutes'", [slot])
    row = house.db.row("select * from lenses.fn_recompute_schedule(%s)", [schedule])
    assert row.next_run_at == slot + timedelta(hours=1 if early else 0)


def test_recompute_refuses_what_it_cannot_do(house: House) -> None:
    schedule = house.make_schedule(timezone="Asia/Tokyo")
    lose_zone(house, schedule)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=LOST):
        house.db.execute("select lenses.fn_recompute_schedule(%s)", [schedule])
    assert house.schedule(schedule).next_run_at == MONDAY
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="there is no schedule"):
        house.db.execute("select lenses.fn_recompute_schedule(%s)", [house.workflow])


def test_misplaced_next_slots_are_named(house: House) -> None:
    hourly: dict[str, Any] = {"cron": "0 * * * *", "start_at": None}
    names = {
        "DEAD": house.make_schedule(**hourly),
        "PARKED": house.make_schedule(**hourly),
        "NOT_A_SLOT": house.make_schedule(**hourly),
        "ZONE_CHANGED": house.make_schedule("0 9 * * *", start_at=None, timezone="Asia/Tokyo"),
    }
    fine = [
        house.make_schedule(**hourly),
        house.make_schedule("0 * * * *"),
        house.make_schedule(**hourly, is_active=False),
        house.make_schedule(None, start_at=None, interval_ms=300_000),
        house.make_schedule("* * * * *", next_run_at="2026-01-01T00:00:00Z"),
    ]
    kill(house, names["DEAD"])
    for label, hours in (("PARKED", 3), ("NOT_A_SLOT", 0.01), ("ZONE_CHANGED", 1)):
        house.db.execute(
            "update lenses.workflow_schedules "
            "set next_run_at = next_run_at + make_interval(secs => %s) where id = %s",
            [hours * 3600, names[label]],
        )
    find = "select label, id from lenses.fn_misplaced_schedules() where resource = 'schedule'"
    assert dict(house.db.rows(find)) == names
    for schedule in [*names.values(), *fine]:
        house.db.execute("select lenses.fn_recompute_schedule(%s)", [schedule])
    assert house.db.rows(find) == []


def play_saves(house: House) -> None:
    """From here on a save looks at the played clock, as ticks do, not at the server's."""
    text = house.db.value(
        "select pg_get_functiondef('lenses.tg_workflow_schedules_check()'::regprocedure)"
    )
    played = text.replace(":= now();", ":= current_setting('lf_test.now')::timestamptz;")
    assert played != text
    house.db.execute(played)
    saves_at(house, MONDAY)


def saves_at(house: House, now: datetime) -> None:
    house.db.execute("select set_config('lf_test.now', %s, false)", [now.isoformat()])


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
def test_hostile_updates_silence_nothing(house: House, seed: int) -> None:
    """Days of ticks, some of them by a clock that is ahead, among hostile writes.

    A schedule that is active has a next slot as long as one is left; from the last write on each of
    its slots has a run or a reason.
    """
    rng = random.Random(seed)
    play_saves(house)
    schedules = [
        house.make_schedule("*/20 * * * *"),
        house.make_schedule("7 */2 * * *", timezone="Europe/Paris", jitter_ms=120_000),
        house.make_schedule(None, interval_ms=1_500_000),
        house.make_schedule("*/30 * * * *", queue_policy=BACKFILL),
    ]
    now, step = MONDAY, timedelta(minutes=5)
    for _ in range(12):
        saves_at(house, now)
        for schedule in schedules:
            if rng.random() < 0.5:
                change = rng.choice(HOSTILE)
                house.db.execute(
                    f"update lenses.workflow_schedules set {change} where id = %(id)s",
                    {"now": now, "id": schedule},
                )
        if rng.random() < 0.3:
            house.tick(now + timedelta(hours=rng.randint(1, 9)))
        for _ in range(rng.randint(3, 24)):
            house.tick(now)
            now += step
        assert house.violations() == []
    saves_at(house, now)
    house.db.execute("update lenses.workflow_schedules set end_at = null, start_at = %s", [MONDAY])
    house.db.execute("update lenses.workflow_schedules set is_active = true, next_run_at = null")
    start = now
    house.play(now, now + timedelta(hours=6), step)
    for schedule in schedules:
        due = house.db.column(
            "select s from lenses.fn_next_slots(%s, %s, %s, 1000) as s",
            [schedule, start + timedelta(minutes=5), start + timedelta(hours=5, minutes=50)],
        )
        told = set(house.slots(schedule)) | {
            slot
            for slot in due
            if house.db.value(
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
