"""Housekeeping in pieces: it makes progress each tick, is fair, and stops nobody."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import psycopg
import pytest

from tests.support.database import Tenant, make_tenant
from tests.support.scenario import MONDAY, Scenario, at

TIMEOUT = "10s"  # what else a step does ends well inside it, on a loaded machine too
STILL_PAUSED = (
    "select count(*) from lenses.workflow_schedules where paused_until is not null "
    "and (%s::uuid is null or lenser_id = %s)"
)


def small_batches(scenario: Scenario, size: int) -> None:
    scenario.db.execute(
        "select lenses.fn_set_dispatch_settings(jsonb_build_object('batch_size', %s::int))", [size]
    )


def pauses(scenario: Scenario, count: int, until: datetime) -> Tenant:
    """So many pauses of one tenant with one end."""
    tenant = make_tenant(scenario.db)
    scenario.db.execute(
        "insert into lenses.workflow_schedules "
        "(workflow_id, cron_expr, approval_policy, is_active, paused_at, paused_until) "
        "select %s, '0 9 * * *', '{}', false, %s, %s from generate_series(1, %s)",
        [scenario.make_workflow(tenant), until - timedelta(hours=1), until, count],
    )
    return tenant


def crons(scenario: Scenario, count: int, due: datetime) -> Tenant:
    """So many due gateway crons of one tenant."""
    tenant = make_tenant(scenario.db)
    gateway = scenario.db.value(
        "insert into agents.gateways (lenser_id, name) values (%s, 'edge') returning id",
        [tenant.id],
    )
    scenario.db.execute(
        "insert into agents.gateway_crons (lenser_id, gateway_id, operation, cron_expr, next_run_at) "
        "select %s, %s, 'health_probe', '0 9 * * *', %s from generate_series(1, %s)",
        [tenant.id, gateway, due, count],
    )
    return tenant


def begin(scenario: Scenario) -> int:
    return scenario.db.value("select lenses.fn_tick_begin('driver')")


def step(scenario: Scenario, tick: int) -> bool:
    return scenario.db.value("select lenses.fn_tick_step(%s)", [tick])


def now(scenario: Scenario) -> datetime:
    return scenario.db.value("select date_trunc('minute', now())")


def left(scenario: Scenario, tenant: Tenant | None = None) -> int:
    mine = tenant and tenant.id
    return scenario.db.value(STILL_PAUSED, [mine, mine])


def slow(scenario: Scenario, table: str, event: str) -> None:
    """A transaction that writes more than five rows of the table takes longer than TIMEOUT."""
    scenario.db.execute(
        "create function public.slow() returns trigger language plpgsql as $$ begin "
        "perform set_config('test.rows', "
        "(coalesce(nullif(current_setting('test.rows', true), ''), '0')::int + 1)::text, true); "
        "if current_setting('test.rows')::int = 6 then perform pg_sleep(15); end if; "
        "return new; end $$"
    )
    scenario.db.execute(
        f"create trigger slow before {event} on {table} for each row execute function public.slow()"
    )


def test_pauses_end_in_pieces_between_which_others_are_dispatched(scenario: Scenario) -> None:
    small_batches(scenario, 10)
    pauses(scenario, 45, now(scenario) - timedelta(minutes=1))
    schedule = scenario.make_schedule("0 0 1 1 *", next_run_at=now(scenario))
    tick = begin(scenario)
    while not scenario.slots(schedule):
        assert step(scenario, tick)
    assert left(scenario) >= 25
    while step(scenario, tick):
        pass
    assert left(scenario) == 0


def test_each_tenants_pauses_end_in_the_first_pieces(scenario: Scenario) -> None:
    small_batches(scenario, 10)
    end = now(scenario) - timedelta(minutes=1)
    pauses(scenario, 60, end)
    small = pauses(scenario, 5, end)
    tick = begin(scenario)
    step(scenario, tick)
    assert left(scenario) == 55
    assert left(scenario, small) == 0


def test_each_tenants_gateway_crons_are_in_the_first_piece(scenario: Scenario) -> None:
    crons(scenario, 30, MONDAY)
    small = crons(scenario, 4, MONDAY)
    assert scenario.db.value("select agents.fn_dispatch_gateway_crons(%s, 10)", [MONDAY]) == 10
    assert scenario.db.value(
        "select count(*) from agents.gateway_cron_runs where lenser_id = %s", [small.id]
    ) == 4  # fmt: skip


@pytest.mark.parametrize("status", ["running", "pending_approval"])
def test_each_tenants_expired_runs_are_in_the_first_piece(scenario: Scenario, status: str) -> None:
    small = make_tenant(scenario.db)
    policies = {
        "retry_policy": {"maxRetries": 0},
        "approval_policy": {"requiresApproval": status == "pending_approval"},
    }
    for tenant, count in ((make_tenant(scenario.db), 30), (small, 4)):
        scenario.db.execute(
            "insert into lenses.workflow_runs (workflow_id, policies, approval_expires_at, status) "
            "select %s, %s, %s, %s from generate_series(1, %s)",
            [
                scenario.make_workflow(tenant), json.dumps(policies),
                at(1) if status == "pending_approval" else None,
                "pending" if status == "running" else status, count,
            ],
        )  # fmt: skip
    if status == "running":
        scenario.db.execute(
            "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
            "lease_expires_at = %s",
            [at(1)],
        )
    assert scenario.db.value("select lenses.fn_reap_runs(%s, 8)", [at(2)]) == 8
    assert scenario.db.value(
        "select count(*) from lenses.workflow_runs where lenser_id = %s and status = 'timed_out'",
        [small.id],
    ) == 4  # fmt: skip


def test_one_transaction_ends_them_all(scenario: Scenario) -> None:
    pauses(scenario, 1100, at(0))
    crons(scenario, 1100, at(0))
    scenario.tick(at(1))
    assert left(scenario) == 0
    assert scenario.db.value("select count(*) from agents.gateway_cron_runs") == 1100


@pytest.mark.parametrize(
    ("table", "event"),
    [("lenses.workflow_schedules", "update"), ("agents.gateway_cron_runs", "insert")],
    ids=["pauses", "gateway crons"],
)
@pytest.mark.parametrize("way", ["procedure", "steps"])
def test_a_part_under_a_statement_timeout_goes_on_and_stops_nobody(
    scenario: Scenario, table: str, event: str, way: str, committed: None
) -> None:
    """Each piece takes longer than the timeout until it is small enough."""
    small_batches(scenario, 20)
    due = now(scenario)
    (pauses if "schedules" in table else crons)(scenario, 20, due - timedelta(minutes=1))
    schedule = scenario.make_schedule("0 0 1 1 *", next_run_at=due)
    slow(scenario, table, event)

    def done() -> int:
        return 20 - left(scenario) if "schedules" in table else scenario.db.value(
            "select count(*) from agents.gateway_cron_runs"
        )  # fmt: skip

    with scenario.db.another() as driver:
        driver.execute(f"set statement_timeout = '{TIMEOUT}'")
        if way == "procedure":
            driver.execute("call lenses.sp_dispatch_tick()")
        else:
            tick = driver.value("select lenses.fn_tick_begin('driver')")
            while driver.value("select lenses.fn_tick_step(%s)", [tick]):
                pass
            driver.execute("select lenses.fn_tick_end(%s)", [tick])
    assert done() == 20
    assert scenario.slots(schedule) == [due]
    assert "cut off" in scenario.db.value("select note from lenses.dispatch_ticks")


def test_a_batch_that_a_statement_timeout_cuts_off_is_halved(
    scenario: Scenario, committed: None
) -> None:
    small_batches(scenario, 20)
    due = now(scenario)
    schedules = [scenario.make_schedule("0 0 1 1 *", next_run_at=due) for _ in range(20)]
    slow(scenario, "lenses.workflow_runs", "insert")
    with scenario.db.another() as driver:
        driver.execute(f"set statement_timeout = '{TIMEOUT}'")
        tick = driver.value("select lenses.fn_tick_begin('driver')")
        while driver.value("select lenses.fn_tick_step(%s)", [tick]):
            pass
        driver.execute("select lenses.fn_tick_end(%s)", [tick])
    assert all(scenario.slots(schedule) == [due] for schedule in schedules)
    assert scenario.db.value("select max(failure_count) from lenses.workflow_schedules") == 0
    [limit] = scenario.db.column("select batch_limit from lenses.dispatch_ticks")
    assert limit <= 5
    again = begin(scenario)
    assert scenario.db.value(
        "select batch_limit from lenses.dispatch_ticks where id = %s", [again]
    ) == limit * 2  # fmt: skip


@pytest.mark.parametrize("code", ["P0001", "40P01", "53100", "55P03"])
def test_a_part_that_fails_stops_no_other(scenario: Scenario, code: str, committed: None) -> None:
    due = now(scenario)
    crons(scenario, 3, due)
    pauses(scenario, 3, due - timedelta(minutes=1))
    schedule = scenario.make_schedule("0 0 1 1 *", next_run_at=due)
    scenario.db.execute(
        "create or replace function lenses.fn_reap_runs(p_now timestamptz, p_limit integer default 1000) "
        "returns integer language plpgsql set search_path = pg_catalog, pg_temp as "
        f"$$ begin raise exception 'broken' using errcode = '{code}'; end $$"
    )
    scenario.db.execute("call lenses.sp_dispatch_tick()")
    assert scenario.slots(schedule) == [due]
    assert left(scenario) == 0
    assert scenario.db.value("select count(*) from agents.gateway_cron_runs") == 3
    assert f"{code} broken" in scenario.db.value("select note from lenses.dispatch_ticks")


def test_a_cancelled_tick_stops(scenario: Scenario) -> None:
    """Who cancels it means it; only a timeout is worked around."""
    scenario.db.execute(
        "create or replace function lenses.fn_reap_runs(p_now timestamptz, p_limit integer default 1000) "
        "returns integer language plpgsql set search_path = pg_catalog, pg_temp as "
        "$$ begin raise exception 'stop' using errcode = '57014'; end $$"
    )
    tick = begin(scenario)
    with pytest.raises(psycopg.errors.QueryCanceled):
        step(scenario, tick)
