"""What an edit, a pause or a change elsewhere does to slots: none runs twice, none goes unsaid."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.support.callers import Caller
from tests.support.database import Database, as_user, wait_until_blocked
from tests.support.scenario import MONDAY, Scenario, at
from tests.support.work import unguarded

QUEUE = {"mode": "serial", "onOverlap": "queue"}
GATED = {"requiresApproval": False, "gates": ["publish"]}


def owner(scenario: Scenario) -> Caller:
    return Caller(scenario.db, scenario.tenant)


def refused(scenario: Scenario, message: str) -> Any:
    return pytest.raises(psycopg.errors.InvalidParameterValue, match=message)


def node(**keys: str) -> dict[str, Any]:
    return {"nodes": [{"id": "a", **keys}], "edges": []}


def five_minutes_ago(scenario: Scenario, times: int = 1) -> Any:
    return scenario.db.value(
        "select date_bin('5 minutes', now(), '2020-01-01 00:00Z') - %s * interval '5 minutes'",
        [times],
    )


@pytest.mark.parametrize("way", ["upsert", "update"])
def test_a_schedule_goes_to_no_workflow_that_lacks_its_version(
    scenario: Scenario, way: str
) -> None:
    other = scenario.make_workflow(title="other")
    alice = owner(scenario)
    alice.one("fn_upsert_workflow", workflow_id=scenario.workflow, definition=node())
    schedule = scenario.make_schedule(workflow_version=2, approval_policy=GATED)
    with refused(scenario, "version 2"), scenario.db.transaction():
        if way == "update":
            scenario.set(schedule, workflow_id=other)
        else:
            alice.one(
                "fn_upsert_workflow_schedule", workflow_id=other, schedule_id=schedule,
                cron_expr="*/5 * * * *", workflow_version=2, approval_policy=GATED,
                start_at=MONDAY,
            )  # fmt: skip
    scenario.set(schedule, workflow_id=other, workflow_version=1)
    assert scenario.schedule(schedule).workflow_id == other


def test_a_stored_version_that_is_missing_starts_nothing(scenario: Scenario) -> None:
    """A later version of that number may have an action that needs approval."""
    schedule = scenario.make_schedule(approval_policy=GATED)
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.set(schedule, workflow_version=2)
    shown = scenario.db.row(
        "select * from lenses.fn_preview_schedule_ticks(%s, 1, '400 days')", [schedule]
    )
    assert (shown.decision, shown.reason) == ("skip", "version_missing")
    assert scenario.tick(MONDAY) == 0
    assert scenario.skips(schedule) == [("version_missing", MONDAY)]
    row = scenario.schedule(schedule)
    assert row.last_dispatch_status == "validation_failed"
    with refused(scenario, "version_missing|no version 2"), scenario.db.transaction():
        owner(scenario).one("fn_run_workflow_schedule_now", schedule_id=schedule)
    owner(scenario).one(
        "fn_patch_workflow_schedule", schedule_id=schedule, patch={"description": "still wrong"}
    )
    assert scenario.schedule(schedule).last_error_message.startswith("version_missing")
    owner(scenario).one(
        "fn_patch_workflow_schedule", schedule_id=schedule, patch={"workflow_version": None}
    )
    assert scenario.schedule(schedule).last_error_message is None


def test_a_schedule_takes_no_assignment_to_another_workflow(scenario: Scenario) -> None:
    other = scenario.make_workflow(title="other")
    assignment = scenario._insert(
        "agents.workflow_assignments",
        {"workflow_id": scenario.workflow, "assignee_type": "agent",
         "assignee_id": scenario.make_agent()},
    )  # fmt: skip
    schedule = scenario.make_schedule(workflow_assignment_id=assignment)
    with refused(scenario, "assignment"), scenario.db.transaction():
        scenario.set(schedule, workflow_id=other)
    move = "update agents.workflow_assignments set workflow_id = %s where id = %s"
    with refused(scenario, "schedules use it"), scenario.db.transaction():
        scenario.db.execute(move, [other, assignment])
    scenario.set(schedule, workflow_id=other, workflow_assignment_id=None)
    scenario.db.execute(move, [other, assignment])


def test_a_schedule_that_waits_for_its_assignment_sees_where_it_went(
    scenario: Scenario, committed: None
) -> None:
    other = scenario.make_workflow(title="other")
    assignment = scenario._insert(
        "agents.workflow_assignments",
        {"workflow_id": scenario.workflow, "assignee_type": "agent",
         "assignee_id": scenario.make_agent()},
    )  # fmt: skip
    insert = (
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, workflow_assignment_id) "
        "values (%s, '*/5 * * * *', %s)"
    )
    failed: list[psycopg.Error] = []

    def save(conn: Database) -> None:
        try:
            conn.execute(insert, [scenario.workflow, assignment])
        except psycopg.Error as error:
            failed.append(error)

    with scenario.db.another() as second:
        saving = threading.Thread(target=save, args=[second])
        with scenario.db.transaction():
            scenario.db.execute(
                "update agents.workflow_assignments set workflow_id = %s where id = %s",
                [other, assignment],
            )
            saving.start()
            wait_until_blocked(scenario.db, second)
        saving.join()
    [error] = failed
    assert error.sqlstate == "22023"
    assert f"workflow assignment {assignment} does not exist" in str(error)


def test_an_edit_goes_by_the_clock_and_not_by_its_transactions_begin(scenario: Scenario) -> None:
    """The test is one transaction: now() is its begin, and slots may have passed since."""
    schedule = scenario.make_schedule("0 0 1 1 *", next_run_at=None)
    clock = scenario.db.value("select clock_timestamp()")
    scenario.set(schedule, cron_expr="* * * * *")
    assert scenario.schedule(schedule).next_run_at > clock
    # What the edit takes for now, in a column:
    scenario.set(schedule, is_active=False, paused_until=at(0))
    assert scenario.schedule(schedule).paused_at > clock


@pytest.mark.parametrize("then", [None, {"cron_expr": "0 * * * *"}], ids=["alone", "edited"])
def test_a_waiting_slot_that_disabling_gives_up_is_logged(
    scenario: Scenario, then: dict[str, Any] | None
) -> None:
    first, second = five_minutes_ago(scenario, 2), five_minutes_ago(scenario)
    schedule = scenario.make_schedule(queue_policy=QUEUE, next_run_at=first)
    scenario.tick(first)
    scenario.tick(second)
    assert scenario.schedule(schedule).next_run_at == second
    alice = owner(scenario)
    for patch in ({"is_active": False}, then, {"description": "still"}, {"is_active": True}):
        if patch:
            alice.one("fn_patch_workflow_schedule", schedule_id=schedule, patch=patch)
    assert scenario.schedule(schedule).next_run_at > scenario.db.value("select clock_timestamp()")
    [gone] = scenario.db.rows(
        "select * from lenses.schedule_slots where schedule_id = %s and status <> 'ENQUEUED'",
        [schedule],
    )
    assert (gone.reason, gone.run_at) == ("schedule_edited", second)


def test_a_pause_that_becomes_a_disabling_logs_what_passed(scenario: Scenario) -> None:
    slot = five_minutes_ago(scenario, 3)
    schedule = scenario.make_schedule(next_run_at=slot)
    owner(scenario).one("fn_pause_workflow_schedule", schedule_id=schedule)
    assert scenario.skips(schedule) == []
    scenario.set(schedule, paused_at=None)
    assert [reason for reason, _ in scenario.skips(schedule)] == ["schedule_edited"]


@pytest.mark.parametrize(
    "edit",
    [{"end_at": "2099-01-01"}, {"jitter_ms": 3_500_000}, {"timezone": "Etc/UTC"}],
    ids=lambda edit: "-".join(edit),
)
def test_an_edit_takes_no_slot_again_that_ran_early(
    scenario: Scenario, edit: dict[str, Any]
) -> None:
    rows = (
        scenario.schedule(scenario.make_schedule("0 * * * *", jitter_ms=3_600_000))
        for _ in range(100)
    )
    early = next(row for row in rows if row.due_at < row.next_run_at - timedelta(minutes=5))
    scenario.tick(early.due_at)
    assert early.next_run_at in scenario.slots(early.id)
    scenario.set(early.id, **edit)
    assert scenario.schedule(early.id).next_run_at not in scenario.slots(early.id)


def test_due_rows_are_not_written_by_hand(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    write = "update lenses.schedule_due set due_at = null where schedule_id = %s"
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="not written by hand"),
        as_user(scenario.db, None, "service_role") as db,
    ):
        db.execute(write, [schedule])
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="not written by hand"),
        as_user(scenario.db, None, "service_role") as db,
    ):
        db.execute(
            "insert into lenses.schedule_due (schedule_id, lenser_id, due_at) "
            "select s.id, s.lenser_id, null from lenses.workflow_schedules as s where s.id = %s",
            [schedule],
        )


def test_a_due_row_that_says_otherwise_is_found_and_mended(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    misplaced = "select label, detail from lenses.fn_misplaced_schedules(null) where id = %s"
    assert scenario.db.rows(misplaced, [schedule]) == []
    scenario.db.execute(
        "update lenses.schedule_due set due_at = null where schedule_id = %s", [schedule]
    )
    [found] = scenario.db.rows(misplaced, [schedule])
    assert found.label == "PARKED"
    assert "lenses.schedule_due says nothing" in found.detail
    owner(scenario).one("fn_recompute_schedule", schedule_id=schedule)
    assert scenario.db.rows(misplaced, [schedule]) == []


def test_an_end_of_a_pause_is_logged(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/30 * * * *")
    scenario.set(schedule, is_active=False, paused_at=at(-5), paused_until=at(12))
    scenario.tick(at(12))
    row = scenario.db.row(
        "select occurred_at, payload from agents.action_logs "
        "where schedule_id = %s and action_type = 'schedule_resumed'",
        [schedule],
    )
    assert row.occurred_at == at(12)
    assert row.payload["paused_until"].startswith("2027-03-01T09:12")
