"""Claims and completions by pgbench beside graphile-worker's tasks that do nothing, in the same server.

Each of pgbench's clients claims 200 runs and completes them, two statements in two transactions, or one
run likewise. graphile-worker works in batches from its local queue, four processes, or on one job at a
time, one process; Node.js is part of its figure. From the first run or job to the last, by the clock of
the database or of Node.js; the server's commits are safe.
"""

from __future__ import annotations

import itertools
import statistics
import subprocess
import tempfile
from pathlib import Path

from tests.bench.bench_executor import prepare
from tests.bench.bench_queues import graphile
from tests.bench.bench_runs import FILL, pgbench
from tests.bench.load import Bench, bench
from tests.bench.report import Row
from tests.support.database import Database

ROUNDS = 3
YEARS = itertools.count(2026)
SCRIPTS = {
    200: """
select coalesce(json_agg(json_build_object('run_id', id, 'attempt', attempt, 'result', '{"ok": 1}'::json)), '[]') as results \
from lenses.fn_claim_workflow_runs('w' || :client_id, 200) \\gset
select count(*) from lenses.fn_complete_workflow_runs('w' || :client_id, :results);
""",
    1: """
select id as run_id from lenses.fn_claim_workflow_runs('w' || :client_id, 1) \\gset
select lenses.fn_complete_workflow_run(:run_id, 'w' || :client_id, '{"ok": 1}');
""",
}  # fmt: skip


def worked(conn: Database, at_once: int, workers: int, turns: int) -> float:
    """Runs a second."""
    count = at_once * workers * turns
    with conn.transaction():
        conn.execute("set local role lf_sql_engine")
        conn.execute("delete from lenses.workflow_runs")
        conn.execute(FILL.replace("2026", str(next(YEARS))), [count // 1000 - 1])
    conn.execute("vacuum analyze lenses.workflow_runs")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "claim.sql"
        script.write_text(SCRIPTS[at_once])
        command = [pgbench(), "-n", "-M", "prepared", "-f", str(script), "-c", str(workers)]
        command += ["-j", str(min(workers, 2)), "-t", str(turns), conn.dsn]
        subprocess.run(command, capture_output=True, text=True, check=True)
    done, seconds = conn.row(
        "select count(*), extract(epoch from max(completed_at) - min(started_at))::float8 "
        "from lenses.workflow_runs where status = 'completed'"
    )
    assert done == count, f"{done} runs were completed, not {count}"
    return float(done / seconds)


def run(_: Bench) -> list[Row]:
    durable = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
    many: list[tuple[float, float]] = []
    one: list[tuple[float, float]] = []
    with bench(**durable) as place, place.database("bench_claims") as conn:
        prepare(conn)
        for _ in range(ROUNDS):
            many.append((worked(conn, 200, 4, 25), graphile(conn, 4)))
            one.append((worked(conn, 1, 1, 2000), graphile(conn, 1, "one")))
    return [
        row("200 at a time, 4 workers", "batches, 4 processes", many, 0.5),
        row("one at a time, 1 worker", "one at a time, 1 process", one, 1.0),
    ]


def row(ours: str, theirs: str, rates: list[tuple[float, float]], must: float) -> Row:
    mine, beside = (statistics.median(column) for column in zip(*rates, strict=True))
    ratio = statistics.median(o / r for o, r in rates)
    return Row(
        f"claims and completions a second, {ours}",
        f"{mine:,.0f}",
        f"{beside:,.0f} graphile-worker, {theirs}",
        f"{ratio:.2f}",
        f">= {must}",
        ratio >= must,
    )
