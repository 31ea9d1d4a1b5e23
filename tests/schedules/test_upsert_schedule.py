"""fn_upsert_workflow_schedule: the whole row, repeatable, 22023 for bad input."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.support.callers import CYCLIC, Caller, instant


def test_defaults(alice: Caller) -> None:
    row = alice.schedule()
    assert (row.schedule_type, row.cron_expr, row.interval_ms) == ("cron", "* * * * *", None)
    assert (row.timezone, row.is_active, row.assignee_type, row.jitter_ms) == (
        "UTC",
        True,
        "agent",
        0,
    )
    assert row.approval_policy == {"requiresApproval": True}
    assert row.retry_policy == {"maxRetries": 1}
    assert row.failure_policy == {"mode": "isolate"}
    assert row.queue_policy == {"mode": "parallel"}
    assert row.inputs_template == {}
    assert row.lenser_id == alice.tenant.id
    assert row.next_run_at == row.due_at
    assert row.description is row.trigger_id is row.inputs_rotation is None


def test_every_parameter_is_kept(alice: Caller, operator: Caller) -> None:
    agent = alice.agent()
    workflow = alice.workflow()
    assignment = alice.db.value(
        "insert into agents.workflow_assignments (workflow_id, assignee_type, assignee_id) "
        "values (%s, 'agent', %s) returning id",
        [workflow.id, agent],
    )
    calendar = alice.value(
        "fn_create_schedule_calendar",
        name="c",
        kind="skip_dates",
        timezone="UTC",
        dates=["2030-01-01"],
    )
    given: dict[str, Any] = {
        "schedule_id": uuid.uuid4(),
        "cron_expr": "30 8 1 * *",
        "timezone": "America/New_York",
        "global_model_id": "model-1",
        "inputs_template": {"a": [1, None]},
        "is_active": False,
        "assignee_type": "agent",
        "assignee_id": agent,
        "workflow_assignment_id": assignment,
        "approval_policy": {"requiresApproval": False, "gates": ["publish"]},
        "retry_policy": {"maxRetries": 3, "backoffMs": 10},
        "failure_policy": {"mode": "halt"},
        "queue_policy": {"mode": "serial", "priority": 7},
        "description": "monthly report",
        "schedule_type": "cron",
        "start_at": instant("2031-01-01T00:00+00:00"),
        "end_at": instant("2032-01-01T00:00+00:00"),
        "jitter_ms": 5000,
        "calendar_id": calendar,
        "pre_dispatch_condition": {"/prior_run_result/status": {"eq": "completed"}},
        "workflow_version": 1,
    }
    row = alice.schedule(workflow.id, **given)
    assert row.id == given.pop("schedule_id")
    assert {name: getattr(row, name) for name in given} == given
    assert row.next_run_at == instant("2031-01-01T13:30+00:00")
    assert row.due_at is None


def test_null_is_the_default(alice: Caller) -> None:
    row = alice.schedule(
        timezone=None, inputs_template=None, is_active=None, assignee_type=None, approval_policy=None,
        retry_policy=None, failure_policy=None, queue_policy=None, jitter_ms=None, schedule_type=None,
    )  # fmt: skip
    default = alice.schedule()
    for name in ("timezone", "inputs_template", "is_active", "assignee_type", "approval_policy", "retry_policy",
                 "failure_policy", "queue_policy", "jitter_ms", "schedule_type"):  # fmt: skip
        assert getattr(row, name) == getattr(default, name)


def test_jitter_of_the_settings(alice: Caller, operator: Caller) -> None:
    operator.one("fn_set_dispatch_settings", patch={"default_jitter_ms": 1234})
    assert alice.schedule().jitter_ms == 1234
    assert alice.schedule(jitter_ms=0).jitter_ms == 0


def test_interval_alone_makes_an_interval_schedule(alice: Caller) -> None:
    row = alice.schedule(interval_ms=300000)
    assert (row.schedule_type, row.cron_expr, row.interval_ms) == ("interval", None, 300000)
    again = alice.schedule(row.workflow_id, schedule_id=row.id, cron_expr="0 9 * * *")
    assert (again.schedule_type, again.cron_expr, again.interval_ms) == ("cron", "0 9 * * *", None)
    assert alice.schedule(schedule_type="interval", interval_ms=600000).interval_ms == 600000


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"cron_expr": "* * * *"}, "* * * *"),
        ({"cron_expr": "61 * * * *"}, "61"),
        ({"cron_expr": None}, "cron_expr"),
        ({"cron_expr": "0 9 * * *", "interval_ms": 300000}, "interval_ms"),
        ({"schedule_type": "cron", "interval_ms": 300000}, "interval_ms"),
        ({"schedule_type": "interval"}, "interval_ms"),
        ({"schedule_type": "hourly"}, "hourly"),
        ({"interval_ms": 299999}, "299999"),
        ({"interval_ms": -1}, "-1"),
        ({"timezone": "UTC+8"}, "UTC+8"),
        ({"timezone": "Europe/Berln"}, "Europe/Berln"),
        ({"assignee_type": "robot"}, "robot"),
        ({"assignee_id": uuid.UUID(int=7)}, str(uuid.UUID(int=7))),
        ({"workflow_assignment_id": uuid.UUID(int=7)}, str(uuid.UUID(int=7))),
        ({"calendar_id": uuid.UUID(int=7)}, str(uuid.UUID(int=7))),
        ({"jitter_ms": -1}, "-1"),
        ({"jitter_ms": 86400001}, "86400001"),
        ({"workflow_version": 2}, "2"),
        ({"start_at": "2030-01-02Z", "end_at": "2030-01-01Z"}, "2030-01-01"),
        ({"start_at": "infinity"}, "infinity"),
        ({"end_at": "infinity"}, "infinity"),
        ({"interval_ms": 300000, "start_at": "-infinity"}, "infinity"),
        ({"approval_policy": {"requireApproval": True}}, "requiresApproval"),
        ({"queue_policy": {"mode": "serail"}}, "serial"),
        ({"queue_policy": {"maxConcurrency": -1}}, "-1"),
        ({"retry_policy": {"maxRetries": "3"}}, "maxRetries"),
        ({"failure_policy": {"mode": "fallback"}}, "fallbackAssigneeId"),
        ({"pre_dispatch_condition": {"no pointer": {"eq": 1}}}, "no pointer"),
        ({"inputs_rotation": {"a": 1}}, "inputs_rotation"),
        ({"description": "x" * 2001}, "description"),
        ({"global_model_id": "x" * 501}, "global_model_id"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)  # fmt: skip
def test_bad_input(alice: Caller, bad: dict[str, Any], says: str) -> None:
    workflow = alice.workflow()
    found = alice.refused("22023", "fn_upsert_workflow_schedule", workflow_id=workflow.id, **bad)
    assert says in found.message_primary
    assert found.message_hint
    assert alice.db.value("select count(*) from lenses.workflow_schedules") == 0


def test_links_of_another_tenant(alice: Caller, bob: Caller) -> None:
    """What another owns looks like what does not exist."""
    calendar = bob.value(
        "fn_create_schedule_calendar",
        name="c",
        kind="skip_dates",
        timezone="UTC",
        dates=["2030-01-01"],
    )
    workflow = alice.workflow()
    for name, theirs in (("calendar_id", calendar), ("assignee_id", bob.agent())):
        found = [
            alice.refused(
                "22023", "fn_upsert_workflow_schedule", workflow_id=workflow.id, **{name: key}
            )
            for key in (theirs, uuid.UUID(int=7))
        ]
        assert (
            found[0].message_primary.replace(str(theirs), str(uuid.UUID(int=7)))
            == found[1].message_primary
        )
        assert found[0].message_hint == found[1].message_hint


def test_replaces_the_whole_row(alice: Caller) -> None:
    row = alice.schedule(
        description="d", inputs_template={"a": 1}, jitter_ms=10, cron_expr="0 9 * * *"
    )
    again = alice.schedule(row.workflow_id, schedule_id=row.id, cron_expr="0 9 * * *")
    assert again.id == row.id
    assert (again.description, again.inputs_template, again.jitter_ms) == (None, {}, 0)
    assert again.created_at == row.created_at


def test_a_deploy_can_be_repeated(alice: Caller) -> None:
    workflow, key = alice.workflow(), uuid.uuid4()
    first = alice.schedule(workflow.id, schedule_id=key, cron_expr="0 9 * * *")
    second = alice.schedule(workflow.id, schedule_id=key, cron_expr="0 9 * * *")
    assert first == second
    assert alice.db.value("select count(*) from lenses.workflow_schedules") == 1


def test_what_changes_no_slot_keeps_them(alice: Caller) -> None:
    row = alice.schedule(cron_expr="0 9 * * *")
    alice.db.execute(
        "update lenses.workflow_schedules set next_run_at = '2020-01-01 09:00Z', due_at = '2020-01-01 09:05Z' where id = %s",
        [row.id],
    )
    kept = alice.schedule(
        row.workflow_id, schedule_id=row.id, cron_expr="0 9 * * *", description="new"
    )
    assert kept.description == "new"
    assert kept.next_run_at == instant("2020-01-01T09:00+00:00")
    assert kept.due_at == instant("2020-01-01T09:05+00:00")
    edited = alice.schedule(row.workflow_id, schedule_id=row.id, cron_expr="0 10 * * *")
    assert edited.next_run_at > alice.db.value("select now()")


def test_a_changed_zone_looks_for_the_next_slot_again(alice: Caller) -> None:
    row = alice.schedule(cron_expr="0 11 * * *")
    moved = alice.schedule(
        row.workflow_id, schedule_id=row.id, cron_expr="0 11 * * *", timezone="Asia/Ho_Chi_Minh"
    )
    assert moved.next_run_at.hour == 4
    preview = alice.rows("fn_preview_schedule_ticks", schedule_id=row.id, n=100)
    assert [tick.tick_at for tick in preview] == alice.db.column(
        "select lenses.fn_cron_next('0 11 * * *', 'Asia/Ho_Chi_Minh', now(), %s)", [len(preview)]
    )


def test_two_schedules_may_look_alike(alice: Caller, bob: Caller) -> None:
    """A schedule has no name that could overwrite another: its id is all."""
    workflow = alice.workflow()
    one, two = (alice.schedule(workflow.id, description="report") for _ in range(2))
    assert one.id != two.id
    assert bob.schedule(description="report").id not in (one.id, two.id)


def test_moves_to_another_workflow(alice: Caller) -> None:
    there, here = alice.workflow(), alice.workflow()
    row = alice.schedule(there.id)
    moved = alice.schedule(here.id, schedule_id=row.id)
    assert (moved.id, moved.workflow_id) == (row.id, here.id)
    types = dict(alice.db.rows("select id, trigger_type from lenses.workflows"))
    assert types == {there.id: "manual", here.id: "schedule"}


def test_activating_on_a_cycle(alice: Caller) -> None:
    workflow = alice.workflow(definition=CYCLIC)
    found = alice.refused("22023", "fn_upsert_workflow_schedule", workflow_id=workflow.id)
    assert "cycle_detected" in found.message_primary
    assert "a -> b -> a" in found.message_primary
    row = alice.schedule(workflow.id, is_active=False)
    alice.refused("22023", "fn_resume_workflow_schedule", schedule_id=row.id)
    alice.refused(
        "22023", "fn_patch_workflow_schedule", schedule_id=row.id, patch={"is_active": True}
    )
    alice.refused(
        "22023", "fn_upsert_workflow_schedule", workflow_id=workflow.id, schedule_id=row.id
    )


def test_cap(alice: Caller, bob: Caller, operator: Caller) -> None:
    operator.one("fn_set_dispatch_settings", patch={"max_schedules_per_lenser": 2})
    workflow = alice.workflow()
    rows = [alice.schedule(workflow.id) for _ in range(2)]
    found = alice.refused("53400", "fn_upsert_workflow_schedule", workflow_id=workflow.id)
    assert "2" in found.message_primary
    alice.schedule(workflow.id, schedule_id=rows[0].id, description="an update is none too many")
    bob.schedule()


def test_deleted_workflow_takes_none(alice: Caller) -> None:
    workflow = alice.workflow(status="deleted")
    found = alice.refused("22023", "fn_upsert_workflow_schedule", workflow_id=workflow.id)
    assert "deleted" in found.message_primary


def test_rotation(alice: Caller) -> None:
    row = alice.one(
        "fn_set_schedule_inputs_rotation", schedule_id=alice.schedule().id, rotation="[]"
    )
    assert row.inputs_rotation is None
    set_ = alice.one(
        "fn_set_schedule_inputs_rotation", schedule_id=row.id, rotation='[{"a": 1}, {"a": 2}]'
    )
    assert set_.inputs_rotation == [{"a": 1}, {"a": 2}]
    alice.db.execute(
        "update lenses.workflow_schedules set last_rotation_index = 5 where id = %s", [row.id]
    )
    kept = alice.schedule(
        row.workflow_id, schedule_id=row.id, inputs_rotation='[{"a": 1}, {"a": 2}]'
    )
    assert kept.last_rotation_index == 5
    other = alice.schedule(row.workflow_id, schedule_id=row.id, inputs_rotation='[{"a": 2}]')
    assert other.last_rotation_index == 0
    alice.refused("22023", "fn_set_schedule_inputs_rotation", schedule_id=row.id, rotation='"x"')


def test_condition(alice: Caller) -> None:
    key = alice.schedule().id
    condition = {"/last_24h_stats/failed": {"lt": 3}}
    assert (
        alice.one(
            "fn_set_schedule_condition", schedule_id=key, condition=condition
        ).pre_dispatch_condition
        == condition
    )
    found = alice.refused(
        "22023", "fn_set_schedule_condition", schedule_id=key, condition={"/a": {"equals": 1}}
    )
    assert '"eq"' in found.message_primary
    assert alice.saved(key).pre_dispatch_condition == condition
    cleared = alice.one("fn_set_schedule_condition", schedule_id=key, condition=None)
    assert cleared.pre_dispatch_condition is None
