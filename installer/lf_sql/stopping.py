"""How a command that goes on until it is told to end is told."""

from __future__ import annotations

import signal
import threading
from queue import SimpleQueue


def stop_on(*signals: signal.Signals) -> threading.Event:
    """An event that any of these signals sets.

    A handler runs in the middle of what the main thread does, which may be a wait for this very
    event, with the event's lock held: setting it there could wait for ever. So another thread sets
    it, and the handler only puts into a queue that may be interrupted by itself.
    """
    stop = threading.Event()
    received: SimpleQueue[int] = SimpleQueue()

    def watch() -> None:
        received.get()
        stop.set()

    threading.Thread(target=watch, name="signals", daemon=True).start()
    for one in signals:
        signal.signal(one, lambda number, _: received.put(number))
    return stop
