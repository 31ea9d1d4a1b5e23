"""The library for executors beside two queues in the same database server, with tasks that do nothing.

Procrastinate is Python's, graphile-worker JavaScript's with its local queue and batches. Each of them
records less of a job than a run has: no policies, no audit, no limits. From the first task to the last
completion, so that starting processes counts for nothing; the servers' commits are safe.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from tests.bench.bench_executor import LIBRARY, RUNS, prepare, rate
from tests.bench.load import Bench, bench
from tests.bench.report import Row
from tests.support.database import Database, wait_until

HERE = Path(__file__).parent
BENCH = Path(sys.prefix) / "bench"  # what make bench installs
PROCESSES = (1, 4)
ROUNDS = 3

PROCRASTINATE = """
import asyncio, sys
import procrastinate
app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=sys.argv[1]))
@app.task(name="nothing")
async def nothing(): return None
async def main():
    async with app.open_async():
        if sys.argv[2] == "schema":
            await app.schema_manager.apply_schema_async()
        elif sys.argv[2] == "fill":
            await nothing.batch_defer_async(*[{} for _ in range(int(sys.argv[3]))])
        else:
            await app.run_worker_async(concurrency=200, wait=False)
asyncio.run(main())
"""
TAKEN = """
select count(*), extract(epoch from max(at) - (
    select min(at) from procrastinate_events where type = 'started'))::float8
from procrastinate_events where type = 'succeeded'
"""


def procrastinate(conn: Database, processes: int) -> float:
    """Jobs a second."""

    def command(*given: str) -> list[str]:
        python = str(BENCH / "python" / "bin" / "python")
        return [python, "-c", PROCRASTINATE, conn.dsn, *given]

    if conn.value("select to_regclass('procrastinate_jobs')") is None:
        subprocess.run(command("schema"), check=True)
    conn.execute("truncate procrastinate_jobs, procrastinate_events cascade")
    subprocess.run(command("fill", str(RUNS)), check=True)
    conn.execute("vacuum analyze procrastinate_jobs")
    for process in [subprocess.Popen(command("work")) for _ in range(processes)]:
        assert process.wait() == 0
    done, seconds = conn.row(TAKEN)
    assert done == RUNS
    return float(RUNS / seconds)


def graphile(conn: Database, processes: int, how: str = "batches") -> float:
    """Jobs a second; `how` is `batches` or `one`, a job at a time."""
    if conn.value("select to_regclass('graphile_worker._private_jobs')") is None:
        with _workers(conn, 1):
            _until(conn, "select to_regclass('graphile_worker._private_jobs') is not null")
            _until(
                conn,
                "select to_regprocedure('graphile_worker.force_unlock_workers(text[])') is not null",
            )
    conn.execute(
        "select count(graphile_worker.add_job('nothing', '{}'::json)) from generate_series(1, %s)",
        [RUNS],
    )
    conn.execute("vacuum analyze graphile_worker._private_jobs")
    with _workers(conn, processes, how) as workers:
        _until(conn, "select not exists (select from graphile_worker._private_jobs)")
        ended = time.time()
    said = "".join(worker.communicate()[0] for worker in workers)
    return RUNS / (ended - min(int(at) for at in re.findall(r"first (\d+)", said)) / 1000)


@contextmanager
def _workers(
    conn: Database, count: int, how: str = "batches"
) -> Iterator[list[subprocess.Popen[str]]]:
    node = shutil.which("node")
    assert node, "Node.js is missing"
    given = {key: str(value) for key, value in conninfo_to_dict(conn.dsn).items()}
    url = "postgres://{user}@/{dbname}?host={host}&port={port}".format(**{"port": "5432", **given})
    env = {**os.environ, "NODE_PATH": str(BENCH / "node_modules"), "NO_LOG_SUCCESS": "1"}
    command = [node, str(HERE / "graphile.cjs"), url, how]
    workers = [
        subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        for _ in range(count)
    ]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.terminate()


def _until(conn: Database, question: str) -> None:
    wait_until(lambda: conn.value(question), interval=0.005, what=question)


def run(_: Bench) -> list[Row]:
    durable = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
    others = {"Procrastinate": procrastinate, "graphile-worker": graphile}
    rates: dict[tuple[str, int], list[float]] = {}
    with bench(**durable) as place, place.database("bench_queues") as conn:
        prepare(conn)
        for _, processes in itertools.product(range(ROUNDS), PROCESSES):
            rates.setdefault(("ours", processes), []).append(rate(conn, LIBRARY, processes))
            for name, work in others.items():
                rates.setdefault((name, processes), []).append(work(conn, processes))
    median = {key: statistics.median(values) for key, values in rates.items()}
    return [
        Row(
            f"tasks that do nothing, {processes} process{'es' * (processes > 1)}, beside {name}",
            f"{median['ours', processes]:.0f} a second",
            f"{median[name, processes]:.0f} a second",
            f"{median['ours', processes] / median[name, processes]:.2f}",
        )
        for processes in PROCESSES
        for name in others
    ]
