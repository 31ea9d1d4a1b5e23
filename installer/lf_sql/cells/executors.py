"""Executors of several cells in one process, each with its own connections and its own leases."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from lf_sql.errors import LfSqlError
from lf_sql.executor import Executor

AGAIN = 30.0  # seconds until a cell that could not be worked for is tried again


async def serve(
    executors: Mapping[str, Executor], once: bool, say: Callable[[str], None]
) -> dict[str, LfSqlError]:
    """Work for all cells until a signal; a cell that fails does not hold up the others.

    With `once` until nothing is left to claim; then, the cells that could not be worked for.
    """
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    failed: dict[str, LfSqlError] = {}

    def stop() -> None:
        stopping.set()
        for executor in executors.values():
            executor.stop()

    async def work(name: str, executor: Executor) -> None:
        while not stopping.is_set():
            try:
                return await executor.serve()
            except LfSqlError as error:
                say(f"cell {name}: {error.message}" + (f"; {error.hint}" if error.hint else ""))
                if once:
                    failed[name] = error
                    return None
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), AGAIN)
        return None

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
    await asyncio.gather(*(work(name, executor) for name, executor in executors.items()))
    return failed
