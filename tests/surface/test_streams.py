"""Standard streams that are closed, full or the wrong way round: one line, never an internal error."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.database import Database, Tenant

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


@pytest.mark.parametrize("how", ["2>/dev/full", "2>&-"])
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["diff", "/nonexistent"], 2),
        (["nonsense"], 2),
        (["runs"], 2),
        (["schedule", "show", "nobody"], 1),
        (["verify"], 0),
    ],
    ids=str,
)
def test_who_cannot_say_it_exits_as_ever(
    db: Database, args: list[str], code: int, how: str
) -> None:
    assert redirected(how, *args, LF_SQL_DSN=db.dsn).returncode == code


@pytest.mark.parametrize("how", ["2>/dev/full", "2>&-"])
def test_what_is_done_is_fine_though_nobody_is_told(db: Database, owner: Tenant, how: str) -> None:
    given = b"workflows:\n  told to nobody: {}\n"
    assert redirected(how, "apply", "-", given=given, LF_SQL_DSN=db.dsn).returncode == 0
    assert db.column("select title from lenses.workflows") == ["told to nobody"]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(("args", "code"), [(["--help"], 0), (["status"], 0), (["nonsense"], 2)])
def test_a_reader_that_has_gone(
    db: Database, args: list[str], code: int, stream: str, unbuffered: str
) -> None:
    """`lf-sql ... | head` is fine; the same with what is said on standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: writer}
    done = subprocess.run(
        [sys.executable, "-m", "lf_sql", *args],
        env={**os.environ, "LF_SQL_DSN": db.dsn, "PYTHONUNBUFFERED": unbuffered},
        stdin=subprocess.DEVNULL,
        check=False,
        timeout=120,
        **streams,  # type: ignore[arg-type]
    )
    os.close(writer)
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in (done.stderr or b"")
    assert b"Exception ignored" not in (done.stderr or b"")


def test_nobody_listens_at_all() -> None:
    assert redirected("<&- >&- 2>&-", "--help").returncode == 1
