"""A stranger's id and an unknown id get the same refusal; nobody gets one too. Every RPC is here."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.support.callers import Caller

UNKNOWN = uuid.UUID(int=7)

# name -> the parameter that takes the id of a row of the kind, and the rest
BY_ID: dict[str, tuple[str, str, dict[str, Any]]] = {
    "fn_upsert_workflow_schedule": ("workflow", "workflow_id", {}),
    "fn_workflow_get_schedules": ("workflow", "workflow_id", {}),
    "fn_set_workflow_status": ("workflow", "workflow_id", {"status": "paused"}),
    "fn_upsert_workflow": ("workflow", "workflow_id", {}),
    "fn_get_workflow_schedule": ("schedule", "schedule_id", {}),
    "fn_patch_workflow_schedule": ("schedule", "schedule_id", {"patch": {"description": "x"}}),
    "fn_pause_workflow_schedule": ("schedule", "schedule_id", {}),
    "fn_resume_workflow_schedule": ("schedule", "schedule_id", {}),
    "fn_delete_workflow_schedule": ("schedule", "schedule_id", {}),
    "fn_set_schedule_calendar": ("schedule", "schedule_id", {"calendar_id": None}),
    "fn_set_schedule_condition": ("schedule", "schedule_id", {"condition": None}),
    "fn_recompute_schedule": ("schedule", "schedule_id", {}),
    "fn_set_schedule_inputs_rotation": ("schedule", "schedule_id", {"rotation": None}),
    "fn_update_schedule_calendar": ("calendar", "calendar_id", {"name": "x"}),
    "fn_delete_schedule_calendar": ("calendar", "calendar_id", {}),
}
WITHOUT_ID: dict[str, dict[str, Any]] = {
    "fn_workflow_get_schedules": {},
    "fn_upsert_workflow": {"title": "t"},
    "fn_get_workflows": {},
    "fn_get_schedule_calendars": {},
    "fn_create_schedule_calendar": {
        "name": "n",
        "kind": "skip_dates",
        "timezone": "UTC",
        "dates": ["2030-01-01"],
    },
    "fn_observe_schedules": {},
    "fn_get_automation_feed": {},
}


@pytest.fixture
def theirs(bob: Caller) -> dict[str, uuid.UUID]:
    schedule = bob.schedule()
    calendar = bob.one(
        "fn_create_schedule_calendar",
        name="c",
        kind="skip_dates",
        timezone="UTC",
        dates=["2030-01-01"],
    )
    return {"workflow": schedule.workflow_id, "schedule": schedule.id, "calendar": calendar.id}


def everything(caller: Caller) -> list[Any]:
    return [
        caller.db.rows(f"select * from lenses.{table} order by id")
        for table in ("workflows", "workflow_schedules", "schedule_calendars")
    ]


@pytest.mark.parametrize("function", BY_ID)
def test_a_strangers_id_is_an_unknown_id(
    alice: Caller, theirs: dict[str, uuid.UUID], function: str
) -> None:
    kind, parameter, rest = BY_ID[function]
    before = everything(alice)
    # the first call of a session plans, which shows in its context
    alice.refused("42501", function, **{parameter: uuid.uuid4()}, **rest)
    found = [
        alice.refused("42501", function, **{parameter: key}, **rest) for key in (theirs[kind], UNKNOWN, None)
        if key or function not in WITHOUT_ID
    ]  # fmt: skip
    answers = {
        (
            one.message_primary,
            one.message_detail,
            one.message_hint,
            one.context,
            one.constraint_name,
        )
        for one in found
    }
    assert len(answers) == 1
    assert str(theirs[kind]) not in str(answers)
    assert everything(alice) == before


def test_upsert_under_a_strangers_schedule_id(alice: Caller, theirs: dict[str, uuid.UUID]) -> None:
    mine, before = alice.workflow(), everything(alice)
    found = alice.refused(
        "42501", "fn_upsert_workflow_schedule", workflow_id=mine.id, schedule_id=theirs["schedule"]
    )
    unknown = alice.refused("42501", "fn_get_workflow_schedule", schedule_id=UNKNOWN)
    assert found.message_primary == unknown.message_primary
    found = alice.refused(
        "42501", "fn_upsert_workflow", workflow_id=theirs["workflow"], title="mine now"
    )
    unknown = alice.refused("42501", "fn_upsert_workflow", workflow_id=UNKNOWN)
    assert found.message_primary == unknown.message_primary
    assert everything(alice)[1] == before[1]


@pytest.mark.parametrize("sub", [None, "", "x' or 1=1 --", str(UNKNOWN)])
def test_nobody(nobody: Caller, theirs: dict[str, uuid.UUID], sub: str | None) -> None:
    before = everything(nobody)
    caller = Caller(nobody.db, sub)
    for function, (kind, parameter, rest) in BY_ID.items():
        caller.refused("42501", function, **{parameter: theirs[kind]}, **rest)
    for function, arguments in WITHOUT_ID.items():
        caller.refused("42501", function, **arguments)
    assert everything(nobody) == before


@pytest.mark.parametrize("role", ["anon", "service_role"])
def test_owners_alone(alice: Caller, role: str) -> None:
    """Not service_role either: it has no lenser of its own."""
    caller = Caller(alice.db, alice.tenant, role)
    for function, arguments in WITHOUT_ID.items():
        caller.refused("42501", function, **arguments)


def test_lists_show_ones_own(alice: Caller, bob: Caller, theirs: dict[str, uuid.UUID]) -> None:
    assert alice.rows("fn_workflow_get_schedules") == []
    assert alice.rows("fn_get_workflows") == []
    assert alice.rows("fn_observe_schedules") == []
    assert len(alice.rows("fn_get_schedule_calendars")) == 6
    assert len(bob.rows("fn_get_schedule_calendars")) == 7
    assert [row.id for row in bob.rows("fn_workflow_get_schedules")] == [theirs["schedule"]]
    assert [
        row.id for row in bob.rows("fn_workflow_get_schedules", workflow_id=theirs["workflow"])
    ] == [theirs["schedule"]]
