"""One command under way: JSON in, output and the tail of stderr out, ended with its children."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

TAIL = 4000  # bytes of stderr that are kept
GRACE = 10.0  # seconds between SIGTERM and SIGKILL
LAST_WAIT = 5.0  # seconds for the kernel to take away what got SIGKILL


@dataclass(frozen=True)
class Ended:
    """How it ended."""

    code: int = 0
    output: bytes = b""
    error: str = ""
    is_timed_out: bool = False
    is_abandoned: bool = False
    is_too_long: bool = False


class Running:
    """Starts at once, in a process group of its own."""

    def __init__(
        self, command: Sequence[str], given: bytes, environ: Mapping[str, str], most: int
    ) -> None:
        self._most = most
        self._output: list[bytes] = []
        self._length = 0
        self._tail: deque[bytes] = deque()
        self._is_abandoned = False
        self._ending = threading.Lock()
        self._ender: threading.Thread | None = None
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._threads = [
            threading.Thread(target=self._give, args=[self._process.stdin, given], daemon=True),
            threading.Thread(target=self._collect, args=[self._process.stdout], daemon=True),
            threading.Thread(target=self._watch, args=[self._process.stderr], daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def group(self) -> int:
        """The id of its process group."""
        return self._process.pid

    def wait(self, timeout: float | None) -> Ended:
        """Until it ends, or is ended after `timeout` seconds; then with all its group."""
        is_timed_out = False
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            is_timed_out = True
            self.end()
            self._process.wait()
        with self._ending:
            ender = self._ender
        if ender is not None:
            ender.join()
        for thread in self._threads:
            thread.join(1.0)  # a grandchild that lives on may hold the pipes
        code = self._process.returncode
        return Ended(
            code=128 - code if code < 0 else code,
            output=b"".join(self._output),
            error=b"".join(self._tail)[-TAIL:].decode(errors="replace").replace("\0", "").strip(),
            is_timed_out=is_timed_out,
            is_abandoned=self._is_abandoned,
            is_too_long=self._length > self._most,
        )

    def end(self, grace: float = GRACE) -> None:
        """SIGTERM to it and all its children, SIGKILL to what is left after the grace."""
        with self._ending:
            if self._ender is None and self._process.poll() is None:
                self._ender = threading.Thread(target=self._end, args=[grace], name="end")
                self._ender.start()

    def abandon(self, grace: float = GRACE) -> None:
        """Another executor has its run now: end it, and report no result."""
        self._is_abandoned = True
        self.end(grace)

    def clear(self) -> None:
        """After its end: nothing of its group lives on."""
        self._end(0.0)

    def _end(self, grace: float) -> None:
        for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, LAST_WAIT)):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, number)
            until = time.monotonic() + seconds
            while True:
                if self._process.poll() is not None and self._is_group_gone():
                    return
                if time.monotonic() >= until:
                    break
                time.sleep(0.02)

    def _is_group_gone(self) -> bool:
        with suppress(ChildProcessError):  # orphans are ours where we are a container's process 1
            os.waitpid(-self.group, os.WNOHANG)
        try:
            os.killpg(self.group, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False

    @staticmethod
    def _give(stdin: IO[bytes], given: bytes) -> None:
        with suppress(BrokenPipeError), stdin:
            stdin.write(given)

    def _collect(self, stdout: IO[bytes]) -> None:
        with stdout:
            while chunk := stdout.read1(65536):  # type: ignore[attr-defined]
                self._length += len(chunk)
                if self._length <= self._most:
                    self._output.append(chunk)

    def _watch(self, stderr: IO[bytes]) -> None:
        with stderr:
            while chunk := stderr.read1(65536):  # type: ignore[attr-defined]
                self._tail.append(chunk[-TAIL:])
                while sum(map(len, self._tail)) - len(self._tail[0]) > TAIL:
                    self._tail.popleft()
