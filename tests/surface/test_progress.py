"""Progress on long work: on stderr, where that is a terminal, and nowhere else."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.command import Command
from tests.support.database import Database, wait_until


class OnTerminal:
    """`lf-sql ARGS` whose stderr is a terminal, and whose stdout is a pipe."""

    def __init__(self, dsn: str, *args: str) -> None:
        self.shown = ""
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lf_sql", *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=slave,
            env={**os.environ, "LF_SQL_DSN": dsn, "TERM": "xterm", "COLUMNS": "120"},
            cwd="/",
            text=True,
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while chunk := os.read(self._master, 65536):
                self.shown += chunk.decode()
        except OSError:  # EIO: the other side is closed
            pass

    def shows(self, *words: str) -> None:
        wait_until(
            lambda: all(word in self.shown for word in words) or self._process.poll() is not None,
            15.0,
            what=f"{words} in {self.shown!r}",
        )
        assert all(word in self.shown for word in words), self.shown

    def ends(self) -> tuple[int, str]:
        """Exit code and stdout."""
        out, _ = self._process.communicate(timeout=120)
        self._reader.join(120)
        os.close(self._master)
        return self._process.returncode, out


@contextmanager
def held(db: Database, statement: str) -> Iterator[None]:
    """Another session's lock, so that a command takes as long as a test wants it to."""
    with db.another() as other, other.transaction():
        other.execute(statement)
        yield


@pytest.fixture
def schedule(lf: Command, workflow: str) -> str:
    return lf("schedule", "create", workflow, "--cron", "*/5 * * * *", "--no-approval").first


RUNS = "lock table lenses.workflow_runs in access exclusive mode"


def test_a_long_backfill_shows_that_it_is_under_way(db: Database, schedule: str) -> None:
    with held(db, RUNS):
        run = OnTerminal(db.dsn, "schedule", "backfill", schedule, "--since", "1h", "--json")
        run.shows("schedule backfill", "1 s", "2 s")
    code, out = run.ends()
    assert code == 0
    assert json.loads(out)["dispatched"] in (12, 13), "and stdout has the JSON alone"


@pytest.mark.parametrize(
    "command",
    [
        ["schedule", "list"],
        ["schedule", "health", "--server"],
        ["schedule", "calendar", "list"],
        ["schedule", "calendar", "import", "--country", "TR", "--years", "2026"],
        ["runs", "list"],
        ["gateway", "list"],
        ["metrics"],
        ["verify"],
    ],
    ids=" ".join,
)
def test_every_command_that_waits_says_so(db: Database, schedule: str, command: list[str]) -> None:
    tables = db.column(
        "select format('%I.%I', schemaname, tablename) from pg_tables "
        "where schemaname = 'lenses' or tablename = 'gateways'"
    )
    with held(db, f"lock table {', '.join(tables)} in access exclusive mode"):
        run = OnTerminal(db.dsn, *command)
        words = [word for word in command if not word.startswith("-")][:3]
        run.shows(" ".join(words[: words.index("TR") if "TR" in words else 3]), "1 s")
    run.ends()


def test_an_install_shows_its_steps(empty_db: Database) -> None:
    with empty_db.another() as other, other.transaction(force_rollback=True):
        other.execute("create schema lensers")  # the install waits for it, in its first file
        run = OnTerminal(empty_db.dsn, "install")
        run.shows("install ", ".sql", "1 s")
    code, out = run.ends()
    assert code == 0
    assert "installed in" in out


def test_what_is_quick_shows_nothing(db: Database, schedule: str) -> None:
    run = OnTerminal(db.dsn, "schedule", "show", schedule)
    code, out = run.ends()
    assert code == 0
    assert schedule in out
    assert run.shown == ""


def test_nothing_in_a_pipe(db: Database, schedule: str) -> None:
    with held(db, RUNS):
        piped = subprocess.Popen(
            [sys.executable, "-m", "lf_sql", "schedule", "backfill", schedule, "--since", "1h"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "LF_SQL_DSN": db.dsn},
            cwd="/",
            text=True,
        )
        with pytest.raises(subprocess.TimeoutExpired):
            piped.wait(2.5)
    _, err = piped.communicate(timeout=120)
    first, second = err.splitlines()
    assert first in ("dispatched: 12", "dispatched: 13")
    assert second == "skipped: 0"
