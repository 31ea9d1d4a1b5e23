"""Housekeeping in pieces: it makes progress each tick, is fair, and stops nobody."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import psycopg
import pytest

from tests.dispatch.conftest import MONDAY, House, at
from tests.support.database import Tenant, make_tenant

STILL_PAUSED = (
    "select count(*) from lenses.workflow_schedules where paused_until is not null "
    "and (%s::uuid is null or lenser_id = %s)"
)


def small_batches(house: House, size: int) -> None:
    house.db.execute(
        "select lenses.fn_set_dispatch_settings(jsonb_build_object('batch_size', %s::int))", [size]
    )


def pauses(house: House, count: int, until: datetime) -> Tenant:
    """So many pauses of one tenant with one end."""
    tenant = make_tenant(house.db)
    house.db.execute(
        "insert into lenses.workflow_schedules "
        "(workflow_id, cron_expr, approval_policy, is_active, paused_at, paused_until) "
        "select %s, '0 9 * * *', '{}', false, %s, %s from generate_series(1, %s)",
        [house.make_workflow(tenant), until - timedelta(hours=1), until, count],
    )
    return tenant


def crons(house: House, count: int, due: datetime) -> Tenant:
    """So many due gateway crons of one tenant."""
    tenant = make_tenant(house.db)
    gateway = house.db.value(
        "insert into agents.gateways (lenser_id, name) values (%s, 'edge') returning id",
        [tenant.id],
    )
    house.db.execute(
        "insert into agents.gateway_crons (lenser_id, gateway_id, operation, cron_expr, next_run_at) "
        "select %s, %s, 'health_probe', '0 9 * * *', %s from generate_series(1, %s)",
        [tenant.id, gateway, due, count],
    )
    return tenant


def begin(house: House) -> int:
    return house.db.value("select lenses.fn_tick_begin('driver')")


def step(house: House, tick: int) -> bool:
    return house.db.value("select lenses.fn_tick_step(%s)", [tick])


def now(house: House) -> datetime:
    return house.db.value("select date_trunc('minute', now())")


def left(house: House, tenant: Tenant | None = None) -> int:
    mine = tenant and tenant.id
    return house.db.value(STILL_PAUSED, [mine, mine])


def slow(house: House, table: str, event: str, seconds: float) -> None:
    """Each row of the table takes its time."""
    house.db.execute(
        "create function public.slow() returns trigger language plpgsql as $$ begin "
        f"perform pg_sleep({seconds}); return new; end $$"
    )
    house.db.execute(
        f"create trigger slow before {event} on {table} for each row execute function public.slow()"
    )


def test_pauses_end_in_pieces_between_which_others_are_dispatched(house: House) -> None:
    small_batches(house, 10)
    pauses(house, 45, now(house) - timedelta(minutes=1))
    schedule = house.make_schedule("0 0 1 1 *", next_run_at=now(house))
    tick = begin(house)
    while not house.slots(schedule):
        assert step(house, tick)
    assert left(house) >= 25
    while step(house, tick):
        pass
    assert left(house) == 0


def test_each_tenants_pauses_end_in_the_first_pieces(house: House) -> None:
    small_batches(house, 10)
    end = now(house) - timedelta(minutes=1)
    pauses(house, 60, end)
    small = pauses(house, 5, end)
    tick = begin(house)
    step(house, tick)
    assert left(house) == 55
    assert left(house, small) == 0


def test_each_tenants_gateway_crons_are_in_the_first_piece(house: House) -> None:
    crons(house, 30, MONDAY)
    small = crons(house, 4, MONDAY)
    assert house.db.value("select agents.fn_dispatch_gateway_crons(%s, 10)", [MONDAY]) == 10
    assert house.db.value(
        "select count(*) from agents.gateway_cron_runs where lenser_id = %s", [small.id]
    ) == 4  # fmt: skip


@pytest.mark.parametrize("status", ["running", "pending_approval"])
def test_each_tenants_expired_runs_are_in_the_first_piece(house: House, status: str) -> None:
    small = make_tenant(house.db)
    policies = {
        "retry_policy": {"maxRetries": 0},
        "approval_policy": {"requiresApproval": status == "pending_approval"},
    }
    for tenant, count in ((make_tenant(house.db), 30), (small, 4)):
        house.db.execute(
            "insert into lenses.workflow_runs (workflow_id, policies, approval_expires_at, status) "
            "select %s, %s, %s, %s from generate_series(1, %s)",
            [
                house.make_workflow(tenant), json.dumps(policies),
                at(1) if status == "pending_approval" else None,
                "pending" if status == "running" else status, count,
            ],
        )  # fmt: skip
    if status == "running":
        house.db.execute(
            "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
            "lease_expires_at = %s",
            [at(1)],
        )
    assert house.db.value("select lenses.fn_reap_runs(%s, 8)", [at(2)]) == 8
    assert house.db.value(
        "select count(*) from lenses.workflow_runs where lenser_id = %s and status = 'timed_out'",
        [small.id],
    ) == 4  # fmt: skip


def test_one_transaction_ends_them_all(house: House) -> None:
    pauses(house, 1100, at(0))
    crons(house, 1100, at(0))
    house.tick(at(1))
    assert left(house) == 0
    assert house.db.value("select count(*) from agents.gateway_cron_runs") == 1100


@pytest.mark.parametrize(
    ("table", "event"),
    [("lenses.workflow_schedules", "update"), ("agents.gateway_cron_runs", "insert")],
    ids=["pauses", "gateway crons"],
)
@pytest.mark.parametrize("way", ["procedure", "steps"])
def test_a_part_under_a_statement_timeout_goes_on_and_stops_nobody(
    house: House, table: str, event: str, way: str
) -> None:
    """Each piece takes longer than the timeout until it is small enough."""
    due = now(house)
    (pauses if "schedules" in table else crons)(house, 40, due - timedelta(minutes=1))
    schedule = house.make_schedule("0 0 1 1 *", next_run_at=due)
    slow(house, table, event, 0.05)

    def done() -> int:
        return 40 - left(house) if "schedules" in table else house.db.value(
            "select count(*) from agents.gateway_cron_runs"
        )  # fmt: skip

    with house.db.another() as driver:
        driver.execute("set statement_timeout = '700ms'")
        if way == "procedure":
            driver.execute("call lenses.sp_dispatch_tick()")
        else:
            tick = driver.value("select lenses.fn_tick_begin('driver')")
            while driver.value("select lenses.fn_tick_step(%s)", [tick]):
                pass
            driver.execute("select lenses.fn_tick_end(%s)", [tick])
    assert done() == 40
    assert house.slots(schedule) == [due]
    assert "cut off" in house.db.value("select note from lenses.dispatch_ticks")


def test_a_batch_that_a_statement_timeout_cuts_off_is_halved(house: House) -> None:
    due = now(house)
    schedules = [house.make_schedule("0 0 1 1 *", next_run_at=due) for _ in range(24)]
    slow(house, "lenses.workflow_runs", "insert", 0.05)
    with house.db.another() as driver:
        driver.execute("set statement_timeout = '600ms'")
        tick = driver.value("select lenses.fn_tick_begin('driver')")
        while driver.value("select lenses.fn_tick_step(%s)", [tick]):
            pass
        driver.execute("select lenses.fn_tick_end(%s)", [tick])
    assert all(house.slots(schedule) == [due] for schedule in schedules)
    assert house.db.value("select max(failure_count) from lenses.workflow_schedules") == 0
    [limit] = house.db.column("select batch_limit from lenses.dispatch_ticks")
    assert limit < 24
    again = begin(house)
    assert house.db.value(
        "select batch_limit from lenses.dispatch_ticks where id = %s", [again]
    ) == limit * 2  # fmt: skip


@pytest.mark.parametrize("code", ["P0001", "40P01", "53100", "55P03"])
def test_a_part_that_fails_stops_no_other(house: House, code: str) -> None:
    due = now(house)
    crons(house, 3, due)
    pauses(house, 3, due - timedelta(minutes=1))
    schedule = house.make_schedule("0 0 1 1 *", next_run_at=due)
    house.db.execute(
        "create or replace function lenses.fn_reap_runs(p_now timestamptz, p_limit integer default 1000) "
        "returns integer language plpgsql set search_path = pg_catalog, pg_temp as "
        f"$$ begin raise exception 'broken' using errcode = '{code}'; end $$"
    )
    house.db.execute("call lenses.sp_dispatch_tick()")
    assert house.slots(schedule) == [due]
    assert left(house) == 0
    assert house.db.value("select count(*) from agents.gateway_cron_runs") == 3
    assert f"{code} broken" in house.db.value("select note from lenses.dispatch_ticks")


def test_a_cancelled_tick_stops(house: House) -> None:
    """Who cancels it means it; only a timeout is worked around."""
    house.db.execute(
        "create or replace function lenses.fn_reap_runs(p_now timestamptz, p_limit integer default 1000) "
        "returns integer language plpgsql set search_path = pg_catalog, pg_temp as "
        "$$ begin raise exception 'stop' using errcode = '57014'; end $$"
    )
    tick = begin(house)
    with pytest.raises(psycopg.errors.QueryCanceled):
        step(house, tick)
