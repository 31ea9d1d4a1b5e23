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


def ended(lf: Command, workflow: str, name: str, count: int) -> list[str]:
    """Runs of a schedule of its own, cancelled."""
    made = lf(
        *("schedule", "create", workflow, "--name", name, "--cron", "0 9 * * *", "--no-approval")
    ).first
    runs = [lf("schedule", "run-now", made).first for _ in range(count)]
    lf("runs", "cancel", *runs)
    return runs


def test_retry(lf: Command, workflow: str) -> None:
    one, two, three = ended(lf, workflow, "morning", 3)
    assert lf("runs", "retry", one[:13]).out == f"{one}\tpending\n"
    refused = lf("runs", "retry", one, code=1)
    assert "is pending: only one that failed, timed out or was cancelled" in refused.err
    assert refused.err.count("error:") == 1
    partly = lf("runs", "retry", one, two, code=1)
    assert partly.out == f"{two}\tpending\n"
    assert "so it is with 1 of 2" in partly.err
    assert lf("runs", "retry", three, "--json").json == {"id": three, "status": "pending"}


def test_filters_choose_runs_and_ask(lf: Command, workflow: str) -> None:
    morning, evening = ended(lf, workflow, "morning", 2), ended(lf, workflow, "evening", 1)
    by_schedule = ("--schedule", "morning", "--status", "cancelled")
    assert "say --yes" in lf("runs", "retry", *by_schedule, code=2).err
    assert lf("runs", "list", "--status", "pending").rows == []
    again = lf("runs", "retry", *by_schedule, "--yes").out.split()
    assert set(again[::2]) == set(morning)
    assert (
        lf("runs", "cancel", "--schedule", "morning", "--limit", "1", "--yes").out.count("\n") == 1
    )
    assert len(lf("runs", "list", "--status", "pending").rows) == 1
    assert "no run is like that" in lf("runs", "retry", "--failed", "--yes").err
    assert "only runs that are" in lf("runs", "approve", "--status", "failed", "--yes", code=2).err
    for wrong in ([], [evening[0], "--failed"], [evening[0], "--limit", "2"]):
        assert "name runs, or say which" in lf("runs", "cancel", *wrong, code=2).err


def test_a_stranger_retries_nothing_by_filters(
    lf: Command, workflow: str, tenant: Callable[..., Tenant]
) -> None:
    ended(lf, workflow, "morning", 1)
    as_stranger = ("--as", tenant("stranger").user_id)
    said = lf("runs", "retry", "--status", "cancelled", "--yes", *as_stranger)
    assert (said.out, "no run is like that" in said.err) == ("", True)


def test_lists_by_filters_and_ids_alone(lf: Command, workflow: str) -> None:
    morning, evening = ended(lf, workflow, "morning", 2), ended(lf, workflow, "evening", 1)
    assert lf("runs", "list", "--schedule", "evening", "--ids").out == f"{evening[0]}\n"
    assert set(lf("runs", "list", "--ids").out.split()) == {*morning, *evening}
    assert lf("runs", "list", "--ids", "--json", "--limit", "1").json == [evening[0]]
    assert lf("runs", "list", "--failed").rows == []
    assert lf("runs", "list", "--workflow", workflow, "--until", "1h").rows == []
    assert len(lf("runs", "list", "--workflow", workflow, "--since", "1h").rows) == 3
    assert len(lf("schedule", "list", "--ids").out.split()) == 2


def test_a_number_of_many_digits_can_be_shown(lf: Command, db: Database, workflow: str) -> None:
    """Results of 0.2.0, and metadata that an operator writes, have no limit of digits."""
    made = lf("schedule", "create", workflow, "--cron", "0 9 * * *").first
    run = lf("schedule", "run-now", made).first
    db.execute(
        "update lenses.workflow_runs set metadata = metadata || '{\"n\": 1e5000}' where id = %s",
        [run],
    )
    assert 5000 * "0" in lf("runs", "show", run).out
    assert lf("runs", "show", run, "--json").json["metadata"]["n"] == 10**5000
