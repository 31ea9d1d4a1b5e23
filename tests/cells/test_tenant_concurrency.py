"""Ticks, claims, completions and the tenant's own calls while it departs: no deadlock, nothing lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

import psycopg
import pytest

from lf_sql import db as product_db
from lf_sql.cells import tenant
from tests.cells.scene import TwoCells, refused
from tests.support.database import Database, as_user, wait_until
from tests.support.run_scenario import RunScenario
from tests.support.scenario import at, minutes


def is_blocked(db: Database, pid: int) -> bool:
    return bool(db.value("select cardinality(pg_blocking_pids(%s)) > 0", [pid]))


def in_thread(act: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


def test_a_call_under_way_is_waited_for(two_cells: TwoCells) -> None:
    """What a call has written before the departure goes along."""
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    pid = one.conn.info.backend_pid
    with one.db.another() as caller:
        with as_user(caller, scenario.tenant) as conn:
            workflow = conn.value("select id from public.fn_upsert_workflow(p_title => 'late')")
            thread, errors = in_thread(lambda: tenant.depart(one.conn, [scenario.tenant.id], "two"))
            wait_until(lambda: is_blocked(one.db, pid))
        thread.join()
    assert errors == []
    assert tenant.carry(one.conn, two.conn, scenario.tenant.id)
    assert two.db.value("select title from lenses.workflows where id = %s", [workflow]) == "late"


def test_a_call_that_comes_second_is_refused(two_cells: TwoCells) -> None:
    """It has looked for its tenant before the departure commits, and writes nothing after."""
    one = two_cells.one
    scenario = RunScenario(one.db)
    schedule = scenario.make_schedule()
    calls = [
        ("authenticated", "select public.fn_upsert_workflow(p_title => 'late')"),
        ("authenticated", f"select public.fn_pause_workflow_schedule('{schedule}')"),
        ("authenticated", f"select public.fn_run_workflow_schedule_now('{schedule}')"),
        ("service_role", f"insert into lenses.workflow_runs (workflow_id) "
                         f"values ('{scenario.workflow}')"),
    ]  # fmt: skip
    before = one.rows(scenario.tenant.id)
    sessions = [one.db.another() for _ in calls]
    waiting = []
    with one.conn.transaction():
        one.conn.execute(
            "select lenses.fn_depart_tenants(%s::uuid[], 'two')", [[scenario.tenant.id]]
        )
        for session, (role, query) in zip(sessions, calls, strict=True):

            def call(session: Database = session, role: str = role, query: str = query) -> None:
                with as_user(session, scenario.tenant, role) as conn:
                    conn.execute(query)

            waiting.append(in_thread(call))
            pid = session.info.backend_pid
            wait_until(lambda pid=pid: is_blocked(one.db, pid))
    for thread, errors in waiting:
        thread.join()
        assert [getattr(error, "sqlstate", error) for error in errors] == ["42501"]
    for session in sessions:
        session.close()
    tenant.take_back(one.conn, [scenario.tenant.id])
    assert one.rows(scenario.tenant.id) == before


def test_a_tick_under_way_is_waited_for(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    schedule = scenario.make_schedule("* * * * *")
    pid = one.conn.info.backend_pid
    with one.db.another() as ticker:
        with ticker.transaction():
            ticker.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [at(0)])
            thread, errors = in_thread(lambda: tenant.depart(one.conn, [scenario.tenant.id], "two"))
            wait_until(lambda: is_blocked(one.db, pid))
        thread.join()
    assert errors == []
    assert tenant.carry(one.conn, two.conn, scenario.tenant.id)
    two.tick(at(1))
    assert two.live_slots(schedule) == minutes(0, 1)


def test_a_claim_first_means_running(two_cells: TwoCells) -> None:
    one = two_cells.one
    scenario = RunScenario(one.db)
    run = scenario.run()
    pid = one.conn.info.backend_pid
    with one.db.another() as executor:
        with as_user(executor, None, "service_role") as conn:
            conn.execute("select lenses.fn_claim_workflow_runs('w', 1, interval '1 hour')")
            thread, errors = in_thread(lambda: tenant.depart(one.conn, [scenario.tenant.id], "two"))
            wait_until(lambda: is_blocked(one.db, pid))
        thread.join()
    assert [type(error) for error in errors] == [psycopg.errors.ObjectInUse]
    assert one.status(run) == "running"
    assert one.presence(scenario.tenant.id) == "here"


def test_no_deadlock_under_load(two_cells: TwoCells) -> None:
    """A tick, an executor and the tenant's calls go on while it departs and is taken back."""
    one = two_cells.one
    scenario = RunScenario(one.db)
    schedules = [
        scenario.make_schedule("* * * * *", queue_policy={"mode": "serial", "onOverlap": "replace"})
        for _ in range(20)
    ]
    is_over, has_work, is_idle = threading.Event(), threading.Event(), threading.Event()
    done: list[UUID] = []

    def tick() -> None:
        with one.db.another() as conn:
            minute = 0
            while not is_over.is_set():
                conn.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [at(minute)])
                minute += 1

    def execute() -> None:
        with one.db.another() as conn:
            while not is_over.is_set():
                is_idle.set()
                has_work.wait()
                is_idle.clear()
                has_work.clear()
                with as_user(conn, None, "service_role") as executor:
                    runs = executor.column(
                        "select id from lenses.fn_claim_workflow_runs('w', 3, interval '1 hour')"
                    )
                for run in runs:
                    with as_user(conn, None, "service_role") as executor:
                        executor.execute(
                            "select lenses.fn_complete_workflow_run(%s, 'w', '{}')", [run]
                        )
                done.extend(runs)

    def call() -> None:
        with one.db.another() as conn:
            number = 0
            while not is_over.is_set():
                number += 1
                with (
                    suppress(psycopg.errors.InsufficientPrivilege),  # it has departed just now
                    as_user(conn, scenario.tenant) as own,
                ):
                    own.execute("select public.fn_upsert_workflow(p_title => 'x')")
                    own.execute(
                        "select public.fn_set_schedule_condition(%s, null)",
                        [schedules[number % 20]],
                    )

    def departed() -> bool:
        """A loaded machine's ticks hold the schedules for longer than a departure waits."""
        try:
            tenant.depart(conn, [scenario.tenant.id], "two")
        except psycopg.errors.ObjectInUse:
            wait_until(is_idle.is_set)
            return False
        except psycopg.errors.LockNotAvailable:
            return False
        return True

    threads = [in_thread(act) for act in (tick, execute, call)]
    with product_db.connect(one.db.dsn) as conn:
        for _ in range(6):
            has_work.set()
            wait_until(departed)
            tenant.take_back(conn, [scenario.tenant.id])
    is_over.set()
    has_work.set()
    for thread, errors in threads:
        thread.join()
        assert errors == []
    assert len(done) == len(set(done))


def test_a_take_back_waits_for_a_carry(two_cells: TwoCells) -> None:
    """The source's profile is held while its rows are on their way."""
    one = two_cells.one
    scenario = RunScenario(one.db)
    tenant.depart(one.conn, [scenario.tenant.id], "two")
    with one.db.another() as other, one.conn.transaction():
        one.conn.execute(
            "select count(*) from lenses.fn_tenant_rows(p_lenser_id => %s)", [scenario.tenant.id]
        )
        other.execute("set lock_timeout = '50ms'")
        with refused("55P03"):
            other.execute("select lenses.fn_return_tenants(%s::uuid[])", [[scenario.tenant.id]])


def test_calls_of_one_tenant_wait_for_nothing_of_each_other(
    two_cells: TwoCells, committed: None
) -> None:
    """Each may write its profile afterwards: no call holds the row of another."""
    one = two_cells.one
    scenario = RunScenario(one.db)
    call = "select public.fn_upsert_workflow(p_title => 'mine')"
    name = "update lensers.profiles set display_name = 'new' where id = %s"
    with one.db.another() as first, one.db.another() as second:
        with as_user(first, scenario.tenant) as a, as_user(second, scenario.tenant) as b:
            a.execute(call)
            b.execute(call)
            a.execute("set local role service_role")
            a.execute("set local lock_timeout = '10s'")
            a.execute(name, [scenario.tenant.id])


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_a_transaction_older_than_the_departure_writes_nothing(
    two_cells: TwoCells, committed: None, isolation: str
) -> None:
    one = two_cells.one
    scenario = RunScenario(one.db)
    with one.db.another() as caller, caller.transaction(force_rollback=True):
        caller.execute(f"set transaction isolation level {isolation}")
        caller.execute("select count(*) from lenses.workflows")
        tenant.depart(one.conn, [scenario.tenant.id], "two")
        with refused("42501" if isolation == "read committed" else "40001"):
            with as_user(caller, scenario.tenant) as conn:
                conn.execute("select public.fn_upsert_workflow(p_title => 'late')")


INSERTS = {
    "lenses.workflow_schedules": "insert into lenses.workflow_schedules "
    "(lenser_id, workflow_id, schedule_type, cron_expr) "
    "select lenser_id, id, 'cron', '* * * * *' from lenses.workflows",
    "lenses.workflow_runs": "insert into lenses.workflow_runs "
    "(lenser_id, workflow_id, workflow_version, idempotency_key, trigger_mode, policies) "
    "select lenser_id, id, 1, 'by hand', 'manual', "
    """'{"approval_policy": {"requiresApproval": false}}' from lenses.workflows""",
}


@pytest.mark.parametrize("table", INSERTS)
def test_a_row_that_the_owner_has_not_committed_is_waited_for(
    two_cells: TwoCells, committed: None, table: str
) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    pid = one.conn.info.backend_pid
    with one.db.another() as owner, owner.transaction():
        owner.execute(INSERTS[table])
        thread, errors = in_thread(lambda: tenant.depart(one.conn, [scenario.tenant.id], "two"))
        wait_until(lambda: is_blocked(one.db, pid))
    thread.join()
    assert errors == []
    assert one.db.value("select count(*) from lenses.schedule_due") == 0
    assert one.claim() == []
    assert tenant.carry(one.conn, two.conn, scenario.tenant.id)
    assert two.db.value(f"select count(*) from {table}") == 1
