"""Errors of the server name what was typed, not columns and parameters."""

from __future__ import annotations

import pytest

from tests.support.command import Command
from tests.support.database import Database


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (["--every", "1m"], "--every 1m is out of range", "Allowed are 5 minutes to 10 years."),
        (["--every", "4m30s"], "--every 4m30s is out of range", "Allowed are 5 minutes to"),
        (
            ["--every", "6h", "--start", "2030-01-02", "--end", "2030-01-01"],
            "--end 2030-01-01 00:00:00+00 is before --start 2030-01-02 00:00:00+00",
            "--end must not be earlier",
        ),
        (["--every", "6h", "--on-holiday", "after"], '--on-holiday "after" does not go', "skip"),
    ],
)
def test_create_names_its_options(
    lf: Command, workflow: str, options: list[str], message: str, hint: str
) -> None:
    said = lf("schedule", "create", workflow, *options, code=2).err
    for internal in ("interval_ms", "start_at", "end_at", "on_holiday", "millisecond", "p_"):
        assert internal not in said
    first, second = said.splitlines()
    assert first.startswith(f"error: {message}")
    assert hint in second


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--since", "60d"], ["error: --since ", " is further back than 30 days"]),
        (["--since", "1d", "--until", "2d"], ["--since ", " is after --until ", "Swap them: --s"]),
        (["--since", "1d", "--until", "2999-01-01"], ["error: --until ", " is in the future"]),
    ],
)
def test_backfill_names_its_options(
    lf: Command, workflow: str, options: list[str], said: list[str]
) -> None:
    lf("schedule", "create", workflow, "--name", "a", "--cron", "0 9 * * *")
    answer = lf("schedule", "backfill", "a", *options, code=2)
    assert "p_" not in answer.err
    for words in said:
        assert words in answer.err


def test_values_are_left_as_they_are(lf: Command, workflow: str) -> None:
    args = ("schedule", "create", workflow, "--cron", "0 9 * * *", "--queue-policy")
    answer = lf(*args, '{"on_holiday": 1}', code=2)
    assert '"on_holiday"' in answer.err


def test_a_second_decision_leads_to_the_run(lf: Command, db: Database, workflow: str) -> None:
    lf("schedule", "create", workflow, "--name", "a", "--cron", "0 9 * * *")
    run = lf("schedule", "run-now", "a").first
    lf("runs", "approve", run)
    answer = lf("runs", "approve", run, code=1)
    assert "agents." not in answer.err
    assert answer.err.splitlines()[-1] == (f"hint: A decision is made once: lf-sql runs show {run}")
    assert "approved" in lf("runs", "show", run).out


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["team", "create", "crew", "--member", "nobody"], "lf-sql agent list"),
        (["schedule", "create", "W", "--cron", "* * * * *", "--team", "no"], "lf-sql team list"),
    ],
)
def test_an_unknown_name_leads_to_its_list(
    lf: Command, workflow: str, args: list[str], hint: str
) -> None:
    named = [workflow if arg == "W" else arg for arg in args]
    assert lf(*named, code=1).err.splitlines()[-1] == f"hint: {hint}"
