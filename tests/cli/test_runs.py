"""lf-sql runs and lf-sql workflow."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from tests.support.command import Command
from tests.support.database import Database, Tenant


def test_workflow_create_list_status(lf: Command, db: Database, workflow: str) -> None:
    definition = '{"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "a", "to": "b"}]}'
    same = lf("workflow", "create", "Weekly", "--definition", definition, "--id", workflow).first
    assert same == workflow
    (row,) = lf("workflow", "list").rows
    assert (row["title"], row["version"]) == ("Weekly", "2")
    assert "paused" in lf("workflow", "status", "Weekly", "paused").out
    assert lf("workflow", "list", "--status", "active").rows == []
    assert "asleep" in lf("workflow", "status", "Weekly", "asleep", code=2).err


def test_approve_reject_cancel_show(lf: Command, workflow: str) -> None:
    made = lf("schedule", "create", workflow, "--cron", "0 9 * * *").first
    runs = [lf("schedule", "run-now", made).first for _ in range(3)]
    waiting = lf("runs", "list", "--status", "pending_approval", "--schedule", made).rows
    assert {row["id"] for row in waiting} == set(runs)
    assert "pending" in lf("runs", "approve", runs[0], "--note", "looks right").out
    assert "cancelled" in lf("runs", "reject", runs[1][:13]).out
    assert "cancelled" in lf("runs", "cancel", runs[2]).out
    assert "over already" in lf("runs", "cancel", runs[2], code=1).err
    shown = lf("runs", "show", runs[0]).out
    assert "looks right" in shown
    assert "run.created" in shown
    whole = lf("runs", "show", runs[0], "--json").json
    assert whole["approval"]["approval_status"] == "approved"
    assert whole["events"][0]["event"] == "run.created"


def test_a_stranger_decides_nothing(
    lf: Command, workflow: str, tenant: Callable[..., Tenant]
) -> None:
    made = lf("schedule", "create", workflow, "--cron", "0 9 * * *").first
    run = lf("schedule", "run-now", made).first
    stranger = tenant("stranger")
    assert "there is no run" in lf("runs", "approve", run, "--as", stranger.user_id, code=1).err
    assert "there is no run" in lf("runs", "show", uuid.uuid4(), code=1).err
    assert lf("runs", "list", "--as", stranger.user_id).rows == []
