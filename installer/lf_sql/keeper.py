"""Ends commands whose lease has expired where their executor, stopped or killed, cannot.

A process of its own, of the standard library alone. Each line of its input is `GROUP TERM KILL`:
the process group gets SIGTERM and SIGKILL at those instants of the monotonic clock, which all
processes share; later lines for the same group replace earlier ones, and `GROUP - -` forgets it. At
the end of the input all that is left ends.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

NEVER = float("inf")


class Keeper:
    """The executor's end of it: started once, and again if it has been killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[int, str] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def keep(self, group: int, term: float, kill: float) -> None:
        """Let the group live until then."""
        with self._lock:
            self._groups[group] = f"{group} {term} {kill}\n"
            self._tell(self._groups[group])

    def forget(self, group: int) -> None:
        """It has ended."""
        with self._lock:
            if self._groups.pop(group, None):
                self._tell(f"{group} - -\n")

    def close(self) -> None:
        """With nothing under way, nothing is ended."""
        with self._lock:
            if self._process is not None and self._process.stdin is not None:
                with suppress(OSError):
                    self._process.stdin.close()
                self._process.wait()
                self._process = None

    def _tell(self, line: str) -> None:
        if self._process is not None and self._write(line):
            return
        with suppress(OSError):  # no room for it: the next heartbeat tries again
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(Path(__file__).resolve())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                start_new_session=True,
            )
            self._write("".join(self._groups.values()))

    def _write(self, text: str) -> bool:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text.encode())
        except OSError:
            self._process.wait()
            self._process = None
            return False
        return True


def main() -> None:
    """Read deadlines, and see to them."""
    term: dict[int, float] = {}
    kill: dict[int, float] = {}
    rest = b""
    while True:
        nearest = min([*term.values(), *kill.values()], default=NEVER)
        wait = None if nearest == NEVER else max(nearest - time.monotonic(), 0.0)
        if select.select([0], [], [], wait)[0]:
            chunk = os.read(0, 65536)
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                word, term_at, kill_at = line.decode().split()
                group = int(word)
                term.pop(group, None)
                kill.pop(group, None)
                if term_at != "-":
                    term[group], kill[group] = float(term_at), float(kill_at)
        now = time.monotonic()
        for group in [group for group, at in term.items() if at <= now]:
            del term[group]
            send(group, signal.SIGTERM)
        for group in [group for group, at in kill.items() if at <= now]:
            del kill[group]
            send(group, signal.SIGKILL)
    for group in kill:
        send(group, signal.SIGTERM)
    until = time.monotonic() + 1
    while time.monotonic() < until and any(is_there(group) for group in kill):
        time.sleep(0.02)
    for group in kill:
        send(group, signal.SIGKILL)


def send(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main()
