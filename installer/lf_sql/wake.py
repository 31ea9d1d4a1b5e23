"""A thread that sleeps until another one, or its connection, has something for it."""

from __future__ import annotations

import selectors
import socket
from contextlib import suppress

LONGEST = 86_400.0  # seconds; a selector takes no more than 24 days


class Wake:
    """As threading.Event, for a thread that also waits for a socket."""

    def __init__(self) -> None:
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)

    def set(self) -> None:
        """Wake the thread that waits, or that waits next."""
        with suppress(BlockingIOError, OSError):
            self._write.send(b"w")

    def wait(self, timeout: float | None, other: int | None = None) -> bool:
        """Until woken or so many seconds; whether `other`, a file number, is ready to be read."""
        if timeout is not None:
            timeout = min(timeout, LONGEST)
        with selectors.DefaultSelector() as selector:
            selector.register(self._read, selectors.EVENT_READ)
            if other is not None:
                selector.register(other, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select(timeout)}
        with suppress(BlockingIOError, OSError):
            while self._read.recv(4096):
                pass
        return other in ready

    def close(self) -> None:
        self._read.close()
        self._write.close()
