"""Standard streams that are closed, full or the wrong way round: one line, never an internal error."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.database import Database

CRONTAB = b"0 9 * * * true\n"


def redirected(
    how: str, *args: str, given: bytes = b"", **env: str
) -> subprocess.CompletedProcess[bytes]:
    """`lf-sql ARGS`, redirected by a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {how}', "sh", sys.executable, "-m", "lf_sql", *args],
        env={**os.environ, **env},
        input=given,
        capture_output=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("how", "reason"), [(">/dev/full", b"No space left on device"), (">&-", b"Bad file descriptor")]
)
@pytest.mark.parametrize("args", [["--help"], ["--version"], ["import", "crontab", "-"]])
def test_output_that_cannot_be_written(
    args: list[str], how: str, reason: bytes, unbuffered: str
) -> None:
    done = redirected(how, *args, given=CRONTAB, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [b"error: cannot write to standard output: " + reason]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("<&-", b"Bad file descriptor"),
        ("<&- >&-", b"Bad file descriptor"),
        ("0>/dev/null", b"Bad file descriptor"),
    ],
)
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["apply", "-"], 1),
        (["diff", "-"], 2),
        (["import", "crontab", "-"], 1),
        (["import", "crontab"], 1),
        (["import", "kubernetes"], 1),
        (["schedule", "create", "W", "--every", "6h", "--inputs", "-"], 2),
    ],
    ids=str,
)
def test_input_that_cannot_be_read(args: list[str], code: int, how: str, reason: bytes) -> None:
    done = redirected(how, *args)
    assert done.returncode == code, done.stderr
    first = done.stderr.splitlines()[0]
    assert first.startswith(b"error: ")
    assert first.endswith(b"cannot read standard input: " + reason)
    assert b"internal error" not in done.stderr


def test_who_writes_nothing_needs_no_output(db: Database) -> None:
    """An executor's lines go to standard error, and no connection takes the place of a stream."""
    args = ("runs", "work", "--once", "--", "true")
    done = redirected("<&- >&-", *args, LF_SQL_DSN=db.dsn)
    assert done.returncode == 0, done.stderr
    assert b"0 completed, 0 failed" in done.stderr


def test_nobody_listens_at_all() -> None:
    assert redirected("<&- >&- 2>&-", "--help").returncode == 1
