"""Claims and completions 200 at a time beside one at a time, by one worker, a call a transaction."""

from __future__ import annotations

import json
from time import perf_counter

from tests.bench.load import Bench, a_monday, fill, tick
from tests.bench.report import Row
from tests.support.database import Database

RUNS = 10_000
ONE, MANY = 1_000, 4_000  # runs a round
AT_ONCE = 200
ROUNDS = 2


def worked(conn: Database, at_once: int, total: int) -> float:
    """Seconds a run, claimed and completed."""
    started = perf_counter()
    for _ in range(total // at_once):
        ids = conn.column("select id from lenses.fn_claim_workflow_runs('w', %s)", [at_once])
        assert len(ids) == at_once
        if at_once == 1:
            result = "select lenses.fn_complete_workflow_run(%s, 'w', '{\"ok\": 1}') as done"
            assert conn.value(result, ids)
            continue
        results = json.dumps([{"run_id": str(id_), "result": {"ok": 1}} for id_ in ids])
        done = conn.column("select lenses.fn_complete_workflow_runs('w', %s) as id", [results])
        assert len(done) == at_once
    return (perf_counter() - started) / total


def run(bench: Bench) -> list[Row]:
    at = a_monday()
    one: list[float] = []
    many: list[float] = []
    with bench.database("bench_many") as conn:
        fill(conn, RUNS, at)
        tick(conn, at)
        for _ in range(ROUNDS):
            conn.execute("vacuum analyze lenses.workflow_runs")
            one.append(worked(conn, 1, ONE))
            conn.execute("vacuum analyze lenses.workflow_runs")
            many.append(worked(conn, AT_ONCE, MANY))
    return [
        Row(
            f"claims and completions, {AT_ONCE} at a time, 1 worker",
            f"{1 / min(many):,.0f} a second",
            f"{1 / min(one):,.0f} one at a time",
            f"{min(one) / min(many):.2f}",
        )
    ]
