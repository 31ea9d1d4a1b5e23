"""How commands print: help with an example, JSON, tables on a terminal, tabs in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lf_sql.cli import cli
from tests.support.command import Command
from tests.support.database import Database


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


EVERY = list(commands(cli))


@pytest.mark.parametrize("path", EVERY, ids=" ".join)
def test_help_has_an_example(lf: Command, path: tuple[str, ...]) -> None:
    text = lf(*path, "--help").out
    assert f"lf-sql {' '.join(path)}".replace("inspect", "show") in text.split("Example")[-1]
    assert "--json" in text
    assert "--dsn" in text
    assert "--as" in text


def on_a_terminal(dsn: str, *args: str, columns: int = 200) -> str:
    """What the command prints where stdout is a terminal."""
    master, slave = pty.openpty()
    env = {**os.environ, "LF_SQL_DSN": dsn, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    env.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "lf_sql", *args],
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=subprocess.DEVNULL,
        env=env,
        cwd="/",
    )
    os.close(slave)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # EIO: Linux's way to say that the other side is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    process.wait(120)
    return b"".join(chunks).decode()


def test_a_table_on_a_terminal_and_tabs_in_a_pipe(lf: Command, db: Database, workflow: str) -> None:
    made = lf("schedule", "create", workflow, "--cron", "0 9 * * 1-5", "--description", "a\tb\nc")
    piped = lf("schedule", "list").out.splitlines()
    assert len(piped) == 2
    assert piped[0].startswith("id\tworkflow\texpression\t")
    assert "\ta\\tb\\nc\t" in piped[1]
    shown = on_a_terminal(db.dsn, "schedule", "list")
    assert "\t" not in shown
    assert "NEXT" in shown
    assert made.first[:8] in shown


def test_a_terminal_shows_of_ids_what_commands_want(
    lf: Command, db: Database, workflow: str
) -> None:
    made = [lf("schedule", "create", workflow, "--every", "6h").first for _ in range(2)]
    shown = on_a_terminal(db.dsn, "schedule", "list", columns=100)
    for schedule in made:
        assert f"{schedule[:8]} " in shown
        assert schedule not in shown
        assert lf("schedule", "show", schedule[:8], "--json").json["id"] == schedule
    seeds = on_a_terminal(db.dsn, "schedule", "calendar", "list")
    assert "ca1e0da0" not in seeds, "their beginnings are all the same: names instead"
    assert "us-federal-holidays-2026 " in seeds


def test_colours_on_a_terminal_alone(lf: Command, db: Database) -> None:
    shown = on_a_terminal(db.dsn, "schedule", "health")
    assert "\x1b[" in shown
    assert "    -> " in shown, "advice stands below its line"
    assert "\x1b[" not in lf("schedule", "health", code=1).out


def test_nothing_to_show(lf: Command, db: Database) -> None:
    assert lf("schedule", "list", "--json").json == []
    assert lf("schedule", "list").rows == []
    assert "lf-sql schedule create" in on_a_terminal(db.dsn, "schedule", "list")


def completed(dsn: str, line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What bash offers for the last word of `line`."""
    words = line.split(" ")
    env = {
        **os.environ,
        "LF_SQL_DSN": dsn,
        "_LF_SQL_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "lf_sql"], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return [row.partition(",")[2] for row in done.stdout.splitlines() if row]


def test_completion_of_commands_ids_and_names(
    lf: Command, db: Database, workflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--description", "morning")
    assert "preview" in completed(db.dsn, "lf-sql schedule pre", monkeypatch)
    assert completed(db.dsn, f"lf-sql schedule show {made.first[:3]}", monkeypatch) == [made.first]
    for typed in ("morn", "", "Night"):
        offered = completed(db.dsn, f"lf-sql schedule pause {typed}", monkeypatch)
        assert offered == ["morning" if typed != "Night" else made.first]
    # two words, and a name that two have, would not be the one row's
    assert completed(db.dsn, "lf-sql schedule create Night", monkeypatch) == [workflow]
    lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--description", "morning")
    assert "morning" not in completed(db.dsn, "lf-sql schedule pause morn", monkeypatch)
    nobody = "3f0c6f0e-6f0f-4c3e-9d5b-0c9a4a1f7a11"
    assert completed(db.dsn, f"lf-sql --as {nobody} schedule pause morn", monkeypatch) == []
    assert completed("host=/nowhere", "lf-sql schedule show a", monkeypatch) == []


def test_completion_of_zones_and_of_runs_that_can_be_had(
    lf: Command, db: Database, workflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    zones = completed(db.dsn, "lf-sql schedule describe x --tz europe/b", monkeypatch)
    assert "Europe/Berlin" in zones and "Europe/Rome" not in zones
    lf("schedule", "create", workflow, "--cron", "0 9 * * *", "--name", "s")
    lf("schedule", "run-now", "s")
    lf("schedule", "run-now", "s")
    waiting, other = (row["id"] for row in lf("runs", "list", "--json").json)
    lf("runs", "cancel", other)
    for command, offered in (("approve", [waiting]), ("cancel", [waiting]), ("retry", [other])):
        assert completed(db.dsn, f"lf-sql runs {command} ", monkeypatch) == offered
    assert set(completed(db.dsn, "lf-sql runs show ", monkeypatch)) == {waiting, other}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lf_sql"],
        env={**os.environ, "_LF_SQL_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_LF_SQL_COMPLETE" in done.stdout


def test_not_installed_is_one_line(
    empty_db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.command import commander

    lf = commander(capsys, monkeypatch, empty_db.dsn)
    for args in (
        ["schedule", "list"],
        ["schedule", "health"],
        ["schedule", "describe", "* * * * *"],
        ["runs", "list"],
        ["metrics"],
        ["worker"],
        ["runs", "work", "--once", "--", "true"],
    ):
        answer = lf(*args, code=1)
        assert answer.err.strip().splitlines()[-2:] == [
            "error: lf-sql is not installed in this database",
            "hint: lf-sql install",
        ], args


def test_files_stay_readable() -> None:
    root = Path(__file__).parents[2] / "installer" / "lf_sql"
    assert {
        str(path.relative_to(root)): lines
        for path in root.rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 300
    } == {}


def test_install_and_uninstall_say_what_they_did_as_json(
    empty_db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.command import commander

    lf = commander(capsys, monkeypatch, empty_db.dsn)
    planned = lf("install", "--dry-run", "--json").json
    assert "first install" in planned["reasons"]
    assert "create schema" in planned["script"]
    assert "first install" in lf("install", "--json").json["reasons"]
    assert lf("install", "--json").json["reasons"] == []
    planned = lf("install", "--dry-run", "--json").json
    assert (planned["reasons"], planned["migrations"]) == ([], [])
    assert planned["script"] == "-- nothing to do\n"
    assert lf("uninstall", "--yes", "--json").json["functions"] > 30
