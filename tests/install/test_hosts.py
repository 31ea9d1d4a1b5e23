"""Hosted PostgreSQL, each as its documentation describes it: installed, verified, ticking, watched, upgraded, gone."""

from __future__ import annotations

import pytest

from tests.support.cli import lf_sql, succeeded
from tests.support.database import connect, make_tenant
from tests.support.hosts import HOSTS, Host, serving
from tests.support.snapshot import snapshot
from tests.support.work import make_schedule

pytestmark = [pytest.mark.slow, pytest.mark.pg_cron]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_from_install_to_uninstall(host: Host) -> None:
    with (
        serving(host) as server,
        connect(server.dsn(host.database, host.superuser)) as above,
        connect(server.dsn(host.cron_database, host.superuser)) as cron,
        connect(server.dsn(host.database, host.admin)) as ours,
    ):
        is_super = "select rolsuper from pg_roles where rolname = current_user"
        assert ours.value(is_super) == (host.admin == host.superuser)
        before = snapshot(above)
        elsewhere = ["--cron-dsn", server.dsn(host.cron_database, host.admin)]
        options = elsewhere if host.cron_database != host.database else []
        said = lf_sql("install", *options, dsn=ours.dsn)
        assert "weaker" not in succeeded(said)
        succeeded(lf_sql("verify", *options, dsn=ours.dsn))

        tenant = make_tenant(ours)
        workflow = ours.value(
            "insert into lenses.workflows (lenser_id, title) values (%s, 'w') returning id",
            [tenant.id],
        )
        schedule = make_schedule(ours, workflow, approval_policy='{"requiresApproval": false}')
        slot = ours.value(
            "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) where id = %s "
            "returning next_run_at",
            [schedule],
        )
        jobs = cron.rows("select * from cron.job where active order by jobname")
        (tick,) = [job for job in jobs if job.jobname.startswith("dispatch-scheduled-workflows")]
        assert (tick.database, tick.username) == (host.database, host.admin)
        for job in jobs:  # as pg_cron runs them
            with connect(server.dsn(job.database, job.username)) as worker:
                worker.execute(job.command)
        slots = "select scheduled_for from lenses.workflow_runs where schedule_id = %s"
        assert ours.column(slots, [schedule]).count(slot) == 1
        health = succeeded(lf_sql("schedule", "health", "--server", *options, dsn=ours.dsn))
        assert "pg_cron: registered" in health

        assert "nothing to do" in succeeded(lf_sql("upgrade", *options, dsn=ours.dsn))
        succeeded(lf_sql("uninstall", "--yes", *options, dsn=ours.dsn))
        assert cron.rows("select * from cron.job") == []
        assert snapshot(above) == before
