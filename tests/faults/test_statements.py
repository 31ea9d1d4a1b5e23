"""Statements that time out, wait for locks, or lose their session: nothing is lost, done twice or given up."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from tests.faults.proxy import Proxy
from tests.faults.rig import OURS, Rig, end_sessions, is_quiet, losses
from tests.support.database import Database, Tenant, wait_until
from tests.support.processes import running
from tests.support.work import due_in, make_schedule, make_workflow

LOCK = "lock table lenses.workflow_runs in access exclusive mode"
WORKING = (
    f"select exists (select from pg_stat_activity where {OURS} and datname = current_database() "
    "and query ~ 'fn_(claim|heartbeat|complete)_workflow_runs?[(]')"
)
TIMEOUTS = {
    "statement": "-c statement_timeout=300",
    "lock": "-c lock_timeout=300",
}


@pytest.mark.parametrize("timeout", TIMEOUTS)
def test_a_claim_and_a_heartbeat_that_time_out_end_nothing(
    db: Database, rig: Rig, timeout: str
) -> None:
    first = rig.start()
    options = ("--concurrency", "2", "--lease", "30s")
    with (
        rig.work(*options, PGOPTIONS=TIMEOUTS[timeout]) as process,
        rig.work("--concurrency", "2", "--lease", "30s") as other,
    ):
        rig.begun(first)
        with db.transaction():
            db.execute(LOCK)
            wait_until(lambda: losses(process) + losses(other) > 0)
        rig.begun(second := rig.start())
        rig.open()
        for run in (first, second):
            rig.completed(run)
        assert process.stop() == 0 and other.stop() == 0
        assert is_quiet(process) and is_quiet(other)


def test_heartbeats_go_on_while_results_wait_for_a_lock(db: Database, rig: Rig) -> None:
    """What stands in the way of one statement of a process stands in the way of no other's lease."""
    first, second = rig.start(), rig.start()
    left = "select lease_expires_at > %s from lenses.workflow_runs where id = %s"
    waits = (
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
        "and query ~ 'fn_complete_workflow_runs?[(]'"  # one result alone, or both together
    )
    with db.another() as other, rig.work("--concurrency", "2", "--lease", "3s") as process:
        rig.begun(first)
        rig.begun(second)
        with db.transaction():
            db.execute("lock table lenses.workflow_schedules in exclusive mode")
            until = max(rig.row(run).lease_expires_at for run in (first, second))
            rig.open()
            wait_until(lambda: other.value(waits) > 0)
            for run in (first, second):
                wait_until(lambda: rig.notes("end", run))  # noqa: B023
                wait_until(lambda: other.value(left, [until, run]))  # noqa: B023
            wait_until(lambda: other.value("select clock_timestamp() > %s", [until]))
        rig.completed(first)
        rig.completed(second)
        assert process.stop() == 0


def test_a_row_that_somebody_holds_keeps_no_other_from_its_heartbeat(
    db: Database, rig: Rig
) -> None:
    first, second = rig.start(), rig.start()
    with rig.work("--concurrency", "2", "--lease", "3s") as process:
        rig.begun(first)
        rig.begun(second)
        with db.another() as other, db.transaction():
            db.execute("select from lenses.workflow_runs where id = %s for update", [first])
            process.says(f"run {first}: the lease is lost", 30.0)
            left = "select lease_expires_at > clock_timestamp() from lenses.workflow_runs where id = %s"
            assert other.value(left, [second]) is True
        rig.begun(first, 2)
        rig.open()
        rig.completed(first, 2)
        rig.completed(second)
        assert process.stop() == 0


@pytest.mark.parametrize("timeout", TIMEOUTS)
def test_a_result_that_meets_a_timeout_is_delivered_afterwards(
    db: Database, rig: Rig, timeout: str
) -> None:
    run = rig.start()
    with rig.work("--once", "--lease", "1m", PGOPTIONS=TIMEOUTS[timeout]) as process:
        rig.begun(run)
        with db.transaction():
            db.execute(LOCK)
            rig.open()
            wait_until(lambda: rig.notes("end", run))
            process.says("the server cannot now")
        assert process.ends() == 0
        assert "1 completed, 0 failed" in process.output
        process.says("the server is back")
    rig.completed(run)


@pytest.mark.parametrize(
    "statement", ["fn_claim_workflow_runs", "fn_heartbeat_workflow_run", "fn_complete_workflow_run"]
)
def test_a_session_that_ends_in_the_middle_of_a_statement(
    db: Database, rig: Rig, statement: str
) -> None:
    run = rig.start()
    busy = f"state = 'active' and query like '%%{statement}(%%' and pid <> pg_backend_pid()"
    with db.another() as other, rig.work("--lease", "6s") as process:
        if "claim" not in statement:
            rig.begun(run)
        with db.transaction():
            db.execute(LOCK)
            rig.open()
            wait_until(
                lambda: other.value(f"select count(*) from pg_stat_activity where {busy}"), 20.0
            )
            assert end_sessions(other, busy) > 0
            process.says("connection lost")
        rig.completed(run)
        process.says("the server is back")
        assert process.stop() == 0
        assert is_quiet(process), process.output


@pytest.mark.parametrize(
    "statement", ["fn_claim_workflow_runs", "fn_heartbeat_workflow_run", "fn_complete_workflow_run"]
)
def test_an_answer_that_is_lost_on_its_way(rig: Rig, statement: str) -> None:
    """The server has committed, and nobody was told: the run is found again, the result known."""
    run = rig.start()
    with Proxy(rig.dsn) as proxy, rig.work("--lease", "1m", dsn=proxy.dsn) as process:
        if "heartbeat" in statement:
            rig.begun(run)
        proxy.swallow(f"{statement}(")
        rig.open() if "complete" in statement else None
        wait_until(lambda: proxy.swallowed or "heartbeat" in statement)
        rig.begun(run)
        rig.open()
        rig.completed(run)
        process.says(f"run {run}: completed")
        assert process.stop() == 0
        assert "1 completed, 0 failed\n" in process.output


def test_a_failure_whose_answer_is_lost_is_told_once(rig: Rig) -> None:
    run = rig.start()
    with Proxy(rig.dsn) as proxy:
        proxy.swallow("fn_fail_workflow_run(")
        args = ("runs", "work", "--poll", "200ms", "--", "sh", "-c", "echo no >&2; exit 7")
        with running(proxy.dsn, *args) as process:
            wait_until(lambda: rig.row(run).status == "failed")
            wait_until(lambda: process.output.count("failed: exit code 7") == 4)
            assert process.stop() == 0
            assert "0 completed, 4 failed\n" in process.output
    assert rig.row(run).attempt == 4


def test_sessions_that_end_again_and_again(db: Database, rig: Rig) -> None:
    def is_done(run: uuid.UUID) -> bool:
        return rig.row(run).status == "completed"

    runs = [rig.start() for _ in range(6)]
    with rig.work("--concurrency", "3", "--lease", "30s", seconds=0.2) as process:
        for _ in range(12):
            end_sessions(db)  # in whatever it is, its first words included
            wait_until(lambda: db.value(WORKING) or all(map(is_done, runs)))
            assert process.popen.poll() is None, process.output
        for run in runs:
            rig.completed(run)
        assert process.stop() == 0
        assert "Traceback" not in process.output


def test_the_leader_s_tick_that_times_out_is_tried_again(
    db: Database, tenant: Callable[..., Tenant]
) -> None:
    schedule = make_schedule(db, make_workflow(db, tenant()))
    env = {"TICK_MS": "50", "PGOPTIONS": "-c lock_timeout=100"}
    with running(db.dsn, "worker", env=env) as leader, running(db.dsn, "worker", env=env) as spare:
        wait_until(lambda: "leading" in leader.output + spare.output)
        with db.transaction():
            db.execute("lock table lenses.schedule_due, lenses.workflow_runs in exclusive mode")
            db.execute("lock table lenses.dispatch_ticks, lenses.worker_heartbeats")
            wait_until(lambda: losses(leader) + losses(spare) > 0)
        due_in(db, schedule, 0)
        wait_until(lambda: db.value("select count(*) from lenses.workflow_runs") == 1)
        for worker in (leader, spare):
            assert worker.popen.poll() is None, worker.output
            assert is_quiet(worker), worker.output
            assert worker.stop() == 0
