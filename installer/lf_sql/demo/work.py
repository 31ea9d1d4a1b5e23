"""Who works in the demonstration: an executor of the library, and the driver without pg_cron."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from lf_sql import Executor, Run, TransientError
from lf_sql.worker import Settings, Worker

ANSWERED = "the bank answered 503"


def make_executor(dsn: str) -> Executor:
    """A function for each kind of work: most succeed, the ledger's first try does not."""
    executor = Executor(dsn, concurrency=8, poll=1.0)

    @executor.handler("ledger")
    def ledger(run: Run) -> dict[str, int]:
        if run.attempt == 1:
            raise TransientError(ANSWERED)
        return {"bookings": 412}

    @executor.handler("newsletter")
    async def newsletter(run: Run) -> dict[str, str]:
        return {"sent": run.inputs["topic"]}

    @executor.default
    async def anything_else(run: Run) -> dict[str, str]:
        return {"slot": str(run.slot)}

    return executor


@contextmanager
def executing(dsn: str) -> Iterator[None]:
    """The executor claims and works until the block ends."""
    executor = make_executor(dsn)
    logging.getLogger("lf_sql.executor").addHandler(logging.NullHandler())
    thread = threading.Thread(
        target=lambda: asyncio.run(executor.serve()), name="demo executor", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        executor.stop()
        thread.join()


@contextmanager
def ticking(dsn: str) -> Iterator[None]:
    """`lf-sql worker` ticks until the block ends, where there is no pg_cron."""
    over = threading.Event()
    worker = Worker(dsn, Settings(), over, lambda line: None)
    thread = threading.Thread(target=worker.run, name="demo worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
