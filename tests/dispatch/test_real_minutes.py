"""Nothing played: a server with pg_cron, an every-minute schedule, two real minutes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, as_user, connect, make_tenant, wait_until
from tests.support.server import TestServer, preload

pytestmark = [pytest.mark.pg_cron, pytest.mark.clock]


@pytest.fixture
def live() -> Iterator[Database]:
    """Installed by the command, with the job registered, where pg_cron really fires."""
    assert preload("pg_cron"), "this test needs a build with pg_cron"
    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "live",
            "cron.use_background_workers": "on",
        }
    )
    try:
        with connect(server.dsn()) as admin:
            admin.execute("create database live")
        succeeded(lf_sql("install", dsn=server.dsn("live")))
        with connect(server.dsn("live")) as conn:
            yield conn
    finally:
        server.stop()


def test_exactly_one_run_a_slot_over_two_minutes(live: Database) -> None:
    owner = make_tenant(live)
    with as_user(live, owner):
        workflow = live.value("select id from public.fn_upsert_workflow(p_title => 'pulse')")
        schedule = live.value(
            "select id from public.fn_upsert_workflow_schedule(%s, p_cron_expr => '* * * * *', "
            "p_approval_policy => '{\"requiresApproval\": false}')",
            [workflow],
        )
    first = live.value(
        "select next_run_at from lenses.workflow_schedules where id = %s", [schedule]
    )
    wait_until(
        lambda: live.value("select count(*) from lenses.workflow_runs") >= 2,
        timeout=185,
        interval=0.5,
        what="two runs by pg_cron",
    )
    runs = live.rows("select * from lenses.workflow_runs order by scheduled_for")
    assert [run.scheduled_for for run in runs] == [
        first + timedelta(minutes=n) for n in range(len(runs))
    ]
    assert {run.status for run in runs} == {"pending"}
    assert all(run.created_at - run.scheduled_for < timedelta(minutes=1) for run in runs)
    drivers = live.column("select distinct driver from lenses.dispatch_ticks")
    assert drivers == ["pg_cron"]
    failed = live.rows("select * from cron.job_run_details where status = 'failed'")
    assert failed == []
    assert live.rows("select * from lenses.fn_invariant_violations()") == []
