"""The dispatcher is driven by the clock of the server, and by those who may."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.database import Database
from tests.support.setups import STRANGER, acting
from tests.support.tenants import ALICE

CLOCKS = [
    "select lenses.fn_dispatch_scheduled_workflows('2099-01-01')",
    "select lenses.fn_dispatch_scheduled_workflows()",
    "select lenses.fn_dispatch_pass(1, '2099-01-01', 10, 10)",
    "select lenses.fn_open_tick('me', '2099-01-01')",
    "select lenses.fn_reap_runs('2099-01-01')",
    "select agents.fn_dispatch_gateway_crons('2099-01-01')",
    "select lenses.fn_insert_runs('{}', '2099-01-01', 'manual', 'me')",
    "select lenses.fn_purge_history_batch('2099-01-01', 1000)",
]


@pytest.mark.parametrize("sql", CLOCKS)
@pytest.mark.parametrize("role", ["anon", "authenticated", "service_role", STRANGER])
def test_nobody_brings_his_own_clock(role: str, sql: str, rooms: Database) -> None:
    """A60, A61."""
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"),
        acting(rooms, role, ALICE.claims),
    ):
        rooms.execute(sql)


def test_a_tick_begun_in_the_future_reads_the_servers_clock(rooms: Database) -> None:
    """An operator may write dispatch_ticks; the clock in it is never later than the server's."""
    rooms.execute("update lenses.workflow_schedules set next_run_at = now() + interval '1 day'")
    rooms.execute("set local role service_role")
    tick = rooms.value("select lenses.fn_tick_begin('me')")
    rooms.execute(
        "update lenses.dispatch_ticks set started_at = now() + interval '10 years' where id = %s",
        [tick],
    )
    runs = rooms.value("select count(*) from lenses.workflow_runs")
    rooms.value("select lenses.fn_tick_step(%s)", [tick])
    assert rooms.value("select count(*) from lenses.workflow_runs") == runs


@pytest.mark.parametrize("role", ["anon", "authenticated"])
@pytest.mark.parametrize(
    "sql",
    [
        "call lenses.sp_dispatch_tick()",
        "select public.fn_dispatch_tick()",
        "select public.fn_freeze_dispatch('mine')",
        "select public.fn_set_dispatch_settings('{\"batch_size\":1}')",
        "select * from public.fn_claim_workflow_runs('me', 100)",
        "select public.fn_reap_workflow_runs()",
        "call lenses.sp_purge_history()",
    ],
)
def test_tenants_do_not_drive(role: str, sql: str, rooms: Database) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"),
        acting(rooms, role, ALICE.claims),
    ):
        rooms.execute(sql)


def test_squatting_on_advisory_locks_stops_nothing(house: Database) -> None:
    """A66: the tick's liveness hangs on no advisory lock: a tenant who takes thousands of them delays nobody."""
    house.execute(
        "update lenses.workflow_schedules set is_active = true, next_run_at = date_trunc('minute', now())"
    )
    with house.another() as other, other.transaction(force_rollback=True):
        other.execute("set local role authenticated")
        other.execute("select pg_advisory_xact_lock(n) from generate_series(-500, 500) as n")
        other.execute("select pg_advisory_xact_lock(n, 1) from generate_series(0, 500) as n")
        other.execute(
            "select pg_advisory_xact_lock(1818653553, n) from generate_series(0, 50) as n"
        )
        house.execute("set lock_timeout = '500ms'")
        assert house.value("select public.fn_dispatch_tick()") == 2
        house.execute("call lenses.sp_dispatch_tick()")


def test_a_locked_schedule_is_passed_by(house: Database) -> None:
    house.execute(
        "update lenses.workflow_schedules set is_active = true, next_run_at = date_trunc('minute', now())"
    )
    with house.another() as other, other.transaction(force_rollback=True):
        other.execute(
            "select from lenses.workflow_schedules where id = %s for update", [ALICE.schedule]
        )
        house.execute("set lock_timeout = '500ms'")
        assert house.value("select public.fn_dispatch_tick()") == 1


@pytest.mark.parametrize("role", ["anon", "authenticated", "service_role"])
@pytest.mark.parametrize(
    "sql",
    [
        "select * from cron.job",
        "select cron.schedule('mine', '* * * * *', 'select 1')",
        "select cron.unschedule('dispatch-scheduled-workflows')",
        "update cron.job set active = false",
    ],
)
def test_pg_cron_is_out_of_reach(role: str, sql: str, rooms: Database) -> None:
    """A62, A63: with the schema as pg_cron makes it, and our install beside it."""
    rooms.execute("create schema cron")
    rooms.execute("create table cron.job (jobname text, active boolean)")
    for signature in ("schedule(a text, b text, c text)", "unschedule(a text)"):
        rooms.execute(
            f"create function cron.{signature} returns bigint language sql as 'select 1::bigint'"
        )
    with pytest.raises(psycopg.errors.InsufficientPrivilege), acting(rooms, role, ALICE.claims):
        rooms.execute(sql)
