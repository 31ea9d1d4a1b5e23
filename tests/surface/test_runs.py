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


def test_many_at_once(lf: Command, workflow: str, db: Database) -> None:
    made = lf("schedule", "create", workflow, "--cron", "0 9 * * *").first
    runs = [lf("schedule", "run-now", made).first for _ in range(6)]
    rows = lf("runs", "approve", *runs[:3], runs[0], "--note", "all of them").out.splitlines()
    assert rows == [f"{run}\tpending" for run in runs[:3]]
    assert lf("runs", "reject", *runs[3:5], "--json").json == [
        {"id": run, "status": "cancelled"} for run in runs[3:5]
    ]
    partly = lf("runs", "approve", *runs[4:], "--note", "all of them", code=1)
    assert partly.out.splitlines() == [f"{runs[5]}\tpending"]
    assert f"run {runs[4]} does not wait for approval; so it is with 1 of 2" in partly.err
    assert lf("runs", "cancel", *runs[:2]).out.count("cancelled") == 2
    partly = lf("runs", "cancel", *runs[:3], code=1)
    assert partly.out.splitlines() == [f"{runs[2]}\tcancelled"]
    assert "is over already; so it is with 2 of 3" in partly.err
    assert (
        "does not wait for approval: it is cancelled" in lf("runs", "approve", runs[0], code=1).err
    )
    assert "there is no run" in lf("runs", "reject", runs[5], uuid.uuid4(), code=1).err
    notes = "select distinct note from agents.team_runs where approval_status = 'approved'"
    assert db.column(notes) == ["all of them"]


def test_runs_of_several_owners(lf: Command, db: Database, tenant: Callable[..., Tenant]) -> None:
    runs = []
    for handle in ("one", "two"):
        who = tenant(handle)
        workflow = lf("workflow", "create", handle, "--as", who.user_id).first
        made = lf("schedule", "create", workflow, "--cron", "0 9 * * *").first
        runs += [lf("schedule", "run-now", made).first for _ in range(2)]
    assert lf("runs", "approve", *runs).out.count("pending") == 4
    deciders = "select count(distinct decided_by) from agents.team_runs"
    assert db.value(deciders) == 2
