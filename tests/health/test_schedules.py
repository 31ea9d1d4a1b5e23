"""Every way in which a schedule is not fine."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from tests.health.conftest import Health, follow
from tests.support.command import Command
from tests.support.database import Database, Tenant, as_user
from tests.support.work import due_in, make_schedule, make_workflow, unguarded

Tick = Callable[[], None]


@pytest.fixture
def schedule(db: Database, owner: Tenant, ticking: Tick) -> uuid.UUID:
    """Hourly; its slots lie half an hour from now, whatever minute this is."""
    minute = db.value("select date_part('minute', now() + interval '30 minutes')::int")
    return make_schedule(db, make_workflow(db, owner), cron_expr=f"{minute} * * * *")


def test_new_and_waiting_for_its_first_slot(health: Health, schedule: uuid.UUID) -> None:
    found = health(code=0).of(schedule)
    assert set(found) == {"NEVER_RAN"}
    assert "first slot comes at" in found["NEVER_RAN"]["detail"]


def test_ran_and_fine(db: Database, health: Health, schedule: uuid.UUID, ticking: Tick) -> None:
    due_in(db, schedule, -1)
    ticking()
    assert health(code=0).of(schedule) == {}


def test_missed_while_nobody_ticks_then_dropped_then_made_good(
    db: Database, health: Health, schedule: uuid.UUID, ticking: Tick, lf: Command
) -> None:
    db.execute(
        "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) "
        "- interval '90 minutes' where id = %s",
        [schedule],
    )
    found = health(code=1).of(schedule)
    assert set(found) == {"MISSED", "NEVER_RAN"}
    assert "has not been dispatched" in found["MISSED"]["detail"]
    ticking()
    found = health(code=1).of(schedule)
    assert "dropped as late" in found["MISSED"]["detail"]
    follow(found["MISSED"]["advice"], lf, db)
    assert health(code=0).of(schedule) == {}


def test_never_ran_although_it_was_due(
    db: Database, health: Health, schedule: uuid.UUID, lf: Command
) -> None:
    db.execute(
        "update lenses.workflow_schedules set last_dispatch_status = 'skipped_missed', "
        "next_run_at = now() + interval '1 hour'"
    )
    line = health(code=1).of(schedule)["NEVER_RAN"]
    assert "skipped_missed" in line["detail"]
    follow(line["advice"], lf, db)


NEVER = '{"/nothing": {"eq": 1}}'
MEANT = {
    "skipped_condition": {"pre_dispatch_condition": NEVER},
    "skipped_calendar": {"calendar_id": "weekend"},
    "skipped_overlap": {"queue_policy": '{"mode": "serial"}'},
    "deferred": {"queue_policy": '{"mode": "serial", "onOverlap": "queue"}'},
    "paused": {},
}


@pytest.mark.parametrize("status", MEANT)
def test_a_first_slot_that_was_skipped_on_purpose_is_no_bad_news(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command, status: str
) -> None:
    columns = dict(MEANT[status])
    if "calendar_id" in columns:
        columns["calendar_id"] = db.value(
            "insert into lenses.schedule_calendars (lenser_id, name, kind, dates) "
            "values (%s, 'never', 'only_dates', '{9999-01-01}') returning id",
            [owner.id],
        )
    workflow = make_workflow(db, owner)
    schedule = make_schedule(db, workflow, **columns)
    if "queue_policy" in columns:  # a run by another's hand, and no other trace of it
        db.execute(
            "insert into lenses.workflow_runs (workflow_id, schedule_id) values (%s, %s)",
            [workflow, schedule],
        )
    if status == "paused":
        db.execute("update lenses.workflows set status = 'paused'")
    due_in(db, schedule, -1)
    ticking()
    assert db.value("select last_dispatch_status from lenses.workflow_schedules") == status
    found = health(code=0).of(schedule)
    if "queue_policy" in columns:
        assert found == {}  # it ran
        with unguarded(db, "lenses.workflow_runs"):
            db.execute("delete from lenses.workflow_runs")
        found = health(code=0).of(schedule)
    line = found["NEVER_RAN"]
    assert line["state"] == "warn"
    follow(line["advice"], lf, db)


@pytest.mark.parametrize("has_run", [False, True])
def test_a_window_that_is_over_is_no_bad_news(
    db: Database, health: Health, owner: Tenant, ticking: Tick, has_run: bool
) -> None:
    schedule = make_schedule(
        db, make_workflow(db, owner), start_at="2026-01-01", end_at="2026-01-02"
    )
    if has_run:
        due_in(db, schedule, -1)
        ticking()
    assert {row["state"] for row in health(code=0).of(schedule).values()} <= {"warn"}


def test_what_was_dropped_a_month_ago_cannot_be_run_and_is_not_told(
    db: Database, health: Health, schedule: uuid.UUID, ticking: Tick
) -> None:
    db.execute("update lenses.workflow_schedules set next_run_at = now() - interval '1 hour'")
    ticking()
    assert "MISSED" in health(code=1).of(schedule)
    with unguarded(db, "agents.action_logs"):
        db.execute(
            "update agents.action_logs set payload = jsonb_set(payload, '{detail,last}', "
            "to_jsonb(now() - interval '31 days')) where action_type = 'schedule_skipped'"
        )
    assert "MISSED" not in health(code=None).of(schedule)


def test_paused_and_disabled_are_no_bad_news(
    db: Database, health: Health, schedule: uuid.UUID, owner: Tenant, lf: Command
) -> None:
    lf("schedule", "pause", schedule, "--note", "moving house")
    off = make_schedule(db, make_workflow(db, owner), is_active=False)
    lines = health(code=0)
    assert "moving house" in lines.of(schedule)["PAUSED"]["detail"]
    assert set(lines.of(off)) == {"DISABLED"}
    assert f"PAUSED: {schedule}" in lines.text


def test_server_alone_shows_no_schedule(
    db: Database, health: Health, schedule: uuid.UUID, ticking: Tick
) -> None:
    db.execute(
        "update lenses.workflow_schedules set last_dispatch_status = 'dispatch_failed', "
        "last_error_message = 'x'"
    )
    assert health(code=1).of(schedule)
    assert health("--server", code=0).of(schedule) == {}


def test_dispatch_failed(db: Database, health: Health, schedule: uuid.UUID, ticking: Tick) -> None:
    db.execute(
        "create function public.poison() returns trigger language plpgsql as "
        "$$ begin raise exception 'out of paper'; end $$;"
        "create trigger poison before insert on lenses.workflow_runs "
        "for each row execute function public.poison()"
    )
    due_in(db, schedule, -1)
    ticking()
    line = health(code=1).of(schedule)["DISPATCH_FAILED"]
    assert "out of paper" in line["detail"]
    assert "1, 2, 4 and 8 minutes" in line["advice"]


def test_validation_failed(db: Database, health: Health, owner: Tenant, ticking: Tick) -> None:
    agent = db.value(
        "insert into agents.ai_lensers (lenser_id, name) values (%s, 'a') returning id", [owner.id]
    )
    schedule = make_schedule(db, make_workflow(db, owner), assignee_id=agent)
    db.execute("delete from agents.ai_lensers")
    due_in(db, schedule, -1)
    ticking()
    assert health(code=1).of(schedule)["VALIDATION_FAILED"]["state"] == "bad"


def test_condition_that_raises(
    db: Database, health: Health, schedule: uuid.UUID, ticking: Tick
) -> None:
    db.execute(
        "create or replace function lenses.fn_condition_signal(p_schedule_id uuid) returns jsonb "
        "language plpgsql stable set search_path = pg_catalog, pg_temp as "
        "$$ begin raise exception 'no signal'; end $$"
    )
    db.execute(
        "update lenses.workflow_schedules set pre_dispatch_condition = "
        '\'{"/signal_rpc_result": {"eq": 1}}\''
    )
    due_in(db, schedule, -1)
    ticking()
    line = health(code=1).of(schedule)["CONDITION_FAILED"]
    assert "condition test" in line["advice"]


def test_budget_exceeded_is_shown(
    db: Database, health: Health, owner: Tenant, ticking: Tick
) -> None:
    agent = db.value(
        "insert into agents.ai_lensers (lenser_id, name) values (%s, 'a') returning id", [owner.id]
    )
    db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 0)",
        [agent, owner.id],
    )
    schedule = make_schedule(db, make_workflow(db, owner), assignee_id=agent)
    due_in(db, schedule, -1)
    ticking()
    assert health(code=1).of(schedule)["BUDGET_EXCEEDED"]["state"] == "warn"


def test_a_workflow_that_is_not_active(
    db: Database, health: Health, schedule: uuid.UUID, lf: Command
) -> None:
    lf("workflow", "status", "report", "paused")
    assert set(health(code=0).of(schedule)) == {"NEVER_RAN", "WORKFLOW_NOT_ACTIVE"}


def test_zone_data_changed_since_the_slot_was_computed(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command
) -> None:
    schedule = make_schedule(
        db, make_workflow(db, owner), cron_expr="30 9 * * *", timezone="Europe/Istanbul"
    )
    db.execute("update lenses.workflow_schedules set next_run_at = next_run_at + interval '1 hour'")
    line = health(code=1).of(schedule)["ZONE_CHANGED"]
    lf(*line["advice"].removeprefix("lf-sql ").split())
    assert "ZONE_CHANGED" not in health(code=0).of(schedule)


def test_a_clock_that_was_ahead_is_forgotten_once_it_is_right(
    db: Database, health: Health, schedule: uuid.UUID, ticking: Tick
) -> None:
    db.execute("select lenses.fn_dispatch_scheduled_workflows(now() + interval '3 hours')")
    lines = health(code=1)
    assert lines.check("worker")["label"] == "clock"
    assert set(lines.of(schedule)) >= {"PARKED"}
    ticking()
    lines = health(code=0)
    assert lines.check("worker")["label"] == "ok"
    assert not {"PARKED", "MISSED"} & set(lines.of(schedule))


def test_a_workflow_that_is_gone(
    db: Database, health: Health, schedule: uuid.UUID, ticking: Tick
) -> None:
    db.execute("set session_replication_role = replica")
    db.execute("delete from lenses.workflows")
    db.execute("reset session_replication_role")
    line = health(code=1).of(schedule)["PARENT_GONE"]
    assert "workflow" in line["detail"]


def test_a_zone_that_has_left_the_server(
    db: Database, health: Health, schedule: uuid.UUID, ticking: Tick
) -> None:
    with unguarded(db, "lenses.workflow_schedules"):
        db.execute("update lenses.workflow_schedules set timezone = 'Europe/Atlantis'")
    assert "Europe/Atlantis" in health(code=1).of(schedule)["ZONE_GONE"]["detail"]


@pytest.mark.parametrize(("kind", "expected"), [("only_dates", "bad"), ("skip_dates", "warn")])
def test_a_calendar_that_has_run_out(
    db: Database, health: Health, owner: Tenant, ticking: Tick, kind: str, expected: str
) -> None:
    calendar = db.value(
        "insert into lenses.schedule_calendars (lenser_id, name, kind, dates) "
        "values (%s, 'old', %s, '{2020-01-01}') returning id",
        [owner.id, kind],
    )
    schedule = make_schedule(db, make_workflow(db, owner), calendar_id=calendar)
    line = health(code=1 if expected == "bad" else 0).of(schedule)["CALENDAR_OVER"]
    assert line["state"] == expected
    assert "old is 2020-01-01" in line["detail"]


def test_a_tenant_sees_his_own_and_nothing_else(
    db: Database,
    schedule: uuid.UUID,
    owner: Tenant,
    tenant: Callable[..., Tenant],
    lf: Command,
) -> None:
    stranger = tenant("stranger")
    lf("schedule", "pause", schedule)
    mine = lf("schedule", "health", "--as", owner.user_id)
    assert f"PAUSED: {schedule}" in mine.out
    assert "worker: ok" in mine.out
    assert str(schedule) not in lf("schedule", "health", "--as", stranger.user_id).out
    nobody = lf("schedule", "health", "--as", uuid.uuid4(), code=1)
    assert "there is no tenant with the user id" in nobody.err


def test_many_schedules_are_judged_by_their_stored_specs(
    db: Database, owner: Tenant, ticking: Tick
) -> None:
    workflow = make_workflow(db, owner)
    db.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, timezone) "
        "select %s, n || ' 9 * * *', 'Europe/Istanbul' from generate_series(0, 59) as n",
        [workflow],
    )
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        assert db.value("select count(*) from lenses.fn_health_schedules(null)") == 60
        calls = dict(db.rows("select funcname, calls from pg_stat_xact_user_functions"))
    assert "fn_cron_parse" not in calls, "parsing is what is slow"
    assert calls["fn_cron_next_after_spec"] == 60


def test_equal_expressions_are_searched_once_however_many_schedules_there_are(
    db: Database, owner: Tenant, ticking: Tick
) -> None:
    for number in range(30):
        make_schedule(db, make_workflow(db, owner), cron_expr=f"{number % 3} 5 * * *")
    db.execute("set track_functions = 'all'")
    with as_user(db, owner):
        found = db.rows("select * from public.fn_schedule_health()")
        searches = db.value(
            "select pg_stat_get_xact_function_calls(p.oid) from pg_proc as p "
            "where p.proname = 'fn_next_slot'"
        )
    assert len([line for line in found if line.label == "NEVER_RAN"]) == 30
    assert searches == 3
