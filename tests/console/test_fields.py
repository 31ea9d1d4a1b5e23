"""A refused value marks its own field: the error says which by COLUMN, and the form has a place for it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.console.conftest import Console, Window, staged
from tests.support.state import State

Scene = tuple[Console, Window]

# A form that is right, and each of its fields made wrong: what is posted instead, and the column.
RIGHT = {"mode": "expr", "cron_expr": "0 9 * * *", "timezone": "UTC", "name": "fields"}
STRANGER = str(uuid.uuid4())
WRONG: tuple[tuple[dict[str, str], str], ...] = (
    ({"name": "probe"}, "name"),
    ({"name": "n" * 201}, "name"),
    ({"description": "d" * 2001}, "description"),
    ({"cron_expr": "61 * * * *"}, "cron_expr"),
    ({"cron_expr": ""}, "cron_expr"),
    ({"mode": "pick", "frequency": "yearly"}, "frequency"),
    ({"mode": "pick", "frequency": "hourly", "minute": "61"}, "minute"),
    ({"mode": "pick", "frequency": "daily", "time": "25:00"}, "hour"),
    ({"mode": "pick", "frequency": "daily", "time": "9:99"}, "minute"),
    ({"mode": "pick", "frequency": "weekly", "time": "9:00"}, "days"),
    ({"mode": "pick", "frequency": "weekly", "time": "9:00", "days": "9"}, "days"),
    (
        {"mode": "pick", "frequency": "monthly", "time": "9:00", "day_of_month": "32"},
        "day_of_month",
    ),
    ({"mode": "every", "every": "1"}, "interval_ms"),
    ({"mode": "every", "every": ""}, "interval_ms"),
    ({"mode": "every", "every": "nan"}, "interval_ms"),
    ({"mode": "every", "every": "99999999999999"}, "interval_ms"),
    ({"mode": "once", "run_at": ""}, "run_at"),
    ({"mode": "once", "run_at": "tomorrow"}, "run_at"),
    ({"mode": "once", "run_at": "1969-01-01T00:00"}, "run_at"),
    ({"timezone": "Mars/Olympus"}, "timezone"),
    ({"start_at": "soon"}, "start_at"),
    ({"start_at": "2030-01-02T00:00", "end_at": "2030-01-01T00:00"}, "end_at"),
    ({"jitter_ms": "2 d"}, "jitter_ms"),
    ({"jitter_ms": "400 d"}, "jitter_ms"),
    ({"jitter_ms": "a bit"}, "jitter_ms"),
    ({"calendar_id": STRANGER}, "calendar_id"),
    ({"calendar_id": "COMPANY", "on_holiday": "never"}, "on_holiday"),
    ({"calendar_id": "COMPANY", "on_holiday": "after", "cron_expr": "* * * * *"}, "on_holiday"),
    ({"assignee": f"agent:{STRANGER}"}, "assignee_id"),
    ({"assignee": f"robot:{STRANGER}"}, "assignee_type"),
    ({"assignment": STRANGER}, "workflow_assignment_id"),
    ({"workflow_version": "99"}, "workflow_version"),
    ({"workflow_version": "the first"}, "workflow_version"),
    ({"workflow_version": "9999999999"}, "workflow_version"),
    ({"global_model_id": "m" * 501}, "global_model_id"),
    ({"inputs": "{"}, "inputs_template"),
    ({"inputs": "[" * 70 + "1" + "]" * 70}, "inputs_template"),
    ({"rotation": "7"}, "inputs_rotation"),
    ({"rotation": '"cats"'}, "inputs_rotation"),
    ({"condition": "7"}, "pre_dispatch_condition"),
    ({"condition": '{"/a": {"is": 1}}'}, "pre_dispatch_condition./a.is"),
    ({"approval_policy.expiresAfterMs": "400 d"}, "approval_policy.expiresAfterMs"),
    ({"approval_policy.mode": "never"}, "approval_policy.mode"),
    ({"approval_policy.gates": "g" * 201}, "approval_policy.gates"),
    ({"queue_policy.mode": "paralel"}, "queue_policy.mode"),
    ({"queue_policy.maxConcurrency": "0"}, "queue_policy.maxConcurrency"),
    ({"queue_policy.priority": "-1"}, "queue_policy.priority"),
    ({"queue_policy.onMissed": "later"}, "queue_policy.onMissed"),
    ({"queue_policy.onOverlap": "later"}, "queue_policy.onOverlap"),
    ({"queue_policy.maxBackfill": "many"}, "queue_policy.maxBackfill"),
    ({"queue_policy.spreadWindowMs": "long"}, "queue_policy.spreadWindowMs"),
    (
        {
            "queue_policy.mode": "serial",
            "queue_policy.onMissed": "backfill",
            "queue_policy.onOverlap": "skip",
        },
        "queue_policy.onOverlap",
    ),
    ({"retry_policy.maxRetries": "1001"}, "retry_policy.maxRetries"),
    ({"retry_policy.backoffMs": "400 d"}, "retry_policy.backoffMs"),
    ({"retry_policy.timeoutMs": "0 s"}, "retry_policy.timeoutMs"),
    ({"retry_policy.retryOn": "weather"}, "retry_policy.retryOn"),
    ({"failure_policy.mode": "explode"}, "failure_policy.mode"),
    ({"failure_policy.mode": "fallback"}, "failure_policy.fallbackAssigneeId"),
    (
        {"failure_policy.mode": "fallback", "failure_policy.fallbackAssigneeId": STRANGER},
        "failure_policy.fallbackAssigneeId",
    ),
)


@pytest.fixture(scope="module")
def scene(state: State, chromium: Browser, output: Path) -> Iterator[Scene]:
    """Schedules of every kind, without a history: no test here looks at one."""
    with staged(state, chromium, output, hours=0) as scene:
        yield scene


def post(window: Window, path: str, form: dict[str, str]) -> dict[str, Any]:
    """What the form is told: its message, hint and field."""
    said = json.loads(window.page.get_attribute("body", "hx-headers:inherited") or "{}")
    answer = window.page.request.post(
        window.base + path, form=form, headers={**said, "HX-Request": "true", "Origin": window.base}
    )
    assert answer.status == 422, answer.text()
    told: dict[str, Any] = json.loads(answer.headers["hx-trigger"])["refused"]
    return told


def slots(window: Window) -> set[str]:
    """Where errors may stand on the page."""
    found = window.page.locator("[data-error]").evaluate_all(
        "all => all.map((each) => each.dataset.error)"
    )
    return {name for each in found for name in each.split()}


def ids(console: Console) -> tuple[str, str, str]:
    """A schedule, its workflow and a calendar of the tenant."""
    schedule, workflow = console.db.row(
        "select id, workflow_id from lenses.workflow_schedules where name = 'nightly'"
    )
    calendar = console.db.value(
        "select id from lenses.schedule_calendars where name = 'company-days'"
    )
    return str(schedule), str(workflow), str(calendar)


def assign(console: Console, workflow: str) -> None:
    """An assignment to choose: without any the form has no field for it."""
    console.db.execute(
        "with a as (insert into agents.ai_lensers (lenser_id, name) values (%s, 'a') returning id) "
        "insert into agents.workflow_assignments (workflow_id, assignee_type, assignee_id) "
        "select %s, 'agent', id from a",
        [console.owner.id, workflow],
    )


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "edited"])
def test_each_field_of_the_builder_that_is_wrong_is_marked(scene: Scene, is_new: bool) -> None:
    console, window = scene
    schedule, workflow, company = ids(console)
    assign(console, workflow)
    path = "/builder" if is_new else f"/builder/{schedule}"
    window.open(path)
    there = slots(window)
    right = {**RIGHT, **({"workflow_id": workflow} if is_new else {})}
    for wrong, column in WRONG:
        if not is_new and "policy" in column:
            continue  # the same path as for a new one
        form = {key: company if value == "COMPANY" else value for key, value in wrong.items()}
        told = post(window, f"{path}/save", {**right, **form})
        assert told["field"] == column, (wrong, told)
        assert column in there or column.split(".")[0] in there, column


def test_the_title_of_a_new_workflow_is_marked(scene: Scene) -> None:
    _, window = scene
    window.open("/builder")
    told = post(window, "/builder/save", {**RIGHT, "workflow_id": "", "new_title": "t" * 501})
    assert told["field"] == "title"
    assert "title" in slots(window)


def test_other_forms_mark_their_fields(scene: Scene) -> None:
    console, window = scene
    schedule, _, _ = ids(console)
    gateway = console.db.value("select id from agents.gateways")
    calendar = {"name": "c", "kind": "skip_dates", "dates": "2026-12-24", "rules": "[]"}
    cron = {"operation": "health_probe", "cron_expr": "0 9 * * *", "payload": "{}"}
    forms: tuple[tuple[str, str, dict[str, str], dict[str, tuple[str, str]]], ...] = (
        (
            "/calendars/new",
            "/calendars/save",
            calendar,
            {
                "name": ("", "name"),
                "kind": ("never", "kind"),
                "timezone": ("Mars", "timezone"),
                "dates": ("2026-02-30", "dates"),
                "rules": ('[{"easter": 1, "except": [{"eastern": 0}]}]', "rules[0].except[0].eastern"),
            },
        ),
        (
            f"/gateways/{gateway}",
            f"/gateways/{gateway}/crons",
            cron,
            {
                "operation": ("9 lives", "operation"),
                "cron_expr": ("x", "cron_expr"),
                "timezone": ("Mars", "timezone"),
                "payload": ("[1]", "payload"),
            },
        ),
        (
            "/gateways",
            "/gateways/save",
            {"name": "g", "endpoint": "https://g.example"},
            {"name": ("", "name"), "endpoint": ("a b", "endpoint")},
        ),
        (
            f"/schedules/{schedule}",
            f"/schedules/{schedule}/pause",
            {},
            {
                "until": ("2020-01-01T00:00", "until"),
                "note": ("n" * 2001, "note"),
            },
        ),
        (
            "/schedules/PAUSED",
            f"/schedules/{schedule}/resume",
            {},
            {"on_missed": ("never", "on_missed")},
        ),
    )  # fmt: skip
    paused = console.db.value("select id from lenses.workflow_schedules where name = 'report-07'")
    for page, path, right, fields in forms:
        window.open(page.replace("PAUSED", str(paused)))
        there = slots(window)
        for field, (value, column) in fields.items():
            told = post(window, path, {**right, field: value})
            assert told["field"] == column, (path, field, told)
            assert column.split("[")[0] in there, (page, column)


def test_the_browser_shows_it_at_the_field(scene: Scene) -> None:
    console, window = scene
    _, workflow, _ = ids(console)
    page = window.open(f"/builder?workflow={workflow}")
    page.locator("summary", has_text="Retries and failure").click()
    retries = page.get_by_label("Retries of a run")
    retries.fill("5000")
    page.get_by_role("button", name="Save").click()
    error = page.locator("[data-field='retry_policy.maxRetries'] .error")
    expect(error).to_contain_text("nearest allowed is 1000")
    expect(retries).to_be_focused()
    retries.fill("2")
    expect(error).to_be_hidden()
    page.locator("summary", has_text="Only if a condition holds").click()
    page.get_by_label("Condition, a JSON object").fill('{"/a.b": {"is": 1}}')
    page.get_by_role("button", name="Save").click()
    expect(page.locator("[data-field=pre_dispatch_condition] .error")).to_contain_text('"is"')
