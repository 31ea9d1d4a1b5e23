"""A command on a terminal of a given width, its clock where the test wants it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from lf_sql.cli import run
from lf_sql.cli.terminal import words
from tests.support.cli import environment

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(
    dsn: str,
    *args: str,
    columns: int = 120,
    now: datetime | None = None,
    typed: str = "",
    until: Callable[[str], bool] | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Exit code and all that the command prints, escapes and all; stdin is the terminal too.

    `typed` is typed at once, or when `until` is true of what stands there. Forked from the test's process, which spares it a start of Python.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = os.fork()
    if not child:
        _become(slave, dsn, now, env or {}, args)
    os.close(slave)
    if until is None:
        os.write(master, typed.encode())
    chunks: list[bytes] = []
    while True:
        if until and until(b"".join(chunks).decode(errors="replace")):
            os.write(master, typed.encode())
            until = None
        try:
            chunk = os.read(master, 65536)
        except OSError:  # EIO: Linux's way to say that the other side is closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), b"".join(chunks).decode()


def _become(
    slave: int, dsn: str, now: datetime | None, env: Mapping[str, str], args: tuple[str, ...]
) -> None:
    code = 99
    try:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(slave, fd)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ.clear()
        os.environ.update(
            environment({"LF_SQL_DSN": dsn, "TERM": "xterm-256color", "TZ": "UTC", **env})
        )
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            os.environ.pop(name, None)
        time.tzset()
        if now is not None:
            words.now = lambda: now
        code = run(list(args))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def plain_text(screen: str) -> str:
    """What stands there, without colours and blanks at the ends of lines."""
    lines = ESCAPES.sub("", screen).replace("\r\n", "\n").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)
