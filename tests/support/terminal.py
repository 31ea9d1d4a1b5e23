"""A command on a terminal of a given width, its clock where the test wants it."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import pty
import re
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from multiprocessing import reduction

from lf_sql.cli import run
from lf_sql.cli.terminal import words
from tests.support.cli import environment
from tests.support.database import PATIENCE

# A process without threads forks each command: a fork of the test's own process, which has threads, may
# wait for ever for a lock that one of them held. It spares each command a start of Python.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["lf_sql.cli", "lf_sql.db"])
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

    `typed` is typed at once, or when `until` is true of what stands there.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    given = environment({"LF_SQL_DSN": dsn, "TERM": "xterm-256color", "TZ": "UTC", **(env or {})})
    child = FORKS.Process(target=_Command(slave, given, now, args))
    child.start()
    os.close(slave)
    if until is None:
        os.write(master, typed.encode())
    chunks: list[bytes] = []
    give_up = time.monotonic() + PATIENCE
    while True:
        if time.monotonic() > give_up:
            child.kill()
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
    child.join(PATIENCE)
    assert child.exitcode is not None, b"".join(chunks).decode()
    return child.exitcode, b"".join(chunks).decode()


class _Command:
    """What the forked process does; `slave` is given to it on its way there."""

    def __init__(
        self, slave: int, env: Mapping[str, str], now: datetime | None, args: tuple[str, ...]
    ) -> None:
        self.slave, self.env, self.now, self.args = slave, env, now, args

    def __getstate__(self) -> dict[str, object]:
        return {**vars(self), "slave": reduction.DupFd(self.slave)}

    def __call__(self) -> None:
        slave = self.slave.detach()
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(slave, fd)
        os.close(slave)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
        os.environ.clear()
        os.environ.update(self.env)
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            os.environ.pop(name, None)
        time.tzset()
        # Ignored where the tests run in the background.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if (now := self.now) is not None:
            words.now = lambda: now
        sys.exit(run(list(self.args)))


def plain_text(screen: str) -> str:
    """What stands there, without colours and blanks at the ends of lines."""
    lines = ESCAPES.sub("", screen).replace("\r\n", "\n").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)
