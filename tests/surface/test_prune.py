"""--prune and what a definition's triggers registered: a part of the workflow, not a reason to stay."""

from __future__ import annotations

import json

import pytest

from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.support.work import run_now
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")


def shop(**trigger: object) -> str:
    """A workflow whose definition registers a schedule, and a calendar."""
    one = {"id": "nightly", "type": "schedule_based", "cron_expr": "0 3 * * *", **trigger}
    definition = {"nodes": [{"id": "a"}], "edges": [], "triggers": [one]}
    return (
        "project: shop\ncalendars:\n  closing: {dates: [2026-12-24]}\n"
        f"workflows:\n  T:\n    definition: {json.dumps(definition)}\n"
    )


def test_a_workflow_goes_with_the_schedules_of_its_triggers(
    lf: Command, file: File, db: Database, owner: Tenant
) -> None:
    lf("apply", file(shop()))
    calendar = db.value("select id from lenses.schedule_calendars where not is_seed")
    lf("apply", file(shop(calendar_id=str(calendar))))
    schedule = db.value(
        "select id from lenses.workflow_schedules where calendar_id = %s", [calendar]
    )
    run = run_now(db, owner, schedule)
    empty = file("project: shop\nworkflows: {}\n")
    assert lf("diff", empty, "--prune", code=1).out.split() == [
        *("calendars", "-", "closing", "workflows", "-", "T"),
    ]
    said = lf("apply", empty, "--prune", "--yes")
    assert "stays" not in said.out
    assert "2 taken away" in said.err
    assert db.value("select status from lenses.workflows") == "deleted"
    assert db.value("select count(*) from lenses.workflow_schedules") == 0
    assert db.value("select count(*) from lenses.schedule_calendars where not is_seed") == 0
    assert db.value("select id from lenses.workflow_runs") == run
    assert "nothing differs" in lf("diff", empty, "--prune").err


def test_a_schedule_made_by_hand_keeps_it(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(shop()))
    lf("schedule", "create", "T", "--name", "by hand", "--cron", "0 1 * * *")
    said = lf("apply", file("project: shop\n"), "--prune", "--yes")
    assert "workflow T stays: schedules that the project did not make have it (by hand)" in said.out
    assert db.value("select count(*) from lenses.workflow_schedules") == 2


def test_a_calendar_that_a_trigger_has_stays_with_its_workflow(
    lf: Command, file: File, db: Database
) -> None:
    lf("apply", file(shop()))
    calendar = db.value("select id from lenses.schedule_calendars where not is_seed")
    has_it = shop(calendar_id=str(calendar))
    lf("apply", file(has_it))
    without = has_it.replace("calendars:\n  closing: {dates: [2026-12-24]}\n", "")
    assert "calendar closing stays" in lf("apply", file(without), "--prune", "--yes").out
    assert db.value("select count(*) from lenses.workflow_schedules") == 1
