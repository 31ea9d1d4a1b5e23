"""lf-sql as a process of its own, its output at hand, gone at the end of the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from tests.support.database import PATIENCE, wait_until


class Process:
    """`lf-sql ARGS` under way; standard error goes to `stderr`, a file number."""

    def __init__(
        self,
        dsn: str,
        args: Sequence[str],
        env: Mapping[str, str] | None = None,
        stderr: int = subprocess.STDOUT,
    ) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "lf_sql", *args],
            env={**os.environ, "LF_SQL_DSN": dsn, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd="/",
        )
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return "".join(self._lines)

    @property
    def pid(self) -> int:
        return self.popen.pid

    def _read(self) -> None:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            self._lines.append(line)

    def says(self, text: str, timeout: float = PATIENCE) -> None:
        """Wait until its output has `text`."""
        wait_until(
            lambda: text in self.output or self.popen.poll() is not None,
            timeout,
            what=f"{text!r} in:\n{self.output}",
        )
        assert text in self.output, self.output

    def signal(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def ends(self, timeout: float = PATIENCE) -> int:
        """Its exit code."""
        code = self.popen.wait(timeout)
        self._reader.join(PATIENCE)
        return code

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.ends()


@contextmanager
def running(
    dsn: str,
    *args: str,
    env: Mapping[str, str] | None = None,
    stderr: int = subprocess.STDOUT,
) -> Iterator[Process]:
    process = Process(dsn, args, env, stderr)
    try:
        yield process
    finally:
        if process.popen.poll() is None:
            process.signal(signal.SIGCONT)
            process.popen.kill()
            process.popen.wait(120)
