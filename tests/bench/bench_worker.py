"""Lag from slot to committed run: lf-sql worker with 1,000 schedules, at once and spread out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.bench.load import Bench
from tests.bench.report import Row, ms, quantile
from tests.support.database import Database, connect, make_tenant, wait_until
from tests.support.processes import running
from tests.support.server import TestServer
from tests.support.work import make_workflow

SCHEDULES = 1000
LIMIT = 0.25  # seconds


@contextmanager
def database() -> Iterator[Database]:
    server = TestServer({"track_commit_timestamp": "on"})
    try:
        with product_db.connect(server.dsn()) as conn:
            apply.install(conn, bundle.load())
        with connect(server.dsn()) as conn:
            yield conn
    finally:
        server.stop()


def prepare(conn: Database, spread_seconds: float) -> None:
    """Schedules whose next slots come from two seconds from now on, evenly over the spread."""
    workflow = make_workflow(conn, make_tenant(conn))
    conn.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, approval_policy) "
        "select %s, '0 0 1 1 *', '{\"requiresApproval\": false}' from generate_series(1, %s)",
        [workflow, SCHEDULES],
    )
    conn.execute("analyze")
    conn.execute(
        "update lenses.workflow_schedules as s set next_run_at = date_trunc('milliseconds', "
        "statement_timestamp()) + interval '3 seconds' + make_interval(secs => o.n * %s) "
        "from (select id, (row_number() over () - 1) / %s::float8 as n "
        "from lenses.workflow_schedules where workflow_id = %s) as o "
        "where o.id = s.id",
        [spread_seconds, SCHEDULES, workflow],
    )


def lags(conn: Database) -> list[float]:
    """Seconds from slot to commit, sorted."""
    return conn.column(
        "select extract(epoch from pg_xact_commit_timestamp(r.xmin) - r.scheduled_for)::float8 "
        "from lenses.workflow_runs as r order by 1"
    )


def measure(spread_seconds: float) -> list[float]:
    with database() as conn, running(conn.dsn, "worker") as worker:
        worker.says("leading")
        prepare(conn, spread_seconds)
        count = "select count(*) from lenses.workflow_runs"
        wait_until(lambda: conn.value(count) == SCHEDULES, 30 + spread_seconds)
        return lags(conn)


def run(_: Bench) -> list[Row]:
    rows = []
    for name, spread in (("due at once", 0.0), ("due over 20 s", 20.0)):
        found = measure(spread)
        p50, p99 = quantile(found, 0.5), quantile(found, 0.99)
        rows.append(
            Row(
                f"lag, {SCHEDULES:,} schedules {name}, lf-sql worker",
                f"p50 {ms(p50)}, p99 {ms(p99)}",
                "slot to commit",
                must=f"p99 at most {ms(LIMIT)}",
                ok=p99 <= LIMIT,
            )
        )
    return rows
