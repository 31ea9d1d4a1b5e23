"""Attempts of a run never work side by side, whatever becomes of their executor."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psycopg
import pytest

from lf_sql.command import Running
from tests.faults.rig import Rig, is_quiet
from tests.support.database import Database, wait_until

EXPIRED = (
    "select lease_expires_at < clock_timestamp() from lenses.workflow_runs where id = %s "
    "union all select true limit 1"
)


@pytest.mark.parametrize("others", [0, 1])
def test_a_stopped_executor_whose_lease_runs_out(db: Database, rig: Rig, others: int) -> None:
    """Its command ends before the next begins, here or elsewhere; the late one settles nothing."""
    run = rig.start()
    with rig.work("--lease", "3s") as process:
        rig.begun(run)
        process.signal(signal.SIGSTOP)
        if others:
            with rig.work("--lease", "30s") as other:
                rig.begun(run, 2)
                process.signal(signal.SIGCONT)
                process.says("lease is lost")
                rig.open()
                rig.completed(run, 2)
                assert other.stop() == 0
        else:
            wait_until(lambda: db.value(EXPIRED, [run]))
            db.execute("select lenses.fn_reap_workflow_runs()")
            process.signal(signal.SIGCONT)
            rig.begun(run, 2)
            process.says("lease is lost")
            rig.open()
            rig.completed(run, 2)
        assert process.stop() == 0
        assert "Traceback" not in process.output


def test_a_killed_executor_takes_its_command_along(rig: Rig) -> None:
    run = rig.start()
    with rig.work("--lease", "5s") as process, rig.work("--lease", "5s") as other:
        rig.begun(run)
        (holder,) = [p for p in (process, other) if f":{p.pid}:" in rig.row(run).worker_id]
        holder.signal(signal.SIGKILL)
        survivor = other if holder is process else process
        rig.begun(run, 2)
        rig.open()
        rig.completed(run, 2)
        assert survivor.stop() == 0


def test_its_own_lost_run_begins_again_after_the_old_command_has_ended(
    db: Database, rig: Rig
) -> None:
    """The lease is taken away while the executor is well: it claims the run again at once."""
    run = rig.start()
    with rig.work("--concurrency", "2", "--lease", "6s", is_stubborn=True) as process:
        rig.begun(run)
        db.execute(
            "update lenses.workflow_runs set lease_expires_at = now() - interval '1 second' "
            "where id = %s",
            [run],
        )
        rig.begun(run, 2)
        process.says("lease is lost")
        rig.open()
        rig.completed(run, 2)
        assert process.stop() == 0
        assert "Traceback" not in process.output


def test_a_command_ends_with_its_whole_group(tmp_path: Path) -> None:
    """A child that knows no SIGTERM and lives on after its parent is ended too, before wait returns."""
    script = (
        f"(trap '' TERM; exec {sys.executable} -c \"import fcntl, time; "
        f"f = open('{tmp_path}/held', 'w'); fcntl.flock(f, fcntl.LOCK_EX); "
        f"open('{tmp_path}/up', 'w'); time.sleep(600)\") & wait"
    )
    command = Running(["sh", "-c", script], b"", dict(os.environ), 1000)
    wait_until((tmp_path / "up").exists)
    command.abandon(0.2)
    assert command.wait(None).is_abandoned
    with pytest.raises(ProcessLookupError):
        os.killpg(command.group, 0)


def test_nothing_is_asked_of_a_run_that_is_over(db: Database, rig: Rig) -> None:
    """A run that is cancelled while its executor is stopped: the command ends, the run stays so."""
    run = rig.start()
    with rig.work("--lease", "30s") as process:
        rig.begun(run)
        process.signal(signal.SIGSTOP)
        db.execute("select lenses.fn_cancel_workflow_run(%s)", [run])
        process.signal(signal.SIGCONT)
        rig.open()
        wait_until(lambda: "not ours" in process.output or "lease is lost" in process.output)
        assert rig.row(run).status == "cancelled"
        assert process.stop() == 0 and is_quiet(process)


def test_wrong_use_ends_it_with_one_line(db: Database, rig: Rig) -> None:
    """What is under way is finished first; a right that is missing is not waited for."""
    role = "an_executor_without_claims"
    run = rig.start()
    db.execute(f"create role {role} login; grant service_role to {role}")
    try:
        with rig.work("--lease", "30s", dsn=f"{rig.dsn} user={role}") as process:
            rig.begun(run)
            db.execute("revoke execute on function lenses.fn_claim_workflow_runs from service_role")
            rig.open()
            assert process.ends(30) == 1
            assert process.output.count("permission denied") == 1, process.output
            assert "1 completed" not in process.output and "Traceback" not in process.output
        rig.completed(run)
    finally:
        db.execute("reassign owned by service_role to service_role")
        db.execute(f"drop role {role}")


def test_where_nobody_answers_it_waits_for_a_start(rig: Rig) -> None:
    """As the worker does: a supervisor may start it before the server."""
    with rig.work(dsn=f"{rig.dsn} host=/nowhere") as process:
        process.says("waiting for the server")
        assert process.stop() == 1
        assert "Traceback" not in process.output


@pytest.mark.parametrize(
    ("dsn", "options"),
    [
        ("host=/nowhere", ["--once"]),
        ("dbname=no_such_database", []),
        ("user=nobody_at_all", []),
    ],
)
def test_a_wrong_address_is_said_at_once(rig: Rig, dsn: str, options: list[str]) -> None:
    with rig.work(*options, dsn=f"{rig.dsn} {dsn}") as process:
        assert process.ends(30) == 1
        assert process.output.count("cannot connect") == 1, process.output
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(f"{rig.dsn} {dsn}")
