"""Schedules that let nothing through: ten slots and a day, all skipped for one reason, and no run between."""

from __future__ import annotations

import uuid

import pytest

from tests.health.conftest import Health, follow
from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.support.work import make_schedule, make_workflow

STATUS = {
    "calendar": "skipped_calendar",
    "condition_failed": "skipped_condition",
    "overlap_in_flight": "skipped_overlap",
}


@pytest.fixture
def schedule(db: Database, owner: Tenant, ticking: object) -> uuid.UUID:
    return make_schedule(db, make_workflow(db, owner))


def log(
    db: Database, schedule: uuid.UUID, reason: str | None, count: int, every: str, since: str
) -> None:
    """So many log rows as the tick writes them, the newest `since` ago; reason None: dispatches."""
    db.execute(
        "insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at) "
        "select s.lenser_id, s.id, "
        "case when %(reason)s::text is null then 'dispatch_schedule' else 'schedule_skipped' end, "
        "jsonb_strip_nulls(jsonb_build_object('reason', %(reason)s::text)), "
        "now() - %(since)s::interval - (n - 1) * %(every)s::interval "
        "from lenses.workflow_schedules as s, generate_series(1, %(count)s) as n where s.id = %(id)s",
        {"reason": reason, "since": since, "every": every, "count": count, "id": schedule},
    )
    if reason:
        db.execute(
            "update lenses.workflow_schedules set last_dispatch_status = %s where id = %s",
            [STATUS[reason], schedule],
        )


def told(health: Health, schedule: uuid.UUID) -> bool:
    return "ALL_SKIPPED" in health(code=0).of(schedule)


@pytest.mark.parametrize("reason", STATUS)
def test_each_reason_and_what_to_do(
    db: Database, health: Health, schedule: uuid.UUID, lf: Command, reason: str
) -> None:
    log(db, schedule, reason, 10, "3 hours", "1 minute")
    line = health(code=0).of(schedule)["ALL_SKIPPED"]
    assert line["state"] == "warn"
    assert str(schedule) in line["advice"]
    follow(line["advice"], lf, db)


@pytest.mark.parametrize(
    ("count", "every", "expected"),
    [
        (9, "1 day", False),  # fewer than ten
        (10, "1 day", True),
        (10, "1 minute", False),  # not for a day
        (1440, "1 minute", False),
        (1442, "1 minute", True),
    ],
)
def test_how_many_and_for_how_long(
    db: Database, health: Health, schedule: uuid.UUID, count: int, every: str, expected: bool
) -> None:
    log(db, schedule, "calendar", count, every, "1 minute")
    assert told(health, schedule) is expected


def test_a_run_or_another_reason_between(db: Database, health: Health, schedule: uuid.UUID) -> None:
    log(db, schedule, "calendar", 1500, "1 minute", "1 minute")
    assert told(health, schedule)
    log(db, schedule, None, 1, "1 minute", "20 hours")
    assert not told(health, schedule), "a dispatch within the day"
    other = make_schedule(db, db.value("select id from lenses.workflows"))
    log(db, other, "overlap_in_flight", 1, "1 minute", "5 hours")
    log(db, other, "calendar", 12, "3 hours", "1 minute")
    assert not told(health, other), "not for one reason alone"


def test_only_while_it_is_so(db: Database, health: Health, schedule: uuid.UUID) -> None:
    log(db, schedule, "calendar", 12, "3 hours", "1 minute")
    db.execute(
        "update lenses.workflow_schedules set last_dispatch_status = 'dispatched', last_run_at = now()"
    )
    assert not told(health, schedule)
    db.execute(
        "update lenses.workflow_schedules set last_dispatch_status = 'skipped_calendar', "
        "is_active = false"
    )
    assert not told(health, schedule)


def test_a_tenant_is_told_of_his_own(
    db: Database, schedule: uuid.UUID, owner: Tenant, tenant: object, lf: Command
) -> None:
    log(db, schedule, "calendar", 12, "3 hours", "1 minute")
    assert "ALL_SKIPPED" in lf("schedule", "health", "--as", owner.user_id).out
    stranger = tenant("stranger")  # type: ignore[operator]
    assert "ALL_SKIPPED" not in lf("schedule", "health", "--as", stranger.user_id).out
