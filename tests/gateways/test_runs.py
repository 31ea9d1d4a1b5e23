"""Runs of gateway crons: claim, lease, heartbeat, end; each ends once."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest

from tests.gateways.conftest import NOON, Gateway
from tests.support.database import Database, Tenant, as_user


def tick(db: Database, minutes: int = 0) -> None:
    db.execute("select agents.fn_dispatch_gateway_crons(%s)", [NOON + timedelta(minutes=minutes)])


def claim(db: Database, worker: str = "w1", limit: int = 1) -> list[uuid.UUID]:
    return db.column("select id from public.fn_claim_gateway_cron_runs(%s, %s)", [worker, limit])


def status(db: Database, run_id: uuid.UUID) -> str:
    return db.value("select status from agents.gateway_cron_runs where id = %s", [run_id])


def test_runs_are_claimed_oldest_first_and_once(db: Database, gateway: Gateway) -> None:
    gateway.cron()
    for minutes in (0, 5, 10):
        tick(db, minutes)
    with as_user(db, None, "service_role"):
        claimed = db.rows("select * from public.fn_claim_gateway_cron_runs('w1', 2)")
        assert [row.scheduled_for for row in claimed] == [NOON, NOON + timedelta(minutes=5)]
        assert {(row.status, row.worker_id) for row in claimed} == {("running", "w1")}
        assert all(row.lease_expires_at > row.started_at for row in claimed)
        assert len(claim(db, "w2", 10)) == 1
        assert claim(db, "w2", 10) == []


def test_a_runtime_claims_for_its_own_gateway(
    db: Database,
    gateway: Gateway,
    tenant: Callable[..., Tenant],
    gateway_of: Callable[[Tenant], Gateway],
) -> None:
    other = gateway_of(tenant())
    gateway.cron()
    other.cron()
    tick(db)
    claimed = db.rows(
        "select * from agents.fn_claim_gateway_cron_runs('w', 10, '1 minute', %s)", [other.id]
    )
    assert [row.gateway_id for row in claimed] == [other.id]


def test_two_claims_at_once_share_the_work(db: Database, gateway: Gateway, committed: None) -> None:
    gateway.cron()
    for minutes in (0, 5):
        tick(db, minutes)
    with db.another() as other, other.transaction():
        db.execute("set lock_timeout = '10s'")
        first = other.column("select id from agents.gateway_cron_runs order by created_at limit 1")
        other.execute("select from agents.gateway_cron_runs where id = %s for update", first)
        second = claim(db, limit=10)
        assert len(second) == 1
        assert second != first


def test_completion_ends_a_run_once(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    tick(db)
    with as_user(db, None, "service_role"):
        [run_id] = claim(db)
        end = "select public.fn_complete_gateway_cron_run(%s, %s, %s)"
        assert db.value(end, [run_id, "w2", "{}"]) is False
        assert db.value(end, [run_id, "w1", '{"models": 3}']) is True
        assert db.value(end, [run_id, "w1", '{"models": 4}']) is False
        fail = "select public.fn_fail_gateway_cron_run(%s, %s, %s)"
        assert db.value(fail, [run_id, "w1", "late"]) is False
    run = db.row("select * from agents.gateway_cron_runs where id = %s", [run_id])
    assert (run.status, run.result, run.lease_expires_at) == ("completed", {"models": 3}, None)
    assert run.completed_at is not None
    assert db.value("select last_status from agents.gateway_crons where id = %s", [cron_id]) == (
        "completed"
    )


def test_failure_keeps_the_error(db: Database, gateway: Gateway) -> None:
    gateway.cron()
    tick(db)
    [run_id] = claim(db)
    assert db.value(
        "select agents.fn_fail_gateway_cron_run(%s, 'w1', 'connection refused')", [run_id]
    )
    run = db.row("select status, error from agents.gateway_cron_runs where id = %s", [run_id])
    assert (run.status, run.error) == ("failed", "connection refused")


# The last two compare as a day and a second: a year of 360 days.
@pytest.mark.parametrize(
    "lease", ["0", "-1 second", "25 hours", "12 months -359 days", "-12 months 360 days 1 second"]
)
def test_a_lease_is_more_than_0_and_at_most_a_day(
    db: Database, gateway: Gateway, lease: str
) -> None:
    gateway.cron()
    tick(db)
    [run_id] = claim(db)
    before = db.row("select * from agents.gateway_cron_runs")
    for call in (
        "fn_claim_gateway_cron_runs('w1', 1, %(lease)s)",
        "fn_heartbeat_gateway_cron_run(%(run)s, 'w1', %(lease)s)",
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="p_lease"), db.transaction():
            db.execute(f"select agents.{call}", {"lease": lease, "run": run_id})
    assert db.row("select * from agents.gateway_cron_runs") == before


def test_an_expired_lease_times_out_with_the_tick(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    tick(db)
    [run_id] = claim(db)
    beat = "select agents.fn_heartbeat_gateway_cron_run(%s, %s, '1 hour')"
    assert db.value(beat, [run_id, "w1"]) is True
    assert db.value(beat, [run_id, "w2"]) is False
    lease = db.value(
        "select lease_expires_at from agents.gateway_cron_runs where id = %s", [run_id]
    )
    db.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [lease - timedelta(seconds=1)])
    assert status(db, run_id) == "running"
    db.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [lease])
    assert status(db, run_id) == "timed_out"
    assert db.value(beat, [run_id, "w1"]) is False
    last = db.value("select last_status from agents.gateway_crons where id = %s", [cron_id])
    assert last == "timed_out"


def test_only_the_newest_run_tells_how_the_cron_stands(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    tick(db)
    [old] = claim(db)
    tick(db, 5)
    db.execute("select agents.fn_fail_gateway_cron_run(%s, 'w1', 'x')", [old])
    last = db.value("select last_status from agents.gateway_crons where id = %s", [cron_id])
    assert last == "pending"


@pytest.mark.parametrize(
    "change",
    [
        "status = 'completed'",
        "status = 'failed'",
        "scheduled_for = now()",
        "payload = '{\"x\": 1}'",
        "operation = 'other'",
    ],
)
def test_a_pending_run_takes_no_shortcut(db: Database, gateway: Gateway, change: str) -> None:
    gateway.cron()
    tick(db)
    with (
        pytest.raises(psycopg.errors.InvalidParameterValue),
        as_user(db, None, "service_role"),
    ):
        db.execute(f"update agents.gateway_cron_runs set {change}")


@pytest.mark.parametrize(
    ("worker", "limit", "lease"),
    [("", 1, "1 min"), ("w", 0, "1 min"), ("w", 1001, "1 min"), ("w", 1, "0"), ("w", 1, "2 days")],
)
def test_a_claim_that_makes_no_sense_is_refused(
    db: Database, worker: str, limit: int, lease: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        db.execute("select agents.fn_claim_gateway_cron_runs(%s, %s, %s)", [worker, limit, lease])
    assert caught.value.diag.message_hint


def test_runs_outlive_their_cron_and_go_on(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    tick(db)
    [run_id] = claim(db)
    with as_user(db, gateway.owner):
        db.execute("select public.fn_gateway_cron_remove(%s)", [cron_id])
    assert db.value("select agents.fn_complete_gateway_cron_run(%s, 'w1', null)", [run_id])
    run = db.row("select * from agents.gateway_cron_runs where id = %s", [run_id])
    assert (run.gateway_cron_id, run.status, run.operation) == (None, "completed", "health_probe")
