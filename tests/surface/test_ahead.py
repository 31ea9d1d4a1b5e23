"""lf-sql preview, schedule preview --all, schedule load, schedule condition test."""

from __future__ import annotations

import re
import shlex
from datetime import date, timedelta
from pathlib import Path

import pytest

from lf_sql.cli.schedule.ahead import grid
from tests.support.command import Command
from tests.support.database import Database, Tenant

MANUAL = Path(__file__).parents[2] / "installer/README.md"
NEXT_YEAR = date.today().year + 1


def test_the_days_of_all_schedules_are_the_same_whenever_asked(
    lf: Command, db: Database, workflow: str
) -> None:
    free = ("--no-approval",)
    lf(
        "schedule",
        "calendar",
        "create",
        "closing",
        "--dates",
        f"{NEXT_YEAR}-03-01,{NEXT_YEAR}-03-02",
    )
    daily = ("--cron", "30 9 * * *", "--tz", "Europe/Berlin", "--calendar", "closing")
    lf("schedule", "create", workflow, "--name", "b daily", *daily, *free)
    lf("schedule", "create", workflow, "--description", "a often", "--cron", "*/10 * * * *", *free)
    lf("schedule", "create", workflow, "--cron", "0 0 1 1 *", "--disabled", *free)
    asked = ("--from", f"{NEXT_YEAR}-03-02", "--days", "2")
    found = lf("preview", *asked)
    rows = [
        (r["schedule"], r["day"][4:], r["decision"], r["reason"], r["times"]) for r in found.rows
    ]
    assert rows == [
        ("a often", f"{NEXT_YEAR}-03-02", "dispatch", "ok", "144 from 00:00 to 23:50"),
        ("a often", f"{NEXT_YEAR}-03-03", "dispatch", "ok", "144 from 00:00 to 23:50"),
        ("b daily", f"{NEXT_YEAR}-03-02", "skip", "calendar", "09:30"),
        ("b daily", f"{NEXT_YEAR}-03-03", "dispatch", "ok", "09:30"),
    ]
    assert lf("schedule", "preview", "--all", *asked).out == found.out
    assert lf("preview", "--all", *asked).out == found.out
    one = lf("schedule", "preview", "b daily", *asked)
    assert [r["times"] for r in one.rows] == ["09:30", "09:30"]
    db.execute("set timezone = 'Asia/Kathmandu'")
    by_json = lf("preview", *asked, "--json").json
    assert [row["slots"] for row in by_json] == [144, 144, 1, 1]
    assert "schedule_id" not in by_json[0]
    refused = lf("preview", "--from", f"{NEXT_YEAR}-03-02", "--days", "366")
    assert len(refused.rows) == 2 * 366
    lf("schedule", "create", workflow, "--cron", "* * * * *", *free)
    assert "fewer days" in lf("preview", "--days", "366", code=2).err
    assert "--days 400" in lf("schedule", "preview", "--all", "--days", 400, code=2).err
    lf("schedule", "preview", code=2)


def test_load_is_a_line_an_hour_in_a_pipe_and_json(
    lf: Command, db: Database, workflow: str, owner: Tenant
) -> None:
    lf("schedule", "create", workflow, "--cron", "*/15 9 * * *", "--tz", "Europe/Berlin")
    day = date.today() + timedelta(days=3)
    lf("schedule", "create", workflow, "--at", f"{day}T13:30Z", "--name", "single")
    lf("schedule", "calendar", "create", "closed", "--dates", day)
    lf(
        *("schedule", "create", workflow, "--cron", f"20 5 {day.day} {day.month} *"),
        *("--calendar", "closed", "--on-holiday", "after", "--name", "moved"),
    )
    lf("schedule", "create", workflow, "--every", "6h", "--disabled")
    rows = lf("schedule", "load", "--tz", "UTC").rows
    assert len(rows) == 168
    assert list(rows[0]) == ["hour_at", "local_day", "local_hour", "slots", "schedules"]
    at = {(row["local_day"], row["local_hour"]): row["slots"] for row in rows}
    assert at[str(day), "13"] == "1"
    assert at[str(day), "5"] == "0"
    assert at[str(day + timedelta(days=1)), "5"] == "1"
    assert sum(map(int, at.values())) == 7 * 4 + 2
    berlin = lf("schedule", "load", "--tz", "Europe/Berlin", "--json").json
    assert {row["local_hour"] for row in berlin if row["slots"] >= 4} == {9}
    # the operator sees everybody's, a tenant his own
    user = db.value("select user_id from lensers.profiles where id = %s", [owner.id])
    lf("tenant", "create", "other")
    other = db.value("select user_id from lensers.profiles where handle = 'other'")
    own = lf("--as", user, "schedule", "load").rows
    assert own == rows
    assert sum(int(row["slots"]) for row in lf("--as", other, "schedule", "load").rows) == 0
    assert "zone" in lf("schedule", "load", "--tz", "Mars/Base", code=2).err


def test_the_grid_shades_by_the_busiest_hour() -> None:
    days = [date(2026, 12, 1) + timedelta(days=n) for n in range(7)]
    cells = [
        {"local_day": day, "local_hour": hour, "slots": (60 if hour == 9 else hour == 8) * (n + 1)}
        for n, day in enumerate(days)
        for hour in range(24)
    ]
    head, *lines = grid(cells, 120)
    assert head.split() == [*(f"{hour:02}" for hour in range(24)), "slots"]
    assert len(lines) == 7 and lines[0].startswith("Tue 01 Dec ")
    assert lines[6].endswith("427")
    column = head.index("09")
    assert [lines[n][column : column + 2] for n in (0, 6)] == ["::", "@@"]
    assert lines[6][head.index("08") : head.index("08") + 2] == ".."
    assert lines[6][head.index("10") : head.index("10") + 2] == "  "
    assert len({len(line) for line in [head, *lines]}) == 1

    head, *lines = grid(cells, 80)
    assert head.split() == [*(f"{hour:02}" for hour in range(0, 24, 2)), "slots"]
    column = head.index("08")
    assert lines[6][column : column + 6] == ". @   "
    assert {len(line) for line in [head, *lines]} == {66}


def test_what_each_path_wants_and_is(lf: Command, db: Database, workflow: str) -> None:
    schedule = lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--no-approval").first
    condition = (
        '{"/last_24h_stats/total": {"gt": 0, "lt": 3}, "": {"neq": 1}, "/a~1b": {"eq": null}}'
    )
    found = lf("schedule", "condition", "test", schedule, condition, code=1)
    assert found.out.splitlines()[0] == "passes\tno"
    rows = [line.split("\t") for line in found.out.splitlines()[2:]]
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        ('""', "neq 1", "yes"),
        ("/a~1b", "eq null", "yes"),
        ("/last_24h_stats/total", "gt 0", "no"),
        ("/last_24h_stats/total", "lt 3", "yes"),
    ]
    assert [row[2] for row in rows[2:]] == ["0", "0"]
    by_json = lf("schedule", "condition", "test", schedule, condition, "--json", code=1).json
    assert by_json["passes"] is False
    assert by_json["tests"][2] == {
        "path": "/last_24h_stats/total", "operator": "gt", "operand": 0, "value": 0, "is_met": False,
    }  # fmt: skip
    lf("schedule", "condition", "test", schedule)


def conditions() -> list[str]:
    """Every filter that the manual writes down, in a command or in a sentence."""
    text = MANUAL.read_text(encoding="utf-8")
    chapter = text[text.index("## Conditions") :].split("\n## ")[0]
    found = re.findall(r"`(\{\"/.*?\}\})`", chapter)
    for line in chapter.splitlines():
        if line.startswith("lf-sql schedule condition set"):
            found.append(shlex.split(line)[-1])
    return found


@pytest.mark.parametrize("condition", conditions())
def test_the_manuals_conditions_hold_after_a_success_and_not_after_failures(
    lf: Command, db: Database, workflow: str, condition: str
) -> None:
    schedule = lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--no-approval").first
    end = (
        "with run as (update lenses.workflow_runs set status = 'running', attempt = 1, "
        "worker_id = 'w', lease_expires_at = now() + interval '1 minute' "
        "where status = 'pending' returning id) select id from run"
    )

    def ended(status: str) -> None:
        lf("schedule", "run-now", schedule)
        run = db.value(end)
        db.execute("update lenses.workflow_runs set status = %s where id = %s", [status, run])

    ended("completed")
    lf("schedule", "condition", "set", schedule, condition)
    lf("schedule", "condition", "test", schedule)
    for _ in range(3):
        ended("failed")
    assert "\tno" in lf("schedule", "condition", "test", schedule, code=1).out


def test_the_manual_has_conditions() -> None:
    assert len(conditions()) >= 2
