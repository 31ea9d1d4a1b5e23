"""No gateway cron is silently dead: a missing next slot is computed, whatever made it missing."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest

from tests.gateways.conftest import NOON, Gateway
from tests.support.database import Database, as_user
from tests.support.work import unguarded

TICK = "select lenses.fn_dispatch_scheduled_workflows(%s)"
LOST = "Atlantis/Capital"


def cron(db: Database, cron_id: uuid.UUID) -> Any:
    return db.row("select * from agents.gateway_crons where id = %s", [cron_id])


def slots(db: Database) -> list[Any]:
    return db.column("select scheduled_for from agents.gateway_cron_runs order by 1")


def first_after_now(db: Database, cron_id: uuid.UUID) -> Any:
    return db.value(
        "select lenses.fn_cron_next_after_spec(c.cron_spec, c.timezone, now()) "
        "from agents.gateway_crons as c where c.id = %s",
        [cron_id],
    )


def put_zone(db: Database, cron_id: uuid.UUID, zone: str) -> None:
    """What the server calls the cron's zone: none has Atlantis."""
    with unguarded(db, "agents.gateway_crons"):
        db.execute("update agents.gateway_crons set timezone = %s where id = %s", [zone, cron_id])


@pytest.mark.parametrize("role", [None, "service_role"])
def test_null_means_compute_it(db: Database, gateway: Gateway, role: str | None) -> None:
    cron_id = gateway.cron("*/7 * * * *")
    query = "update agents.gateway_crons set next_run_at = null where id = %s"
    if role is None:
        db.execute(query, [cron_id])
    else:
        with as_user(db, None, role=role):
            db.execute(query, [cron_id])
    assert cron(db, cron_id).next_run_at == first_after_now(db, cron_id)


def test_the_tick_revives_where_the_zone_is_back(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    put_zone(db, cron_id, LOST)
    db.execute(TICK, [NOON])
    found = cron(db, cron_id)
    assert (found.next_run_at, found.last_status) == (None, "validation_failed")
    assert db.rows("select * from lenses.fn_invariant_violations()") == []
    (line,) = db.rows("select * from lenses.fn_health_gateway_crons(null)")
    assert (line.label, line.state) == ("ZONE_GONE", "bad")
    put_zone(db, cron_id, "Asia/Tokyo")
    (broken,) = db.rows("select * from lenses.fn_invariant_violations()")
    assert (broken.invariant, broken.subject) == ("gateway_cron_has_next", cron_id)
    db.execute(TICK, [NOON + timedelta(minutes=6)])
    found = cron(db, cron_id)
    assert (found.next_run_at, found.last_status) == (NOON + timedelta(minutes=10), None)


def test_a_cron_without_its_zone_can_be_switched_off(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    put_zone(db, cron_id, LOST)
    db.execute(TICK, [NOON])
    with as_user(db, gateway.owner):
        db.execute("select public.fn_gateway_cron_update(%s, p_is_active => false)", [cron_id])
    assert not cron(db, cron_id).is_active


def test_a_tick_of_the_future_parks_nothing(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    db.execute(TICK, [NOON])
    db.execute(TICK, [NOON + timedelta(hours=3)])
    assert cron(db, cron_id).next_run_at > NOON + timedelta(hours=3)
    for minute in range(1, 190):
        db.execute(TICK, [NOON + timedelta(minutes=minute)])
    assert slots(db) == [NOON + timedelta(minutes=minute) for minute in range(0, 190, 5)]


def test_a_gateway_that_is_gone_is_named(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    db.execute("set session_replication_role = replica")
    db.execute("delete from agents.gateways")
    db.execute("reset session_replication_role")
    (broken,) = db.rows("select * from lenses.fn_invariant_violations()")
    assert (broken.invariant, broken.subject) == ("parent_exists", cron_id)
    labels = db.column("select label from lenses.fn_health_gateway_crons(null)")
    assert "PARENT_GONE" in labels


def test_recompute(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    find = "select id, label from lenses.fn_misplaced_schedules() where resource = 'gateway cron'"
    assert db.rows(find) == [(cron_id, "PARKED")]
    row = db.row("select * from agents.fn_recompute_gateway_cron(%s)", [cron_id])
    assert row.next_run_at == first_after_now(db, cron_id)
    assert db.rows(find) == []
