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
    "select lenses.fn_begin_tick_at('me', '2099-01-01')",
    "select lenses.fn_reap_runs('2099-01-01')",
    "select agents.fn_dispatch_gateway_crons('2099-01-01')",
    "select lenses.fn_insert_runs('{}', '2099-01-01', 'manual', 'me')",
    "select lenses.fn_purge_history_batch('2099-01-01', 1000)",
]


@pytest.mark.parametrize("sql", CLOCKS)
@pytest.mark.parametrize("role", ["anon", "authenticated", "service_role", STRANGER])
def test_nobody_brings_his_own_clock(role: str, sql: str, two_tenants: Database) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"),
        acting(two_tenants, role, ALICE.claims),
    ):
        two_tenants.execute(sql)


def test_a_tick_begun_in_the_future_reads_the_servers_clock(two_tenants: Database) -> None:
    """An operator may write dispatch_ticks; the clock in it is never later than the server's."""
    two_tenants.execute(
        "update lenses.workflow_schedules set next_run_at = now() + interval '1 day'"
    )
    two_tenants.execute("set local role service_role")
    tick = two_tenants.value("select lenses.fn_tick_begin('me')")
    two_tenants.execute(
        "update lenses.dispatch_ticks set started_at = now() + interval '10 years' where id = %s",
        [tick],
    )
    runs = two_tenants.value("select count(*) from lenses.workflow_runs")
    two_tenants.value("select lenses.fn_tick_step(%s)", [tick])
    assert two_tenants.value("select count(*) from lenses.workflow_runs") == runs


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
def test_tenants_do_not_drive(role: str, sql: str, two_tenants: Database) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"),
        acting(two_tenants, role, ALICE.claims),
    ):
        two_tenants.execute(sql)


def test_squatting_on_advisory_locks_stops_nothing(own_two_tenants: Database) -> None:
    """The tick's liveness hangs on no advisory lock: a tenant who takes thousands of them delays nobody."""
    own_two_tenants.execute(
        "update lenses.workflow_schedules set is_active = true, next_run_at = date_trunc('minute', now())"
    )
    with own_two_tenants.another() as other, other.transaction(force_rollback=True):
        other.execute("set local role authenticated")
        other.execute("select pg_advisory_xact_lock(n) from generate_series(-500, 500) as n")
        other.execute("select pg_advisory_xact_lock(n, 1) from generate_series(0, 500) as n")
        other.execute(
            "select pg_advisory_xact_lock(1818653553, n) from generate_series(0, 50) as n"
        )
        own_two_tenants.execute("set lock_timeout = '500ms'")
        assert own_two_tenants.value("select public.fn_dispatch_tick()") == 2
        own_two_tenants.execute("call lenses.sp_dispatch_tick()")


def test_a_locked_schedule_is_passed_by(own_two_tenants: Database) -> None:
    own_two_tenants.execute(
        "update lenses.workflow_schedules set is_active = true, next_run_at = date_trunc('minute', now())"
    )
    with own_two_tenants.another() as other, other.transaction(force_rollback=True):
        other.execute(
            "select from lenses.workflow_schedules where id = %s for update", [ALICE.schedule]
        )
        own_two_tenants.execute("set lock_timeout = '500ms'")
        assert own_two_tenants.value("select public.fn_dispatch_tick()") == 1


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
def test_pg_cron_is_out_of_reach(role: str, sql: str, two_tenants: Database) -> None:
    """With the schema as pg_cron makes it, and our install beside it."""
    two_tenants.execute("create schema cron")
    two_tenants.execute("create table cron.job (jobname text, active boolean)")
    for signature in ("schedule(a text, b text, c text)", "unschedule(a text)"):
        two_tenants.execute(
            f"create function cron.{signature} returns bigint language sql as 'select 1::bigint'"
        )
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        acting(two_tenants, role, ALICE.claims),
    ):
        two_tenants.execute(sql)
