"""The command as a user runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

CONNECTION_VARIABLES = ("LF_SQL_DSN", "DATABASE_URL")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Ours, without any connection that happens to be set."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in CONNECTION_VARIABLES and not name.startswith("PG")
    }
    return {**env, **(extra or {})}


def lf_sql(
    *arguments: str,
    dsn: str | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run it to its end; the caller looks at `returncode`, `stdout`, `stderr`."""
    return subprocess.run(
        command(*arguments, dsn=dsn),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env=environment(env),
        stdin=subprocess.DEVNULL,
    )


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


def succeeded(run: subprocess.CompletedProcess[str]) -> str:
    """Its output; an AssertionError with all it said where it failed."""
    assert run.returncode == 0, f"exit {run.returncode}\n{run.stdout}\n{run.stderr}"
    assert "Traceback" not in run.stderr
    return run.stdout


def refused(run: subprocess.CompletedProcess[str], *words: str) -> str:
    """One line and a hint, exit 1, and every one of `words` in it."""
    assert run.returncode == 1, f"exit {run.returncode}\n{run.stdout}\n{run.stderr}"
    lines = run.stderr.strip().splitlines()
    assert [line.split(":")[0] for line in lines] == ["error", "hint"], run.stderr
    for word in words:
        assert word in run.stderr, f"{word!r} is not in\n{run.stderr}"
    return run.stderr
