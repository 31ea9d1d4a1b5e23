"""What a tenant sees: one schedule, all of them, and the feed."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from lf_sql.console.charts import interval_words
from tests.support.callers import Caller, instant

NO_APPROVAL = {"requiresApproval": False}


def observed(alice: Caller) -> dict[uuid.UUID, Any]:
    rows = alice.rows("fn_observe_schedules")
    found = {row.schedule_id: row for row in rows}
    assert len(found) == len(rows)
    return found


def dispatched(alice: Caller, key: uuid.UUID) -> None:
    """One late slot of the schedule runs."""
    alice.db.execute(
        "update lenses.workflow_schedules set next_run_at = next_run_at - interval '1 day' where id = %s",
        [key],
    )
    alice.db.execute("select lenses.fn_dispatch_scheduled_workflows()")


def test_workflow_schedules(alice: Caller) -> None:
    agent = alice.agent("Ada")
    workflow = alice.workflow(title="Report")
    cron = alice.schedule(
        workflow.id,
        cron_expr="0 9 * * 1-5",
        timezone="Europe/Berlin",
        assignee_id=agent,
        description="weekdays",
    )
    row = observed(alice)[cron.id]
    assert row._asdict() == {
        "resource": "Report",
        "resource_type": "workflow",
        "resource_id": workflow.id,
        "schedule_id": cron.id,
        "type": "cron",
        "expression": "0 9 * * 1-5",
        "description": "At 09:00, Monday through Friday",
        "timezone": "Europe/Berlin",
        "status": "enabled",
        "next_run_at": cron.next_run_at,
        "last_run_at": None,
        "last_status": None,
        "assignee": "Ada",
        "label": "weekdays",
    }


@pytest.mark.parametrize(
    ("interval_ms", "period", "english"),
    [
        (300_000, "5m", "Every 5 minutes"),
        (3_600_000, "1h", "Every hour"),
        (21_600_000, "6h", "Every 6 hours"),
        (5_400_000, "1h 30m", "Every 1 hour 30 minutes"),
        (86_400_000, "1d", "Every day"),
        (172_801_500, "2d 1s 500ms", "Every 2 days 1 second 500 milliseconds"),
    ],
)
def test_periods(alice: Caller, interval_ms: int, period: str, english: str) -> None:
    key = alice.schedule(interval_ms=interval_ms, timezone="Europe/Berlin").id
    row = observed(alice)[key]
    assert (row.type, row.expression, row.description, row.timezone) == (
        "interval",
        period,
        english,
        None,
    )
    assert interval_words(interval_ms) == english  # the console says it in the same words


def test_status(alice: Caller) -> None:
    workflow = alice.workflow()
    enabled = alice.schedule(workflow.id)
    disabled = alice.schedule(workflow.id, is_active=False)
    paused = alice.schedule(workflow.id)
    alice.one("fn_pause_workflow_schedule", schedule_id=paused.id)
    rows = observed(alice)
    assert {key: (row.status, row.next_run_at) for key, row in rows.items()} == {
        enabled.id: ("enabled", enabled.next_run_at),
        disabled.id: ("disabled", None),
        paused.id: ("paused", None),
    }
    assert rows[enabled.id].timezone is None


@pytest.mark.usefixtures("committed")
def test_gateways_beside_workflows(alice: Caller, bob: Caller) -> None:
    bob.schedule()
    gateway = alice.one("fn_upsert_gateway", name="eu-west")
    cron = alice.one(
        "fn_gateway_cron_add",
        gateway_id=gateway.id,
        operation="health_probe",
        cron_expr="0 * * * *",
    )
    off = alice.one(
        "fn_gateway_cron_add", gateway_id=gateway.id, operation="maintenance_window", cron_expr="0 2 * * 0",
        timezone="Asia/Tokyo", is_active=False,
    )  # fmt: skip
    alice.schedule(alice.workflow(title="a workflow").id)
    rows = alice.rows("fn_observe_schedules")
    assert [row.resource_type for row in rows] == ["workflow", "gateway", "gateway"]
    first, second = (row for row in rows if row.resource_type == "gateway")
    assert (first.resource, first.schedule_id, first.label) == ("eu-west", cron.id, "health_probe")
    assert (first.type, first.expression, first.timezone, first.status) == (
        "cron",
        "0 * * * *",
        None,
        "enabled",
    )
    assert first.description
    assert first.next_run_at == cron.next_run_at
    assert (second.schedule_id, second.timezone, second.status) == (
        off.id,
        "Asia/Tokyo",
        "disabled",
    )
    assert second.next_run_at is None


def test_last_run_and_its_status(alice: Caller) -> None:
    key = alice.schedule(
        cron_expr="0 9 * * *", approval_policy=NO_APPROVAL, queue_policy={"onMissed": "run_once"}
    ).id
    dispatched(alice, key)
    row = observed(alice)[key]
    assert row.last_status == "pending"
    assert row.last_run_at == alice.saved(key).last_run_at
    alice.db.execute("select lenses.fn_cancel_workflow_run(id) from lenses.workflow_runs")
    assert observed(alice)[key].last_status == "cancelled"


def test_the_last_run_is_the_newest_whatever_started_it(alice: Caller) -> None:
    """The columns of the table stay the tick's; the lists speak of the run that a person looks for."""
    key = alice.schedule(cron_expr="0 9 * * *", approval_policy=NO_APPROVAL).id
    made = alice.one("fn_run_workflow_schedule_now", schedule_id=key)
    row = observed(alice)[key]
    assert (row.last_run_at, row.last_status) == (made.created_at, "pending")
    assert alice.saved(key).last_run_at is None
    waits = alice.schedule(cron_expr="0 9 * * *").id
    alice.one("fn_run_workflow_schedule_now", schedule_id=waits)
    assert observed(alice)[waits].last_status == "pending_approval"


def test_one_schedule(alice: Caller) -> None:
    key = alice.schedule(
        alice.workflow(title="Report").id, cron_expr="0 9 * * 1-5", timezone="America/New_York",
        start_at="2031-03-07T00:00:00Z", end_at="2031-03-12T23:00:00Z",
    ).id  # fmt: skip
    calendar = alice.value(
        "fn_create_schedule_calendar",
        name="days",
        kind="skip_dates",
        timezone="UTC",
        dates=["2031-03-10"],
    )
    alice.one("fn_set_schedule_calendar", schedule_id=key, calendar_id=calendar)
    shown = alice.value("fn_get_workflow_schedule", schedule_id=key)
    assert shown["id"] == str(key)
    assert shown["description"] == shown["english"] == "At 09:00, Monday through Friday"
    assert (shown["status"], shown["workflow_title"], shown["calendar_name"]) == (
        "enabled",
        "Report",
        "days",
    )
    assert shown["next_slots"] == [
        "2031-03-07T14:00:00+00:00",
        "2031-03-10T13:00:00+00:00",
        "2031-03-11T13:00:00+00:00",
        "2031-03-12T13:00:00+00:00",
    ]
    assert shown["last_runs"] == []
    assert shown["queue_policy"] == {"mode": "parallel"}
    assert not {"cron_spec", "dispatch_seq", "seen_until", "tick_id"} & set(shown)
    alice.one("fn_pause_workflow_schedule", schedule_id=key)
    alice.one("fn_patch_workflow_schedule", schedule_id=key, patch={"description": "mine"})
    paused = alice.value("fn_get_workflow_schedule", schedule_id=key)
    assert (paused["status"], paused["description"]) == ("paused", "mine")
    assert paused["next_slots"] == shown["next_slots"]
    alice.db.execute(
        "update lenses.workflow_schedules set next_run_at = '2031-03-08 10:20:30Z' where id = %s",
        [key],
    )
    beside = alice.value("fn_get_workflow_schedule", schedule_id=key)
    assert beside["next_slots"] == ["2031-03-08T10:20:30+00:00", *shown["next_slots"][1:]]


def test_one_schedule_and_its_runs(alice: Caller) -> None:
    key = alice.schedule(cron_expr="0 9 * * *", queue_policy={"onMissed": "run_once"}).id
    dispatched(alice, key)
    runs = alice.value("fn_get_workflow_schedule", schedule_id=key)["last_runs"]
    assert len(runs) == 1
    assert runs[0]["status"] == "pending_approval"
    assert "n" not in runs[0]


def test_times_in_json_do_not_depend_on_the_session(alice: Caller) -> None:
    key = alice.schedule().id
    plain = alice.value("fn_get_workflow_schedule", schedule_id=key)
    alice.db.execute("set timezone = 'Asia/Tokyo'")
    assert alice.value("fn_get_workflow_schedule", schedule_id=key) == plain


def test_feed(alice: Caller, bob: Caller) -> None:
    policies = {"approval_policy": NO_APPROVAL, "queue_policy": {"onMissed": "run_once"}}
    row = alice.schedule(alice.workflow(title="Report").id, cron_expr="0 9 * * *", **policies)
    theirs = bob.schedule(cron_expr="0 9 * * *", **policies)
    dispatched(alice, row.id)
    dispatched(alice, theirs.id)
    item = alice.one("fn_get_automation_feed")
    run = alice.db.row("select * from lenses.workflow_runs where schedule_id = %s", [row.id])
    assert (item.kind, item.schedule_id, item.run_id) == ("schedule_dispatch", row.id, run.id)
    assert (item.workflow_title, item.status, item.trigger_mode) == (
        "Report",
        "pending",
        "schedule",
    )
    assert (item.scheduled_for, item.occurred_at, item.is_missed) == (
        run.scheduled_for,
        run.created_at,
        True,
    )
    alice.one("fn_delete_workflow_schedule", schedule_id=row.id)
    assert alice.one("fn_get_automation_feed").schedule_id == row.id


def test_the_feed_has_pages_of_some_size(alice: Caller) -> None:
    key = alice.schedule(
        cron_expr="* * * * *", queue_policy={"onMissed": "backfill", "maxBackfill": 600}
    ).id
    alice.db.execute(
        "update lenses.workflow_schedules set next_run_at = next_run_at - interval '550 minutes' where id = %s",
        [key],
    )
    for _ in range(7):
        alice.db.execute("select lenses.fn_dispatch_scheduled_workflows()")
    times = [item.occurred_at for item in alice.rows("fn_get_automation_feed", limit=2**31 - 1)]
    assert len(times) == 500
    assert times == sorted(times, reverse=True)
    assert len(alice.rows("fn_get_automation_feed")) == 50
    assert len(alice.rows("fn_get_automation_feed", limit=None)) == 50
    assert alice.rows("fn_get_automation_feed", limit=0) == []
    alice.refused("22023", "fn_get_automation_feed", limit=-1)


def test_intervals_are_shown_from_their_anchor(alice: Caller) -> None:
    key = alice.schedule(interval_ms=86_400_000, start_at="2031-01-01T06:30:00Z").id
    shown = alice.value("fn_get_workflow_schedule", schedule_id=key)
    assert shown["english"] == "Every day"
    assert [instant(slot).hour for slot in shown["next_slots"]] == [6] * 5
