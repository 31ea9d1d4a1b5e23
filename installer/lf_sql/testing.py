"""Tests your handlers: runs them against a database, in this process.

executor = Executor()
@executor.handler("nightly report")
def report(run): return {"rows": 3}

outcomes = run_all(executor, dsn)
assert [o.status for o in outcomes] == ["completed"]
"""

from __future__ import annotations

import asyncio
from typing import Any

from lf_sql.executor import Executor, Outcome
from lf_sql.executor.executor import refuse_a_second_loop
from lf_sql.link import connect

HURRY = (
    "update lenses.workflow_runs as r set available_at = null "
    "where r.status = 'pending' and r.available_at is not null returning r.id"
)

__all__ = ["Outcome", "arun_all", "run_all"]


def run_all(executor: Executor, dsn: str | None = None, *, hurry: bool = False) -> list[Outcome]:
    """Claim, run and complete until nothing is pending; what became of each attempt, in order.

    `dsn` None: the executor's own. Every pending run that the executor has a handler for is
    claimed, so use a database of the test's own. Runs that wait for a later `available_at`, a
    retry's `backoffMs` for example, are left pending; with `hurry` they are tried again at once. An
    `Outcome` has the `run`, its `status` (`completed`, `failed`, `left`, `lost`) and the `verdict`
    (`cause`, `text`, `spent`).
    LfSqlError: the database cannot be used so.
    """
    refuse_a_second_loop("await arun_all(executor)")
    return asyncio.run(arun_all(executor, dsn, hurry=hurry))


async def arun_all(
    executor: Executor, dsn: str | None = None, *, hurry: bool = False
) -> list[Outcome]:
    """The same in a loop that is there already: for `async` tests."""
    own, outcomes = executor.dsn, []
    executor.dsn = dsn or own
    try:
        while True:
            outcomes += await executor.drain_all()
            if not hurry or not await asyncio.to_thread(_hurry, executor.dsn):
                return outcomes
    finally:
        executor.dsn = own


def _hurry(dsn: str | None) -> list[dict[str, Any]]:
    with connect(dsn, "lf-sql testing") as conn:
        return conn.execute(HURRY.encode()).fetchall()
