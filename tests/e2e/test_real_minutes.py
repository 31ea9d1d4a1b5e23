"""Real pg_cron, real minutes: one run a slot, in pg_cron's own database and in another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, as_user, connect, make_tenant, wait_until
from tests.support.server import TestServer, preload

SLOTS = "select scheduled_for, count(*) as runs from lenses.workflow_runs group by 1 order by 1"


@pytest.fixture
def two_databases() -> Iterator[tuple[Database, Database]]:
    """`lf`, where pg_cron lives, and `app`, both installed."""
    assert preload("pg_cron"), "this build has no pg_cron"
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "lf",
            "cron.use_background_workers": "on",
        }
    )
    with ExitStack() as stack:
        stack.callback(server.stop)
        with connect(server.dsn()) as admin:
            admin.execute("create database lf")
            admin.execute("create database app")
        yield (
            stack.enter_context(connect(server.dsn("lf"))),
            stack.enter_context(connect(server.dsn("app"))),
        )


def every_minute(db: Database) -> None:
    tenant = make_tenant(db)
    with as_user(db, tenant):
        workflow = db.row(
            "select id from public.fn_upsert_workflow(p_title => 'each minute', "
            'p_definition => \'{"nodes": [{"id": "a"}], "edges": []}\')'
        ).id
        db.execute(
            "select id from public.fn_upsert_workflow_schedule(%s, p_cron_expr => '* * * * *', "
            "p_approval_policy => '{\"requiresApproval\": false}')",
            [workflow],
        )


@pytest.mark.slow
def test_exactly_one_run_a_slot_over_two_minutes(two_databases: tuple[Database, Database]) -> None:
    home, other = two_databases
    assert "dispatch-scheduled-workflows" in succeeded(lf_sql("install", dsn=home.dsn))
    said = succeeded(lf_sql("install", dsn=other.dsn))
    # what install says for a database that pg_cron does not live in, word for word
    home.execute(said.split('-c "')[1].split('"\n')[0])
    for db in two_databases:
        every_minute(db)
    for db in two_databases:
        wait_until(
            lambda db=db: db.value("select count(*) from lenses.workflow_runs") >= 2,
            timeout=150,
            interval=0.5,
            what=f"two runs in {db.dbname}",
        )
    for db in two_databases:
        slots = db.rows(SLOTS)
        assert [row.runs for row in slots] == [1] * len(slots)
        assert (slots[1].scheduled_for - slots[0].scheduled_for).total_seconds() == 60
        ticks = db.rows("select driver, dispatched from lenses.dispatch_ticks where dispatched > 0")
        assert [tick.dispatched for tick in ticks] == [1] * len(slots)
    failed = home.rows("select * from cron.job_run_details where status = 'failed'")
    assert failed == []
