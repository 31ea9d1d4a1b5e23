"""Each advice that is a command or a statement, run as it is printed, mends what its line is about."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing

import pytest

from tests.health.conftest import Health, asker, follow
from tests.support.command import Command, commander
from tests.support.database import Database, Tenant, connect, wait_until
from tests.support.server import TestServer
from tests.support.work import due_in, make_schedule, make_workflow, run_now, unguarded

Tick = Callable[[], None]


def test_frozen(db: Database, health: Health, ticking: Tick, lf: Command) -> None:
    db.execute("select lenses.fn_freeze_dispatch('moving house')")
    follow(health(code=1).check("worker")["advice"], lf, db)
    assert health(code=0).check("worker")["label"] == "ok"


def test_paused_and_a_workflow_that_is_not_active(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command
) -> None:
    schedule = make_schedule(db, make_workflow(db, owner))
    lf("schedule", "pause", schedule)
    lf("workflow", "status", "report", "paused")
    follow(health(code=0).of(schedule)["PAUSED"]["advice"], lf, db)
    follow(health(code=0).of(schedule)["WORKFLOW_NOT_ACTIVE"]["advice"], lf, db)
    assert set(health(code=0).of(schedule)) == {"NEVER_RAN"}


def test_a_lease_that_is_over(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command
) -> None:
    run_now(db, owner, make_schedule(db, make_workflow(db, owner)))
    db.execute("select lenses.fn_claim_workflow_runs('w', 1, '5 minutes')")
    db.execute("update lenses.workflow_runs set lease_expires_at = now() - interval '1 hour'")
    follow(health("--server", code=1).check("stuck runs")["advice"], lf, db)
    assert health("--server", code=0).check("stuck runs")["label"] == "none"


def test_history_past_its_retention(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command
) -> None:
    run = run_now(db, owner, make_schedule(db, make_workflow(db, owner)))
    db.execute("select lenses.fn_cancel_workflow_run(%s)", [run])
    for table, columns in (
        ("lenses.workflow_runs", ("created_at", "completed_at")),
        ("lenses.workflow_run_events", ("occurred_at",)),
        ("agents.action_logs", ("occurred_at",)),
        ("lenses.dispatch_ticks", ("started_at", "finished_at")),
    ):
        changes = ", ".join(f"{column} = {column} - interval '100 days'" for column in columns)
        with unguarded(db, table):
            db.execute(f"update {table} set {changes}")
    ticking()
    line = health("--server", code=1).check("retention")
    assert "runs from" in line["detail"]
    assert "logs from" in line["detail"]
    assert "ticks from" in line["detail"]
    follow(line["advice"], lf, db)
    assert health("--server", code=0).check("retention")["label"] == "ok"


@pytest.mark.pg_cron
def test_pg_cron_s_own_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows without an end, as a crash of the server leaves them, too."""
    from tests.health.test_pg_cron import installed, wait_for_launcher

    server = TestServer(
        {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "postgres",
            "cron.use_background_workers": "on",
        }
    )
    try:
        wait_for_launcher(server.dsn())
        installed(server.dsn())
        lf = commander(capsys, monkeypatch, server.dsn())
        with connect(server.dsn()) as db:
            db.execute(
                "insert into cron.job_run_details (jobid, runid, job_pid, database, username, "
                "command, status, start_time, end_time) "
                "select j.jobid, 1000000 + n, 1, 'app', 'postgres', '', 'succeeded', "
                "now() - interval '40 days', case when n = 1 then now() - interval '40 days' end "
                "from cron.job as j, generate_series(1, 2) as n "
                "where jobname = 'dispatch-scheduled-workflows'"
            )
            line = asker(lf)("--server", code=1).check("retention")
            assert "job_run_details" in line["detail"]
            follow(line["advice"], lf, db)
            assert asker(lf)("--server", code=None).check("retention")["label"] == "ok"
            assert db.value("select count(*) from cron.job_run_details where runid > 1000000") == 0
    finally:
        server.stop()


@pytest.mark.parametrize("where", ["database", "server"])
def test_a_server_that_takes_no_writes(
    db: Database, health: Health, ticking: Tick, lf: Command, where: str
) -> None:
    """Whatever ticked a moment ago: it is not said that all is well."""
    setting = "default_transaction_read_only"
    if where == "database":
        db.execute(f"alter database {db.dbname} set {setting} = on")
    else:
        db.execute(f"alter system set {setting} = on")
        db.execute("select pg_reload_conf()")
        wait_until(lambda: db.value(f"show {setting}") == "on")
    try:
        lines = health("--server", code=1)
        line = lines.check("worker")
        assert "worker: ok" not in lines.text
        assert (line["state"], line["label"]) == ("bad", "read-only")
        with connect(db.dsn) as session:
            follow(line["advice"], lf, session)
        if where == "server":
            wait_until(lambda: db.value(f"show {setting}") == "off")
        assert health("--server", code=0).check("worker")["label"] == "ok"
    finally:
        if where == "server":
            db.execute(f"alter system reset {setting}")
            db.execute("select pg_reload_conf()")
            wait_until(lambda: db.value(f"show {setting}") == "off")


@pytest.mark.parametrize(
    ("lock", "says"),
    [
        ("select from lenses.workflow_schedules where id = %s for update", "1 of them"),
        ("update lenses.workflow_schedules set description = 'x' where id = %s", "1 of them"),
        ("update lenses.schedule_due set due_at = due_at where schedule_id = %s", "1 of them"),
    ],
)
def test_somebody_holds_a_row(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command, lock: str, says: str
) -> None:
    """Ticks go on and cannot lock it: who it is, since when, and how to end it."""
    schedule = make_schedule(db, make_workflow(db, owner))
    due_in(db, schedule, -120)
    holders = "select pg_terminate_backend(%s)"
    with closing(connect(f"{db.dsn} application_name=sleeper")) as other:
        other.execute("begin")
        other.execute(lock, [schedule])
        ticking()
        # A minute passes for the session's transaction: its beginning is what the server knows of it.
        pid = other.info.backend_pid
        facts = db.row(
            "select jsonb_build_object('holders', jsonb_build_array(jsonb_build_object("
            "'pid', l.pid, 'role', 'postgres', 'application_name', 'sleeper', "
            "'state', 'idle in transaction', 'age', 400, 'lock', 'RowShareLock', "
            "'relation', 'lenses.workflow_schedules', 'xid', l.transactionid::text))) as facts "
            "from pg_locks as l where l.pid = %s and l.locktype = 'transactionid'",
            [pid],
        ).facts
        line = db.row("select * from lenses.fn_health_holders(%s)", [json.dumps(facts)])
        assert (line.state, line.label) == ("bad", str(pid))
        for word in (says, "sleeper", "role postgres", "RowShareLock", "6 min", "1 schedules"):
            assert word in line.detail, line.detail
        assert line.advice.startswith(holders % pid)
        follow(line.advice, lf, db)
        wait_until(lambda: not db.rows("select 1 from pg_stat_activity where pid = %s", [pid]))
    ticking()
    assert db.rows("select * from lenses.fn_health_holders(%s)", [json.dumps(facts)]) == []


def test_what_the_server_shows_of_holders(db: Database, owner: Tenant) -> None:
    """The query itself, with its minute taken away: who has a lock that stands in a tick's way."""
    from lf_sql import bundle

    schedule = make_schedule(db, make_workflow(db, owner))
    query = bundle.query("health_holders").replace("interval '1 minute'", "interval '-1 minute'")
    with connect(f"{db.dsn} application_name=sleeper") as other:
        with other.transaction():
            other.execute("select * from lenses.workflow_schedules")
            assert db.value(query) == []  # reading stands in nobody's way
        with other.transaction():
            other.execute(
                "select from lenses.workflow_schedules where id = %s for update", [schedule]
            )
            (found,) = db.value(query)
            assert found["pid"] == other.info.backend_pid
            assert (found["role"], found["application_name"]) == ("postgres", "sleeper")
            assert found["state"] == "idle in transaction"
            assert found["relation"] == "lenses.workflow_schedules"
            assert found["lock"] == "RowShareLock"
            assert found["xid"]
            assert db.value(bundle.query("health_holders")) == []  # not for a minute yet
