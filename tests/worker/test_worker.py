"""lf-sql worker as processes: one leads, others take over, slots fire at their own second."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from psycopg.rows import dict_row

from lf_sql import bundle
from tests.support.cli import lf_sql
from tests.support.database import Database, Tenant, wait_until
from tests.support.processes import running
from tests.support.work import due_in, make_schedule, make_workflow

TENANT = Callable[..., Tenant]


def leaders(db: Database) -> list[str]:
    return db.column(
        "select worker_id from lenses.worker_heartbeats "
        "where is_leader and beat_at > clock_timestamp() - interval '15 seconds'"
    )


def test_a_slot_fires_at_its_own_second(db: Database, tenant: TENANT) -> None:
    schedule = make_schedule(db, make_workflow(db, tenant()))
    with running(db.dsn, "worker", env={"TICK_MS": "60000", "LOOKAHEAD_MS": "30000"}) as worker:
        worker.says("leading")
        worker_ticks = "select count(*) from lenses.dispatch_ticks where driver = 'worker'"
        wait_until(lambda: db.value(worker_ticks) > 0)
        assert worker.stop() == 0
    due_in(db, schedule, 2.0)
    with running(db.dsn, "worker", env={"TICK_MS": "60000", "LOOKAHEAD_MS": "30000"}) as worker:
        run = wait_until(
            lambda: db.execute(
                "select scheduled_for, created_at from lenses.workflow_runs where schedule_id = %s",
                [schedule],
            ).fetchone()
        )
        lag = (run.created_at - run.scheduled_for).total_seconds()
        assert lag >= 0
        assert lag < 50, f"the next tick of its own accord comes after 60 s, the slot took {lag} s"
        assert worker.stop() == 0


def test_sigterm_ends_it_cleanly_and_takes_the_heartbeat_along(db: Database) -> None:
    with running(db.dsn, "worker", env={"DEFAULT_JITTER_MS": "500"}) as worker:
        worker.says("lf-sql settings set default_jitter_ms 500")
        worker.says("leading")
        wait_until(lambda: len(leaders(db)) == 1)
        assert worker.stop() == 0
        assert "stopped" in worker.output
        assert "Traceback" not in worker.output
    assert db.value("select count(*) from lenses.worker_heartbeats") == 0
    unfinished = "select count(*) from lenses.dispatch_ticks where finished_at is null"
    assert db.value(unfinished) == 0


def test_one_leads_and_a_killed_leader_is_replaced(db: Database) -> None:
    with running(db.dsn, "worker") as first:
        first.says("leading")
        with running(db.dsn, "worker") as second, running(db.dsn, "worker") as third:
            second.says("is connected")
            third.says("is connected")
            standing = "select count(*) from lenses.worker_heartbeats where not is_leader"
            wait_until(lambda: db.value(standing) == 2)
            wait_until(lambda: len(leaders(db)) == 1)
            ids = db.column("select worker_id from lenses.worker_heartbeats")
            assert len(set(ids)) == 3, "the identity is a process's, not a host's"
            first.popen.kill()
            wait_until(lambda: "leading" in second.output + third.output)
            before = db.value("select max(id) from lenses.dispatch_ticks")
            wait_until(lambda: db.value("select max(id) from lenses.dispatch_ticks") > before)


def test_a_leader_that_hangs_loses_its_session(db: Database, monkeypatch) -> None:  # noqa: ANN001
    from lf_sql import worker as module

    monkeypatch.setattr(module, "SILENCE", 1.0)
    lines: list[str] = []
    stop = threading.Event()
    with running(db.dsn, "worker") as first:
        first.says("leading")
        wait_until(lambda: leaders(db))
        first.signal(signal.SIGSTOP)
        standby = module.Worker(db.dsn, module.Settings(), stop, lines.append)
        thread = threading.Thread(target=standby.run)
        thread.start()
        try:
            wait_until(lambda: "leading" in lines)
            assert any("is silent" in line for line in lines)
            first.signal(signal.SIGCONT)
            first.says("connection lost")
            wait_until(lambda: len(leaders(db)) == 1)
        finally:
            stop.set()
            thread.join(10)


SQUAT = "select pg_advisory_lock(1818635635, 1902911537)"  # the worker's two numbers


def ticks_on(db: Database) -> bool:
    before = db.value("select max(id) from lenses.dispatch_ticks")
    return bool(
        wait_until(
            lambda: (db.value("select max(id) from lenses.dispatch_ticks") or 0) > (before or 0)
        )
    )


@pytest.fixture
def squatter(db: Database) -> Iterator[Database]:
    """A role that may only connect, and has the leader's lock."""
    db.execute(
        "do $$ begin create role lf_test_squatter login; exception when duplicate_object then null; end $$"
    )
    with db.another("lf_test_squatter") as other:
        other.execute(SQUAT)
        yield other


def test_a_lock_that_a_stranger_holds_stops_no_tick(db: Database, squatter: Database) -> None:
    pid = squatter.info.backend_pid
    with running(db.dsn, "worker") as worker:
        worker.says(f"server process {pid} (role lf_test_squatter) holds the leader's lock")
        assert ticks_on(db)
        assert len(leaders(db)) == 1
        rows = json.loads(lf_sql("schedule", "health", "--json", dsn=db.dsn).stdout)
        [line] = [row for row in rows if row["check_name"] == "lock"]
        assert (line["state"], line["label"]) == ("warn", "taken")
        assert f"server process {pid} (role lf_test_squatter)" in line["detail"]
        # As soon as the lock is free the worker has it, and nobody is named any more.
        squatter.close()
        worker.says("leading")
        rows = json.loads(lf_sql("schedule", "health", "--json", dsn=db.dsn).stdout)
        assert "lock" not in [row["check_name"] for row in rows]
        assert worker.stop() == 0


def test_of_two_without_the_lock_one_leads(db: Database, squatter: Database) -> None:
    """Who ticks without the lock beats as the leader; others find him and stand by."""
    with running(db.dsn, "worker") as first:
        first.says("ticking all the same")
        with running(db.dsn, "worker") as second:
            second.says("is connected")
            standing = "select count(*) from lenses.worker_heartbeats where not is_leader"
            wait_until(lambda: db.value(standing) == 1)
            first.popen.kill()
            second.says("ticking all the same")
            assert ticks_on(db)


def test_a_stranger_who_comes_back_again_and_again(db: Database, squatter: Database) -> None:
    """Another server process each time: what counts is that no worker leads, not who holds it."""
    stop = threading.Event()

    def squat() -> None:
        while not stop.is_set():
            with squatter.another() as other:
                other.execute(SQUAT)
                stop.wait(0.4)

    thread = threading.Thread(target=squat)
    thread.start()
    squatter.close()
    try:
        with running(db.dsn, "worker") as worker:
            wait_until(
                lambda: "ticking all the same" in worker.output or "leading" in worker.output
            )
            assert ticks_on(db)
    finally:
        stop.set()
        thread.join()


def test_a_leader_at_work_is_stood_by(db: Database) -> None:
    """In one long statement he does not beat: his session speaks for him."""
    with running(db.dsn, "worker") as first:
        first.says("leading")
        wait_until(
            lambda: db.value("select count(*) from lenses.worker_heartbeats where is_leader")
        )
        db.execute("begin; lock table lenses.worker_heartbeats in exclusive mode")
        waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'fn_worker_heartbeat'"
        with db.another() as other:
            wait_until(lambda: other.value(waiting) == 1)
        [row] = asked_by_another(db)
        assert (row["has_leader"], row["is_silent"]) == (True, False)
        db.execute("commit")


def asked_by_another(db: Database) -> list[dict[str, Any]]:
    """What a worker that stands by is told, if every beat is too old for him."""
    asked = {"class": 1818635635, "object": 1902911537, "silence": 0.0, "me": "nobody"}
    with db.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(bundle.query("worker_leader").encode(), asked).fetchall()


def test_more_slots_than_the_cap_are_left_to_the_next_tick(db: Database, tenant: TENANT) -> None:
    schedule = make_schedule(
        db,
        make_workflow(db, tenant()),
        cron_expr="* * * * *",
        queue_policy='{"onMissed": "backfill"}',
    )
    db.execute(
        "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) "
        "- interval '20 minutes' where id = %s",
        [schedule],
    )
    env = {"MAX_CATCHUP_PER_TICK": "4", "TICK_MS": "200"}
    with running(db.dsn, "worker", env=env):
        runs = "select count(*) from lenses.workflow_runs"
        wait_until(lambda: db.value(runs) >= 20)
    most = db.value("select max(dispatched) from lenses.dispatch_ticks")
    assert most == 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TICK_MS", "soon"),
        ("TICK_MS", "0"),
        ("LOOKAHEAD_MS", "600001"),
        ("LOOKAHEAD_MS", "-1"),
        ("MAX_CATCHUP_PER_TICK", "1.5"),
    ],
)
def test_a_setting_that_makes_no_sense_is_wrong_usage(
    shared_db: Database, name: str, value: str
) -> None:
    with running(shared_db.dsn, "worker", env={name: value}) as worker:
        assert worker.ends() == 2
        assert name in worker.output


def test_it_waits_while_frozen_and_goes_on_afterwards(db: Database, tenant: TENANT) -> None:
    schedule = make_schedule(db, make_workflow(db, tenant()))
    db.execute("select lenses.fn_freeze_dispatch('moving house')")
    with running(db.dsn, "worker", env={"TICK_MS": "100"}) as worker:
        worker.says("dispatching is frozen")
        due_in(db, schedule, 0)
        db.execute("select lenses.fn_unfreeze_dispatch()")
        worker.says("dispatching again")
        wait_until(lambda: db.value("select count(*) from lenses.workflow_runs") == 1)


def test_what_it_may_not_call_ends_it(db: Database) -> None:
    db.execute("revoke execute on function lenses.fn_tick_begin from service_role, lf_sql_owner")
    db.execute("create role a_worker login; grant service_role to a_worker")
    try:
        with running(f"{db.dsn} user=a_worker", "worker") as worker:
            assert worker.ends() == 1
            assert "permission denied" in worker.output
            assert "Traceback" not in worker.output
    finally:
        db.execute("drop role a_worker")


def test_nobody_answers(shared_db: Database) -> None:
    with running("host=/nowhere user=nobody", "worker") as worker:
        worker.says("waiting")
        assert worker.stop() == 1
        assert "Traceback" not in worker.output


def test_lanes_are_connections_of_the_leader(db: Database, tenant: TENANT) -> None:
    """They tick beside it while more is due than a batch; one that is killed comes back."""
    workflow = make_workflow(db, tenant())
    for _ in range(30):
        make_schedule(db, workflow)
    db.execute('select lenses.fn_set_dispatch_settings(\'{"batch_size": 5, "dispatch_lanes": 3}\')')
    lanes = "select distinct lane from lenses.dispatch_ticks where due > 0 or lane > 1 order by 1"
    runs = (
        "select count(*) as n, count(distinct (schedule_id, scheduled_for)) as slots "
        "from lenses.workflow_runs"
    )
    with running(db.dsn, "worker") as worker:
        worker.says("leading")
        wait_until(lambda: leaders(db))
        assert db.column(lanes) == []
        for round_ in (1, 2):
            db.execute("update lenses.workflow_schedules set next_run_at = clock_timestamp()")
            wait_until(lambda r=round_: tuple(db.row(runs)) == (30 * r, 30 * r))
            wait_until(lambda: db.column(lanes) == [1, 2, 3])
            if round_ == 1:
                killed = db.column(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    "where application_name = 'lf-sql worker lane' "
                    "and datname = current_database()"
                )
                assert killed and all(killed)
        beat = "select lanes from lenses.worker_heartbeats where is_leader"
        wait_until(lambda: db.column(beat) == [3])
        assert worker.stop() == 0
        assert "Traceback" not in worker.output
