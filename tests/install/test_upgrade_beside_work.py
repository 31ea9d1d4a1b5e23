"""An upgrade beside ticks, claims and readers: nobody's deadlock, nobody waits long behind it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest

from lf_sql import apply, bundle, locks, verify
from lf_sql import db as product_db
from lf_sql.bundle import Bundle, Migration
from tests.faults.plant import Plant, plant
from tests.support.cli import lf_sql, start
from tests.support.database import Database, make_tenant, wait_until
from tests.support.work import make_schedule, make_workflow

TREE = bundle.load()
FOUND = "select scheduled_for, count(*) from lenses.workflow_runs group by 1"


def later(number: int) -> Bundle:
    """A version whose migrations touch the tables that ticks and claims write, in an order of their own."""
    migrations = tuple(
        Migration(
            9000 + n, f"step_{n}",
            f"alter table lenses.workflow_run_events add constraint step_{n} check (true);\n"
            f"alter table lenses.workflow_schedules add constraint step_{n} check (true);\n"
            f"alter table lenses.workflow_runs add constraint step_{n} check (true);",
        )
        for n in range(number + 1)
    )  # fmt: skip
    return replace(TREE, version=f"99.{number}.0", migrations=(*TREE.migrations, *migrations))


@contextmanager
def working(place: Plant, minute: list[int]) -> Iterator[list[str]]:
    """Two drivers and an executor in a loop; what they were told that is no success."""
    over = threading.Event()
    errors: list[str] = []

    def loop(work: str, parameter: str) -> None:
        with place.connect() as conn:
            while not over.is_set():
                try:
                    conn.execute(work, [place.at(minute[0]) if parameter == "now" else parameter])
                except psycopg.Error as error:
                    errors.append(f"{error.sqlstate}: {error}")
                over.wait(0.01)

    tick = "select lenses.fn_dispatch_scheduled_workflows(%s)"
    claim = (
        "select lenses.fn_complete_workflow_run(c.id, 'w', '{}') "
        "from lenses.fn_claim_workflow_runs(%s, 5) as c"
    )
    threads = [
        threading.Thread(target=loop, args=args)
        for args in ((tick, "now"), (tick, "now"), (claim, "w"))
    ]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        over.set()
        for thread in threads:
            thread.join(60)


@pytest.mark.parametrize("upgrades", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_upgrades_beside_ticks_and_claims(upgrades: int) -> None:
    """No deadlock on either side, and each minute that was played has all its runs."""
    with plant() as place:
        place.fill(100)
        minute = [0]
        with place.connect() as looker, working(place, minute) as errors:
            for number in range(upgrades):
                with product_db.connect(place.server.dsn()) as conn, ThreadPoolExecutor(1) as pool:
                    upgrade = pool.submit(apply.install, conn, later(number))
                    while not upgrade.done():
                        minute[0] += 1
                        wait_until(lambda: played(looker, place, minute[0]), 120)
                    assert upgrade.result().plan.migrations
            minute[0] += 1
            wait_until(lambda: played(looker, place, minute[0]), 120)
        assert errors == []
        assert "deadlock detected" not in place.server.log
        with place.connect() as conn:
            found = dict(conn.rows(FOUND))
        assert found == {place.at(n): place.count for n in range(minute[0] + 1)}
        assert place.violations() == []
        with product_db.connect(place.server.dsn()) as conn:
            assert verify.verify(conn, later(upgrades - 1)).findings == []


def played(conn: Database, place: Plant, minute: int) -> bool:
    """Asked of the due index, which no upgrade's lock keeps from being read for long."""
    due = "select count(*) from lenses.schedule_due where due_at <= %s"
    return bool(conn.value(due, [place.at(minute)]) == 0)


@pytest.fixture
def due(db: Database) -> Database:
    make_schedule(
        db, make_workflow(db, make_tenant(db)), cron_expr="* * * * *",
        approval_policy='{"requiresApproval": false}',
    )  # fmt: skip
    db.execute("update lenses.workflow_schedules set next_run_at = date_trunc('minute', now())")
    return db


@contextmanager
def upgrading(db: Database) -> Iterator[product_db.Connection]:
    """An installer that has the right to go on, and has not yet locked the tables."""
    with product_db.connect(db.dsn) as conn, conn.transaction():
        locks.take(conn)
        yield conn


def test_ticks_and_claims_sit_out_and_go_on(due: Database) -> None:
    tick = "select lenses.fn_tick_begin('worker')"
    earlier = due.value(tick)
    with upgrading(due):
        assert due.value(tick) is None
        assert due.value("select lenses.fn_tick_step(%s)", [earlier]) is False
        assert due.value("select public.fn_dispatch_tick()") == 0
        due.execute("call lenses.sp_dispatch_tick()")
        assert due.value("select count(*) from lenses.workflow_runs") == 0
        assert due.rows("select * from lenses.fn_claim_workflow_runs('w')") == []
        assert due.rows("select * from agents.fn_claim_gateway_cron_runs('w')") == []
    while due.value("select lenses.fn_tick_step(%s)", [earlier]):
        pass
    assert len(due.rows("select * from lenses.fn_claim_workflow_runs('w')")) == 1


def test_an_upgrade_waits_for_the_tick_under_way(due: Database) -> None:
    with due.another() as driver, product_db.connect(due.dsn) as conn:
        with ThreadPoolExecutor(1) as pool:
            with driver.transaction():
                driver.execute("select lenses.fn_tick_begin('worker')")
                upgrade = pool.submit(apply.install, conn, later(0))
                gate = (
                    "select count(*) from pg_locks where locktype = 'advisory' and classid = %s "
                    "and objid = %s and granted and mode = 'ExclusiveLock'"
                )
                wait_until(lambda: due.value(gate, locks.LOCK_KEY) == 1)
                waits = "select count(*) from pg_locks where not granted"
                assert due.value(waits) == 0
                driver.execute("select count(*) from lenses.workflow_runs")
            assert upgrade.result(120).plan.migrations


def test_who_may_only_connect_stops_no_tick(due: Database) -> None:
    """The advisory locks of an upgrade without the right to lock the ledger are nobody's word."""
    due.execute("create role passer_by login")
    try:
        with due.another("passer_by") as other:
            for key in (locks.LOCK_KEY, locks.WORK_KEY):
                other.execute("select pg_advisory_lock(%s, %s)", key)
            with pytest.raises(psycopg.errors.InsufficientPrivilege), other.transaction():
                other.execute("lock table lf_sql.migrations in share update exclusive mode")
            assert due.value("select public.fn_dispatch_tick()") == 1
            assert len(due.rows("select * from lenses.fn_claim_workflow_runs('w')")) == 1
    finally:
        due.execute("drop role passer_by")


def test_behind_a_reader_it_names_him_and_lets_others_by(db: Database) -> None:
    db.execute("alter table lenses.workflows disable row level security")
    with db.another() as reader, db.another() as other:
        reader.execute("set application_name = 'monthly report'")
        with reader.transaction():
            reader.execute("select count(*) from lenses.workflows")
            pid = reader.info.backend_pid
            run = start("install", dsn=db.dsn)
            waits = (
                "select count(*) from pg_stat_activity where application_name = 'lf-sql install' "
                "and datname = current_database() and wait_event_type = 'Lock'"
            )
            wait_until(lambda: db.value(waits) == 1)
            # Under the shortest patience of the deadlock check, so that it is the installer who gives way.
            other.execute("set deadlock_timeout = '10s'; set lock_timeout = '5s'")
            assert other.value("select count(*) from lenses.workflows") == 0
            said = ""
            while "waiting" not in said:
                said = run.stderr.readline() if run.stderr else "waiting"
        out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    err = said + err
    assert f"waiting: a table of lf-sql is in use: process {pid} of the server (role" in err
    assert "application monthly report, idle in transaction, its query began at" in err
    assert "mended" in out


def test_at_the_end_of_its_patience_it_names_him(db: Database) -> None:
    db.execute("alter table lenses.workflows disable row level security")
    with db.another() as reader, reader.transaction():
        reader.execute("select count(*) from lenses.workflows")
        pid = reader.info.backend_pid
        said = lf_sql("install", "--wait", "1", dsn=db.dsn)
        assert said.returncode == 1
        assert "error: a table of lf-sql is in use" in said.stderr
        assert f"select pg_terminate_backend({pid})" in said.stderr


def test_functions_are_replaced_while_others_read(db: Database) -> None:
    """A version without migrations: the tables are locked for the rest alone."""
    db.execute("set lock_timeout = '5s'")
    locked = (
        "select count(*) from pg_locks where relation = 'lenses.workflows'::regclass "
        "and mode = 'AccessExclusiveLock'"
    )
    seen = []

    def look(line: str) -> None:
        seen.append((line, db.value(locked)))

    with product_db.connect(db.dsn) as conn:
        apply.install(conn, replace(TREE, version="99.0.0"), say=look)
    lines = [line for line, _ in seen]
    assert lines[:3] == [f"{len(TREE.sources)} sources", "locks", "roles.sql"]
    assert [count for _, count in seen[:3]] == [0, 0, 1]


def test_the_keys_are_the_same_in_sql_and_here() -> None:
    texts = [bundle.query("lock_tables")]
    texts += [s.sql for s in TREE.sources if s.name == "fn_admit_work"]
    for text in texts:
        for family, number in (locks.LOCK_KEY, locks.WORK_KEY):
            assert f"({family}, {number})" in text
