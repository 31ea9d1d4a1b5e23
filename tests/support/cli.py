"""The command as a user runs it."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from unittest import mock

from lf_sql.cli import run

CONNECTION_VARIABLES = ("LF_SQL_DSN", "DATABASE_URL", "LF_SQL_DIRECTORY")


@dataclass(frozen=True)
class Run:
    returncode: int
    stdout: str
    stderr: str


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, without any connection that happens to be set."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in CONNECTION_VARIABLES and not name.startswith("PG")
    }
    return {**env, **(extra or {})}


def lf_sql(*arguments: str, dsn: str | None = None, env: Mapping[str, str] | None = None) -> Run:
    """Run it to its end in this process; the caller looks at `returncode`, `stdout`, `stderr`."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment(env), clear=True),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(command(*arguments, dsn=dsn)[3:])
    return Run(code, out.getvalue(), err.getvalue())


def process(*arguments: str, dsn: str | None = None, env: Mapping[str, str] | None = None) -> Run:
    """The same as a process of its own."""
    done = subprocess.run(
        command(*arguments, dsn=dsn),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(env),
        stdin=subprocess.DEVNULL,
    )
    return Run(done.returncode, done.stdout, done.stderr)


def start(*arguments: str, dsn: str | None = None) -> subprocess.Popen[str]:
    """Start it and go on; for races, and for being killed."""
    return subprocess.Popen(
        command(*arguments, dsn=dsn),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        stdin=subprocess.DEVNULL,
    )


def command(*arguments: str, dsn: str | None = None) -> list[str]:
    return [sys.executable, "-m", "lf_sql", *(["--dsn", dsn] if dsn else []), *arguments]


def succeeded(done: Run) -> str:
    """Its output; an AssertionError with all it said where it failed."""
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


def refused(done: Run, *words: str) -> str:
    """One line and a hint, exit 1, and every one of `words` in it."""
    assert done.returncode == 1, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    lines = done.stderr.strip().splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "hint"], done.stderr
    for word in words:
        assert word in done.stderr, f"{word!r} is not in\n{done.stderr}"
    return done.stderr
