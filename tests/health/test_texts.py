"""No line has an empty half: rendered under many states, with all that may be missing missing."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from lf_sql import bundle
from tests.support.database import Database, Tenant, as_user
from tests.support.work import make_schedule, make_workflow, unguarded

TICK = next(job.command for job in bundle.load().jobs if job.name == "dispatch-scheduled-workflows")

HOLLOW = re.compile(
    r"  |(?<!\w)\(\s*[:,;)]|[\s,;:]\)|^\s|\s$|[:,]\s*$|\s[,;:](?:\s|$)|NULL|None|\bnull\b|''|\"\"|"
    r"\b(by|at|of|in|to|since|as|role|from|process|zone|calendar|job) +(at|by|,|;|:|$)|, ,|; ;"
)
LINES = "select check_name, state, label, detail, advice from {}"


def hollow(text: str | None) -> bool:
    return text is not None and (not text or HOLLOW.search(text) is not None)


def test_the_net_catches_what_it_should() -> None:
    for text in ("(: )", "by  at", "one, ", "process 7 ()", "since :", "as ", "job , every", ""):
        assert hollow(text), text
    assert not hollow("last tick 3 s ago, by worker; leader host:7, 2 standing by")
    assert not hollow(None)


def check(rows: list[Any]) -> int:
    for row in rows:
        assert row.detail, row
        for text in (row.check_name, row.label, row.detail, row.advice):
            assert not hollow(text), (text, row)
    return len(rows)


# What the queries always give: columns that are NOT NULL.
ALWAYS = {"database", "jobid", "schedule", "command", "username", "pid", "lock", "relation"}


def variants(full: Any) -> Iterator[Any]:
    """The object, and each with one leaf missing, null or empty."""
    yield full
    for key, value in full.items():
        if key in ALWAYS:
            continue
        yield {k: v for k, v in full.items() if k != key}
        yield {**full, key: None}
        if isinstance(value, dict):
            for inner in variants(value):
                yield {**full, key: inner}
        elif isinstance(value, str):
            yield {**full, key: ""}
        elif isinstance(value, bool):
            yield {**full, key: not value}


FACTS = {
    "database": "app",
    "job_name": "dispatch-scheduled-workflows-app",
    "jobs_in": "postgres",
    "pg_cron": {
        "is_available": True,
        "is_installed": True,
        "version": "1.4",
        "can_read": True,
        "is_preloaded": True,
        "cron_database": "app",
        "host": "localhost",
        "has_launcher": True,
    },
    "job": {
        "jobid": 1,
        "schedule": "* * * * *",
        "command": TICK,
        "database": "app",
        "username": "postgres",
        "active": True,
        "has_role": True,
        "can_tick": True,
    },
    "last_run": {"status": "failed", "return_message": "connection failed", "age": 1},
    "oldest_job_run": "2020-01-01T00:00:00Z",
    "oldest_snapshot": {"pid": 7, "age": 7300, "application_name": "psql"},
    "holders": [],
}


def test_pg_cron_and_facts(db: Database) -> None:
    seen = 0
    for facts, driven in itertools.product(variants(FACTS), (True, False)):
        seen += check(
            db.rows(
                "select 'pg_cron' as check_name, p.* from lenses.fn_health_pg_cron(%s, %s) as p",
                [json.dumps(facts), driven],
            )
        )
    for facts in variants(FACTS):
        seen += check(db.rows(LINES.format("lenses.fn_health_work(%s)"), [json.dumps(facts)]))
    assert seen > 200


@pytest.mark.parametrize("reason", [None, "", " ", "moving"])
def test_the_driver(db: Database, reason: str | None) -> None:
    def look() -> None:
        check(db.rows(LINES.format("lenses.fn_health_driver(null)")))

    look()
    for driver, finished in (("worker", True), ("pg_cron", False)):
        db.execute(
            "insert into lenses.dispatch_ticks (driver, started_at, finished_at, note) "
            "values (%s, now(), case when %s then now() end, %s)",
            [driver, finished, reason],
        )
        look()
    db.execute("select lenses.fn_worker_heartbeat('w', '', 0, true, '')")
    db.execute("select lenses.fn_worker_heartbeat('v', 'h', 1, true, '')")
    look()
    db.execute(
        "insert into lenses.dispatch_ticks (driver, started_at) values "
        "('x', now() + interval '3 hours'), ('x', now() - interval '3 hours')"
    )
    look()
    db.execute("select lenses.fn_freeze_dispatch(%s)", [reason])
    with unguarded(db, "lenses.dispatch_settings"):
        db.execute("update lenses.dispatch_settings set frozen_at = null")
    look()


def test_holders(db: Database, owner: Tenant) -> None:
    schedule = make_schedule(db, make_workflow(db, owner))
    db.execute(
        "update lenses.workflow_schedules set next_run_at = now() - interval '5 minutes' "
        "where id = %s",
        [schedule],
    )
    db.execute("select lenses.fn_begin_tick_at('worker', now())")
    full = {
        "pid": 7, "role": "postgres", "application_name": "psql", "state": "active", "age": 100,
        "lock": "RowShareLock", "relation": "lenses.schedule_due", "xid": "5",
    }  # fmt: skip
    for holder in variants(full):
        rows = db.rows(
            LINES.format("lenses.fn_health_holders(%s)"), [json.dumps({"holders": [holder]})]
        )
        assert check(rows) == 1


def test_schedules(db: Database, owner: Tenant) -> None:
    """Each status, with a title, a note and an error that are there, empty, or missing."""
    workflow = make_workflow(db, owner)
    statuses = (
        None, "dispatched", "skipped_missed", "skipped_calendar", "skipped_condition",
        "skipped_overlap", "deferred", "paused", "dispatch_failed", "validation_failed",
        "condition_failed", "budget_exceeded",
    )  # fmt: skip
    calendar = db.value(
        "insert into lenses.schedule_calendars (lenser_id, name, kind, dates) "
        "values (%s, 'old', 'only_dates', '{2020-01-01}') returning id",
        [owner.id],
    )
    for status, text, soon in itertools.product(statuses, (None, "", " ", "words"), (1, -1)):
        schedule = make_schedule(db, workflow, calendar_id=calendar)
        with unguarded(db, "lenses.workflow_schedules"):
            db.execute(
                "update lenses.workflow_schedules set last_dispatch_status = %s, "
                "last_error_message = %s, pause_note = %s, is_active = %s, paused_at = %s, "
                "due_at = %s, next_run_at = now() + %s * interval '1 hour' where id = %s",
                [status, text, text, soon == 1, None if soon == 1 else "2026-01-01Z", None, soon,
                 schedule],
            )  # fmt: skip
    for reason in ("calendar", "missed"):
        db.execute(
            "insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at) "
            "select s.lenser_id, s.id, 'schedule_skipped', jsonb_build_object('reason', %s::text, "
            "'scheduled_for', now()), now() - n * interval '1 day' "
            "from lenses.workflow_schedules as s, generate_series(0, 11) as n",
            [reason],
        )
    for title in ("report", "", " "):
        with unguarded(db, "lenses.workflows"):
            db.execute("update lenses.workflows set title = %s, status = 'paused'", [title])
        assert check(db.rows(LINES.format("lenses.fn_health_schedules(null)"))) > 100
    with as_user(db, owner):
        assert check(db.rows(LINES.format("public.fn_schedule_health()"))) > 100


@pytest.mark.parametrize(("count", "schedules"), [(1, 0), (1, 1), (3, 1), (4, 3)])
def test_runs_that_wait_for_their_owner(
    db: Database, owner: Tenant, count: int, schedules: int
) -> None:
    workflow = make_workflow(db, owner)
    made = [make_schedule(db, workflow) for _ in range(schedules)] or [None]
    for number in range(count):
        db.execute(
            "insert into lenses.workflow_runs (workflow_id, schedule_id, status, needs_approval) "
            "values (%s, %s, 'pending_approval', true)",
            [workflow, made[number % len(made)]],
        )
    (line,) = db.rows(LINES.format("lenses.fn_health_approvals(null)"))
    check([line])
    assert (line.state, line.label) == ("ok", str(count))
    with unguarded(db, "lenses.workflow_runs"):
        db.execute("update lenses.workflow_runs set created_at = now() - interval '2 days'")
    (line,) = db.rows(LINES.format("lenses.fn_health_approvals(%s)"), [owner.id])
    assert line.state == "warn"
    assert "48 h" in line.detail or "2 days" in line.detail
    stranger = "00000000-0000-4000-8000-000000000000"
    assert db.rows(LINES.format("lenses.fn_health_approvals(%s)"), [stranger]) == []
