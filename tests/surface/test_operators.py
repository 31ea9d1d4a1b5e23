"""Tenants, agents, teams, settings, the freeze, calendars changed, completion."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from uuid import UUID

import pytest

from tests.support.command import Command
from tests.support.database import Database, Tenant


def test_a_tenant_and_his_people(lf: Command, db: Database) -> None:
    user = lf("tenant", "create", "acme", "--display-name", "Acme Inc.").first
    assert UUID(user)
    agent = lf("agent", "create", "ada", "--spending-limit", "12.5", "--max-daily-battles", 3).first
    lf("agent", "create", "bob")
    team = lf("team", "create", "crew", "--member", "ada", "--member", "bob").first
    assert [row["handle"] for row in lf("tenant", "list", "--json").json] == ["acme"]
    (ada, bob) = lf("agent", "list", "--json").json
    assert (ada["id"], ada["spending_limit_credits"], ada["max_daily_battles"]) == (agent, 12.5, 3)
    assert bob["spending_limit_credits"] is None
    (crew,) = lf("team", "list", "--json").json
    assert (crew["id"], crew["members"], crew["tenant"]) == (team, ["ada", "bob"], "acme")
    lf("workflow", "create", "W")
    lf("schedule", "create", "W", "--cron", "0 9 * * *", "--team", "crew")
    assert str(db.value("select assignee_id from lenses.workflow_schedules")) == team


def test_whose_agent(lf: Command, tenant: Callable[..., Tenant], db: Database) -> None:
    assert "there is no such tenant" in lf("agent", "create", "ada", code=1).err
    tenant("one")
    two = tenant("two")
    assert "several tenants" in lf("agent", "create", "ada", code=2).err
    lf("agent", "create", "ada", "--as", two.user_id)
    assert db.value("select lenser_id from agents.ai_lensers") == two.id
    said = lf("tenant", "create", "again", "--user-id", two.user_id, code=1).err
    assert "is a tenant already" in said
    assert (
        "no agent 'zoe'"
        in lf("team", "create", "t", "--member", "zoe", "--as", two.user_id, code=1).err
    )
    assert db.value("select count(*) from agents.teams") == 0


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("batch_size", "500", "500"),
        ("missed_grace", "5 minutes", "00:05:00"),
        ("missed_grace", "5m", "00:05:00"),
        ("retention", "90d", "90 days"),
        ("default_on_missed", "run_once", "run_once"),
        ("max_schedules_per_lenser", "none", None),
    ],
)
def test_settings(lf: Command, name: str, value: str, shown: str | None) -> None:
    (row,) = lf("settings", "set", name, value, "--json").json
    assert (row["name"], row["value"]) == (name, shown)
    (listed,) = [row for row in lf("settings", "list", "--json").json if row["name"] == name]
    assert listed["value"] == shown


def test_a_pipe_has_lengths_of_time_as_people_write_them(lf: Command) -> None:
    assert lf("settings", "set", "missed_grace", "90s").rows[0]["value"] == "1m 30s"
    values = {row["name"]: row["value"] for row in lf("settings", "list").rows}
    assert (values["missed_grace"], values["retention"]) == ("1m 30s", "90d")


def test_a_second_tenant_of_a_handle_needs_its_own_user(lf: Command, db: Database) -> None:
    user = lf("tenant", "create", "ann").first
    said = lf("tenant", "create", "ann", code=1).err
    assert f"there is a tenant 'ann' already, with the user id {user}" in said
    assert f"--as {user}" in said
    assert "--user-id" in said
    assert db.value("select count(*) from lensers.profiles") == 1
    again = lf("tenant", "create", "ann", "--user-id", user, code=1).err
    assert f"--as {user}" in again
    other = "3f0c6f0e-6f0f-4c3e-9d5b-0c9a4a1f7a11"
    made = lf("tenant", "create", "ann", "--user-id", other)
    assert made.first == other
    assert "another tenant is called 'ann' too" in made.err


def test_a_setting_that_is_none(lf: Command) -> None:
    said = lf("settings", "set", "batchsize", "5", code=2).err
    assert 'the nearest is "batch_size"' in said
    assert "settings.batch_size" in lf("settings", "set", "batch_size", "many", code=2).err


def test_freeze_and_unfreeze(lf: Command, db: Database) -> None:
    assert lf("freeze", "moving house", "--json").json["frozen_reason"] == "moving house"
    assert db.value("select is_frozen from lenses.dispatch_settings")
    assert lf("unfreeze", "--json").json == {"is_frozen": False}


def test_a_calendar_is_changed(lf: Command, owner: Tenant, db: Database) -> None:
    lf("schedule", "calendar", "create", "closing", "--dates", "2026-12-24")
    lf("schedule", "calendar", "update", "closing", "--add", "2026-12-31", "--tz", "Europe/Rome")
    row = lf("schedule", "calendar", "show", "closing", "--json").json
    assert (row["dates"], row["timezone"]) == (["2026-12-24", "2026-12-31"], "Europe/Rome")
    lf("schedule", "calendar", "update", "closing", "--dates", "2027-01-01", "--name", "closed")
    lf("schedule", "calendar", "update", "closed", "--rules", '[{"weekdays": ["SAT"]}]')
    row = lf("schedule", "calendar", "show", "closed", "--json").json
    assert (row["dates"], row["rules"]) == (["2027-01-01"], [{"weekdays": ["SAT"]}])
    assert "say what to change" in lf("schedule", "calendar", "update", "closed", code=2).err
    assert "say --yes" in lf("schedule", "calendar", "delete", "closed", code=2).err
    lf("schedule", "calendar", "delete", "closed", "--force")
    assert db.value("select count(*) from lenses.schedule_calendars where not is_seed") == 0


def test_a_calendar_that_is_attached_is_kept(lf: Command, owner: Tenant, workflow: str) -> None:
    lf("schedule", "calendar", "create", "closing", "--dates", "2026-12-24")
    lf(
        "schedule",
        "create",
        workflow,
        "--cron",
        "0 9 * * *",
        "--calendar",
        "closing",
        "--name",
        "s",
    )
    assert lf("schedule", "calendar", "show", "closing", "--json").json["schedules"] == ["s"]
    assert "is attached" in lf("schedule", "calendar", "delete", "closing", "--force", code=1).err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(lf: Command, shell: str) -> None:
    source = lf("completion", shell).out
    assert "_LF_SQL_COMPLETE" in source and "lf-sql" in source
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=source, text=True, check=True)


@pytest.mark.parametrize("change", [("update", "--add", "2027-01-02"), ("delete", "--yes")])
def test_a_seed_is_not_changed_but_copied(
    lf: Command, owner: Tenant, change: tuple[str, ...]
) -> None:
    verb, *rest = change
    said = lf("schedule", "calendar", verb, "us-federal-holidays", *rest, code=1).err
    assert "is a seed: everybody sees it, and nobody changes it" in said
    assert "lf-sql schedule calendar create NAME --clone us-federal-holidays" in said


def test_the_date_that_is_none_is_named(lf: Command, owner: Tenant) -> None:
    dates = "2026-12-24,2026-13-31"
    said = lf("schedule", "calendar", "create", "c", "--dates", dates, code=2).err
    assert "'2026-13-31' is no date" in said


def test_a_missing_choice_is_one_line(lf: Command) -> None:
    said = lf("completion", code=2).err
    assert "Missing argument 'bash|zsh|fish'. Choose from: bash, zsh, fish\n" in said


def test_a_command_that_is_not_there_is_refused_before_any_run(lf: Command) -> None:
    said = lf("runs", "work", "--once", "--", "no-such-command", code=1).err
    assert "there is no command 'no-such-command', and every run would fail" in said
    assert "COMMAND after --" in lf("runs", "work", code=2).err


@pytest.mark.parametrize("word", ["workflow", "agent", "team", "gateway"])
def test_a_second_of_a_name_is_told(lf: Command, owner: Tenant, word: str) -> None:
    assert "called" not in lf(word, "create", "ann").err
    said = lf(word, "create", "ann").err
    assert f'there are 2 {word}s called "ann" now: say which by its id' in said
