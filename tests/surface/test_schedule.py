"""lf-sql schedule: create, look at, steer."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from tests.support.command import Command
from tests.support.database import Database, Tenant


def test_create_by_title_then_by_description(lf: Command, db: Database, workflow: str) -> None:
    made = lf(
        *("schedule", "create", "Nightly report", "--cron", "0 9 * * 1-5"),
        *("--tz", "Europe/Istanbul", "--no-approval", "--description", "morning"),
    )
    assert "next " in made.err
    row = db.row("select * from lenses.workflow_schedules where id = %s", [made.first])
    assert (row.cron_expr, row.timezone) == ("0 9 * * 1-5", "Europe/Istanbul")
    assert row.approval_policy == {"requiresApproval": False}
    shown = lf("schedule", "show", "morning").out
    assert made.first in shown
    assert lf("schedule", "inspect", made.first[:8]).out == shown
    (listed,) = lf("schedule", "list").rows
    assert (listed["id"], listed["status"]) == (made.first, "enabled")
    assert listed["workflow"] == "Nightly report"


def test_every_option_of_create_reaches_its_column(
    lf: Command, db: Database, workflow: str, owner: Tenant
) -> None:
    agent = db.value(
        "insert into agents.ai_lensers (lenser_id, name) values (%s, 'scribe') returning id",
        [owner.id],
    )
    wanted = uuid.uuid4()
    made = lf(
        *("schedule", "create", workflow[:8], "--every", "1h30m", "--id", wanted),
        *("--calendar", "us-federal-holidays-2026", "--agent", "scribe"),
        *("--start", "2030-01-01T00:00Z", "--end", "2031-01-01T00:00Z", "--jitter", "30s"),
        *("--inputs", '{"a": 1}', "--rotation", '[{"b": 2}]', "--condition", "{}"),
        *("--on-missed", "backfill", "--max-backfill", 7, "--serial", "--priority", 3),
        *("--retries", 4, "--failure-policy", '{"mode": "halt"}', "--disabled"),
        *("--workflow-version", 1, "--model", "m"),
    )
    assert made.first == str(wanted)
    row = db.row("select * from lenses.workflow_schedules")
    assert (row.interval_ms, row.jitter_ms, row.assignee_id) == (5_400_000, 30_000, agent)
    assert (row.inputs_template, row.inputs_rotation) == ({"a": 1}, [{"b": 2}])
    assert row.queue_policy == {
        "mode": "serial",
        "onMissed": "backfill",
        "maxBackfill": 7,
        "priority": 3,
    }
    assert (row.retry_policy, row.failure_policy) == ({"maxRetries": 4}, {"mode": "halt"})
    assert (row.is_active, row.workflow_version, row.global_model_id) == (False, 1, "m")
    assert row.start_at.year == 2030
    assert row.calendar_id is not None
    lf(*("schedule", "create", workflow, "--cron", "* * * * *", "--id", wanted))
    assert db.value("select count(*) from lenses.workflow_schedules") == 1


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 2, "either --cron or --every"),
        (["--cron", "* * * * *", "--every", "6h"], 2, "either --cron or --every"),
        (["--every", "often"], 2, "no duration"),
        (["--every", "1m"], 2, "--every 1m is out of range"),
        (["--cron", "@daily"], 2, "@daily"),
        (["--cron", "0 9 * * FRI-MON"], 2, "FRI,SAT,SUN,MON"),
        (["--cron", "* * * * *", "--tz", "Mars/Olympus"], 2, "Mars/Olympus"),
        (["--cron", "* * * * *", "--inputs", "{"], 2, "no JSON"),
        (["--cron", "* * * * *", "--inputs", "@/nowhere"], 2, "/nowhere"),
        (["--cron", "* * * * *", "--calendar", "nope"], 1, "there is no calendar 'nope'"),
        (["--cron", "* * * * *", "--agent", "x", "--team", "y"], 2, "either --agent or --team"),
        (["--every", "6h", "--jitter", "100d"], 2, "at most 1d"),
        (["--cron", "* * * * *", "--queue-policy", '{"mood": 1}'], 2, "mode"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_stored(
    lf: Command, db: Database, workflow: str, options: list[str], code: int, said: str
) -> None:
    answer = lf("schedule", "create", workflow, *options, code=code)
    assert said in answer.err
    assert db.value("select count(*) from lenses.workflow_schedules") == 0


@pytest.fixture
def schedule(lf: Command, workflow: str) -> str:
    return lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--no-approval").first


def test_pause_and_resume(lf: Command, db: Database, schedule: str) -> None:
    assert "paused" in lf("schedule", "pause", schedule, "--note", "moving", "--until", "2d").out
    row = db.row("select *, now() as t from lenses.workflow_schedules where id = %s", [schedule])
    assert row.pause_note == "moving"
    assert 1.9 < (row.paused_until - row.t).total_seconds() / 86400 < 2.1
    assert lf("schedule", "list").rows[0]["status"] == "paused"
    preview = lf("schedule", "preview", schedule)
    assert preview.rows == []
    assert "resumed" in lf("schedule", "resume", schedule, "--on-missed", "run_once").out
    assert lf("schedule", "list").rows[0]["status"] == "enabled"


def test_several_at_once(lf: Command, db: Database, workflow: str) -> None:
    for name in ("a", "b", "c"):
        lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--name", name)
    assert lf("schedule", "pause", "a", "b", "a").out.count("paused") == 2
    paused = (
        "select array_agg(name order by name) from lenses.workflow_schedules where not is_active"
    )
    assert db.value(paused) == ["a", "b"]
    assert [row["is_active"] for row in lf("schedule", "resume", "b", "a", "--json").json] == [
        True
    ] * 2
    # one that is not there, and nothing is done
    assert "no schedule 'nobody'" in lf("schedule", "pause", "a", "nobody", code=1).err
    assert db.value(paused) is None
    lf("schedule", "delete", "a", "c", "--yes")
    assert db.column("select name from lenses.workflow_schedules") == ["b"]


def test_delete_asks_or_is_forced(lf: Command, db: Database, schedule: str) -> None:
    assert "say --yes" in lf("schedule", "delete", schedule, code=2).err
    lf("schedule", "delete", schedule, "--force")
    assert db.value("select count(*) from lenses.workflow_schedules") == 0


def test_run_now_and_history(lf: Command, schedule: str) -> None:
    run = lf("schedule", "run-now", schedule, "--inputs", '{"day": 1}')
    assert "pending" in run.out
    (row,) = lf("schedule", "history", schedule).rows
    assert (row["run_id"], row["trigger_mode"]) == (run.first, "manual")


def test_preview_shows_both_zones(lf: Command, workflow: str) -> None:
    made = lf(
        *("schedule", "create", workflow, "--cron", "0 9 * * *", "--tz", "Europe/Istanbul"),
    ).first
    rows = lf("schedule", "preview", made, "--next", 3, "--tz", "America/New_York").rows
    assert len(rows) == 3
    assert all("09:00 +03" in row["in its zone"] for row in rows)
    assert all("E" in row["in yours"] for row in rows)
    assert [row["decision"] for row in rows] == ["dispatch"] * 3
    found = lf("schedule", "preview", made, "--next", 3, "--json").json
    assert [set(row) for row in found] == [{"tick_at", "decision", "reason", "inputs"}] * 3
    lf("schedule", "preview", made, "--tz", "Mars/Olympus", code=2)


def test_describe_needs_no_schedule(lf: Command) -> None:
    said = lf("schedule", "describe", "0 9 * * 1-5").out
    assert said.startswith("At 09:00, Monday through Friday\n")
    found = lf("schedule", "describe", "0 9 * * 1-5", "--next", 2, "--json").json
    assert found["description"] == "At 09:00, Monday through Friday"
    assert len(found["next"]) == 2
    assert "remove the first field" in lf("schedule", "describe", "0 0 9 * * 1", code=2).err


def test_backfill_first_dry_then_for_real(lf: Command, db: Database, workflow: str) -> None:
    made = lf("schedule", "create", workflow, "--cron", "0 * * * *", "--no-approval").first
    dry = lf("schedule", "backfill", made, "--since", "5h", "--dry-run")
    assert "would dispatch: 5" in dry.err
    assert db.value("select count(*) from lenses.workflow_runs") == 0
    assert lf("schedule", "backfill", made, "--since", "5h", "--json").json["dispatched"] == 5
    assert lf("schedule", "backfill", made, "--since", "5h", "--json").json["dispatched"] == 0
    assert "30 days" in lf("schedule", "backfill", made, "--since", "40d", code=2).err


def test_ids_are_shortened_where_unique(lf: Command, db: Database, workflow: str) -> None:
    one, two = (f"aaaaaaaa-0000-4000-8000-00000000000{n}" for n in (1, 2))
    for each in (one, two):
        lf("schedule", "create", workflow, "--cron", "* * * * *", "--id", each)
    answer = lf("schedule", "show", "aaaa", code=1)
    assert "fits 2 schedules" in answer.err
    assert one in answer.err
    assert two in answer.err
    assert lf("schedule", "show", one, "--json").json["id"] == one
    assert "there is no schedule 'ffff'" in lf("schedule", "show", "ffff", code=1).err
    assert "there is no schedule" in lf("schedule", "show", "no such thing", code=1).err


def test_as_a_tenant_others_rows_do_not_exist(
    lf: Command, schedule: str, owner: Tenant, tenant: Callable[..., Tenant]
) -> None:
    stranger = tenant("stranger")
    assert len(lf("schedule", "list", "--as", owner.user_id).rows) == 1
    assert lf("--as", str(stranger.user_id), "schedule", "list").rows == []
    unknown = lf("schedule", "pause", schedule, "--as", stranger.user_id, code=1).err
    assert "there is no schedule" in unknown
    lf("schedule", "pause", schedule, "--as", owner.user_id)
    assert "several tenants" in lf("workflow", "create", "x", code=2).err
    lf("workflow", "create", "x", "--as", stranger.user_id)
    assert "uuid" in lf("schedule", "list", "--as", "me", code=2).err


def test_without_a_tenant_it_says_how_to_make_one(lf: Command) -> None:
    refusal = lf("workflow", "create", "x", code=1).err
    assert "lf-sql tenant create HANDLE --user-id UUID" in refusal
    lf("tenant", "create", "ada", "--user-id", str(uuid.uuid4()))
    lf("workflow", "create", "x")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["schedul"], "schedule"),
        (["schedule", "lsit"], "list"),
        (["schedule", "calender"], "calendar"),
        (["runs", "aprove"], "approve"),
    ],
)
def test_a_mistyped_command_is_suggested(lf: Command, typed: list[str], meant: str) -> None:
    assert f"Did you mean {meant!r}?" in lf(*typed, code=2).err


@pytest.mark.parametrize("typed", [["nonsense"], ["schedule", "nonsense"], ["delivery", "work"]])
def test_a_command_that_is_near_to_none_is_not_guessed(lf: Command, typed: list[str]) -> None:
    said = lf(*typed, code=2).err
    assert f"No such command {typed[-1]!r}." in said
    assert "Did you mean" not in said


def test_explain_and_lint(lf: Command, workflow: str) -> None:
    made = lf("schedule", "create", workflow, "--cron", "*/7 9 * * 1-5", "--tz", "Europe/Istanbul")
    told = lf("schedule", "explain", made.first, "--at", "2027-03-06 08:30").out
    assert told.startswith(
        "Sat 2027-03-06 08:30 Europe/Istanbul: no slot\n  because       minute wants */7"
    )
    assert "\n  schedule      Nightly report\n" in told
    assert "\n  day of month  met: it wants *, and this is 6\n" in told
    assert "\n  hour          not met: it wants 9, and this is 8\n" in told
    for instant in ("2027-03-06T05:30+00:00", "2027-03-06T08:30+03:00", "2027-03-06 00:30-05:00"):
        assert lf("schedule", "explain", made.first, "--at", instant).out == told
    # the first of two equal times, and the end of the gap for one that is skipped: where slots are
    turns = lf("schedule", "create", workflow, "--cron", "30 1,2 * * *", "--tz", "America/New_York")
    for minute, offset in (("2027-11-07T01:30", "-04:00"), ("2027-03-14T03:00", "-04:00")):
        told = lf("schedule", "explain", turns.first, "--at", minute + offset).out
        assert ": fires\n" in told
        asked = minute.replace("03:00", "02:30")
        assert lf("schedule", "explain", turns.first, "--at", asked).out == told
    lf("schedule", "delete", turns.first, "--yes")
    assert "uneven_step" in lf("schedule", "lint", made.first).out
    assert [row["code"] for row in lf("schedule", "lint").rows] == ["uneven_step"]
    assert (
        "write 2026-11-26T08:30" in lf("schedule", "explain", made.first, "--at", "now", code=2).err
    )


def test_update_changes_what_is_named(lf: Command, db: Database, workflow: str) -> None:
    made = lf(
        *("schedule", "create", workflow, "--name", "morning", "--cron", "0 9 * * 1-5"),
        *("--serial", "--priority", 3, "--description", "a line"),
    )
    lf("schedule", "update", "morning", "--cron", "30 9 * * 1-5", "--on-missed", "backfill")
    lf("schedule", "update", made.first, "--calendar", "weekdays", "--on-holiday", "after")
    row = db.row("select * from lenses.workflow_schedules")
    assert (row.name, row.cron_expr, row.description) == ("morning", "30 9 * * 1-5", "a line")
    assert row.queue_policy == {"mode": "serial", "priority": 3, "onMissed": "backfill"}
    assert row.on_holiday == "after"
    lf("schedule", "update", "morning", "--at", "2030-01-01T09:00+00:00", "--on-holiday", "skip")
    row = db.row("select * from lenses.workflow_schedules")
    assert (row.schedule_type, row.cron_expr, row.run_at.year) == ("once", None, 2030)
    lf(
        "schedule",
        "update",
        "morning",
        "--clear",
        "description",
        "--clear",
        "calendar_id",
        "--disable",
    )
    row = db.row("select * from lenses.workflow_schedules")
    assert (row.description, row.calendar_id, row.is_active) == (None, None, False)
    assert "say what to change" in lf("schedule", "update", "morning", code=2).err
    assert (
        'unknown key "colour"'
        in lf("schedule", "update", "morning", "--clear", "colour", code=2).err
    )


def test_a_single_slot_by_name(lf: Command, workflow: str) -> None:
    lf("schedule", "create", workflow, "--name", "launch", "--at", "2030-01-01T09:00+00:00")
    (listed,) = lf("schedule", "list").rows
    assert (listed["name"], listed["expression"]) == ("launch", "at 2030-01-01 09:00")
    assert "or --at for a single slot" in lf("schedule", "create", workflow, code=2).err


def test_a_slot_that_is_years_away_is_told(lf: Command, workflow: str) -> None:
    args = ("schedule", "create", workflow, "--at", "2199-01-01T09:00Z", "--name", "launch")
    assert "  next Tue 2199-01-01 " in lf(*args).err
    said = lf("schedule", "update", "launch", "--at", "2199-01-02T09:00Z").err
    assert "  next Wed 2199-01-02 " in said
