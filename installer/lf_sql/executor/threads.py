"""Threads for handlers: made when needed, used again, and never joined."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from lf_sql.executor.log import log


class Threads:
    """As many threads as there are jobs at once; none is joined."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._idle = 0
        self._all = 0

    def begin(self, work: Callable[[], None]) -> None:
        """Do it now, beside all the others."""
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                self._all += 1
                threading.Thread(target=self._run, name=self._name, daemon=True).start()
        self._work.put(work)

    def close(self) -> None:
        """Threads without work end; the others when theirs is done."""
        with self._lock:
            for _ in range(self._all):
                self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except BaseException:  # the next job is this thread's too
                log.exception("a thread's work raised")
            finally:
                with self._lock:
                    self._idle += 1
