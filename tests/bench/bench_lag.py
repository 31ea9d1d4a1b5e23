"""Lag of a minute with 10,000 schedules, from slot to commit, under a real pg_cron."""

from __future__ import annotations

from lf_sql import apply, bundle, jobs
from lf_sql import db as product_db
from tests.bench.load import SETTINGS, Bench, multiply
from tests.bench.report import Row, ms, quantile
from tests.support.database import Database, connect, make_tenant, wait_until
from tests.support.server import TestServer, preload
from tests.support.work import make_workflow

SCHEDULES = 10_000
CRON = {
    **SETTINGS,
    "shared_preload_libraries": "pg_cron",
    "cron.use_background_workers": "on",
    "track_commit_timestamp": "on",
}


def run(_: Bench) -> list[Row]:
    if not preload("pg_cron"):
        return [
            Row(f"lag of a minute with {SCHEDULES:,} schedules, pg_cron", "this build has none")
        ]
    server = TestServer(CRON)
    try:
        with product_db.connect(server.dsn()) as conn:
            tree = bundle.load()
            apply.install(conn, tree)
            driver = jobs.register(conn, tree)
            assert not driver.troubles, driver.troubles
        with connect(server.dsn()) as conn:
            return measure(conn)
    finally:
        server.stop()


def measure(conn: Database) -> list[Row]:
    workflow = make_workflow(conn, make_tenant(conn))
    # Their next slot is the second minute from now, so that the load never runs into it.
    conn.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, approval_policy, start_at) "
        "select %s, '0 0 1 1 *', '{\"requiresApproval\": false}', now() from generate_series(1, 1000)",
        [workflow],
    )
    conn.execute(
        "update lenses.workflow_schedules set next_run_at = "
        "date_trunc('minute', clock_timestamp()) + interval '2 minutes'"
    )
    multiply(conn, SCHEDULES - 1000)
    conn.execute("vacuum analyze")
    count = "select count(*) from lenses.workflow_runs"
    wait_until(lambda: conn.value(count) == SCHEDULES, 180, 0.5, "all dispatched by pg_cron")
    lags = conn.column(
        "select extract(epoch from pg_xact_commit_timestamp(r.xmin) - r.scheduled_for)::float8 "
        "from lenses.workflow_runs as r"
    )
    return [
        Row(
            f"lag of a minute with {SCHEDULES:,} schedules, pg_cron",
            f"p50 {ms(quantile(lags, 0.5))}, p99 {ms(quantile(lags, 0.99))}",
            "slot to commit",
        )
    ]
