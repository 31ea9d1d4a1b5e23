"""The library for executors with a handler that does nothing, beside claims one at a time in Python.

From the first claim to the last completion, by the database's clock, so that starting processes counts
for nothing. The reference is the loop that everybody writes first: claim a run, complete it.
"""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys

from tests.bench.bench_runs import FILL
from tests.bench.load import Bench, bench
from tests.bench.report import Row
from tests.support.database import Database

RUNS = 5000
YEARS = itertools.count(2026)  # of the slots, whose runs' ids are theirs for good
ROUNDS = 3

LIBRARY = """
import sys
from lf_sql import Executor
executor = Executor(sys.argv[1], concurrency=200, once=True)
@executor.default
async def nothing(run): return {"ok": 1}
executor.run()
"""
THREADS = LIBRARY.replace("async def", "def")
ONE_AT_A_TIME = """
import sys
import psycopg
conn = psycopg.connect(sys.argv[1], autocommit=True)
while row := conn.execute("select id, attempt from lenses.fn_claim_workflow_runs('one', 1)").fetchone():
    conn.execute("select lenses.fn_complete_workflow_run(%s, 'one', %s, 0, %s)", [row[0], '{"ok": 1}', row[1]])
"""


def prepare(conn: Database) -> None:
    """A thousand schedules of one tenant."""
    conn.execute(
        "with p as (insert into lensers.profiles (user_id) values (gen_random_uuid()) returning id), "
        "w as (insert into lenses.workflows (lenser_id, title) select id, 'bench' from p returning id) "
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, is_active, approval_policy) "
        "select w.id, '0 0 1 1 *', false, '{\"requiresApproval\": false}' "
        "from w, generate_series(1, 1000)"
    )


def rate(conn: Database, script: str, processes: int) -> float:
    """Runs a second."""
    with conn.transaction():
        conn.execute("set local role lf_sql_engine")
        conn.execute("delete from lenses.workflow_runs")
        conn.execute(FILL.replace("2026", str(next(YEARS))), [RUNS // 1000 - 1])
    conn.execute("vacuum analyze lenses.workflow_runs")
    command = [sys.executable, "-c", script, conn.dsn]
    for process in [subprocess.Popen(command) for _ in range(processes)]:
        assert process.wait() == 0
    done, seconds = conn.row(
        "select count(*), extract(epoch from max(completed_at) - min(started_at))::float8 "
        "from lenses.workflow_runs where status = 'completed'"
    )
    assert done == RUNS
    return done / seconds


def run(_: Bench) -> list[Row]:
    durable = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
    works = {
        "async handlers, 1 process": (LIBRARY, 1),
        "async handlers, 2 processes": (LIBRARY, 2),
        "plain handlers, 1 process": (THREADS, 1),
    }
    with bench(**durable) as place, place.database("bench_executor") as conn:
        prepare(conn)
        taken: dict[str, list[float]] = {name: [] for name in [*works, "one", "two"]}
        for _ in range(ROUNDS):
            taken["one"].append(rate(conn, ONE_AT_A_TIME, 1))
            taken["two"].append(rate(conn, ONE_AT_A_TIME, 2))
            for name, (script, processes) in works.items():
                taken[name].append(rate(conn, script, processes))
    rows = []
    for name, (_, processes) in works.items():
        beside = taken["two" if processes == 2 else "one"]
        ratio = statistics.median(o / r for o, r in zip(taken[name], beside, strict=True))
        rows.append(
            Row(
                f"the executor's runs a second, {name}",
                f"{statistics.median(taken[name]):.0f}",
                f"{statistics.median(beside):.0f} one at a time",
                f"{ratio:.2f}",
            )
        )
    return rows
