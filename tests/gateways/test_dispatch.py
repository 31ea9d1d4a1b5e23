"""The tick turns due gateway crons into one run each, for the newest slot, whatever was missed."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import psycopg
import pytest

from tests.gateways.conftest import NOON, Gateway
from tests.support.database import Database

TICK = "select agents.fn_dispatch_gateway_crons(%s)"


def runs(db: Database) -> list:
    return db.rows(
        "select gateway_cron_id, operation, scheduled_for, status, payload, created_at "
        "from agents.gateway_cron_runs order by scheduled_for, gateway_cron_id"
    )


def cron(db: Database, cron_id: uuid.UUID) -> object:
    return db.row("select * from agents.gateway_crons where id = %s", [cron_id])


def test_a_due_cron_becomes_one_run_and_moves_on(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    at = NOON + timedelta(seconds=3)
    assert db.value(TICK, [at]) == 1
    [run] = runs(db)
    assert (run.gateway_cron_id, run.scheduled_for, run.status) == (cron_id, NOON, "pending")
    assert run.created_at == at
    after = cron(db, cron_id)
    assert after.next_run_at == NOON + timedelta(minutes=5)
    assert (after.last_run_at, after.last_status) == (at, "pending")
    assert db.value(TICK, [at]) == 0


@pytest.mark.parametrize(
    ("cron_expr", "away", "newest"),
    [
        ("*/5 * * * *", timedelta(minutes=4), timedelta(0)),
        ("*/5 * * * *", timedelta(minutes=5), timedelta(minutes=5)),
        ("*/5 * * * *", timedelta(days=400, minutes=7), timedelta(days=400, minutes=5)),
        ("* * * * *", timedelta(days=3653), timedelta(days=3653)),
        ("0 12 * * 1", timedelta(days=20), timedelta(days=14)),
        ("0 12 7 1 *", timedelta(days=364), timedelta(0)),
    ],
)
def test_only_the_newest_slot_runs_whatever_was_missed(
    db: Database, gateway: Gateway, cron_expr: str, away: timedelta, newest: timedelta
) -> None:
    cron_id = gateway.cron(cron_expr)
    assert db.value(TICK, [NOON + away]) == 1
    [run] = runs(db)
    assert run.scheduled_for == NOON + newest
    assert cron(db, cron_id).next_run_at > NOON + away


def test_what_is_not_due_or_switched_off_stays(db: Database, gateway: Gateway) -> None:
    gateway.cron(next_run_at=NOON + timedelta(minutes=5))
    off = gateway.cron()
    db.execute("update agents.gateway_crons set is_active = false where id = %s", [off])
    assert db.value(TICK, [NOON]) == 0
    assert runs(db) == []


def test_a_clock_set_back_runs_no_slot_twice(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    assert db.value(TICK, [NOON]) == 1
    db.execute("update agents.gateway_crons set next_run_at = %s where id = %s", [NOON, cron_id])
    assert db.value(TICK, [NOON]) == 0
    assert len(runs(db)) == 1
    assert cron(db, cron_id).next_run_at == NOON + timedelta(minutes=5)


def test_a_zone_that_left_the_server_costs_only_its_own_cron(
    db: Database, gateway: Gateway
) -> None:
    bad, good = gateway.cron(), gateway.cron(operation="capability_refresh")
    db.execute("alter table agents.gateway_crons disable trigger gateway_crons_check")
    db.execute("update agents.gateway_crons set timezone = 'Mars/Base' where id = %s", [bad])
    db.execute("alter table agents.gateway_crons enable trigger gateway_crons_check")
    assert db.value(TICK, [NOON]) == 1
    assert [run.gateway_cron_id for run in runs(db)] == [good]
    after = cron(db, bad)
    assert (after.last_status, after.next_run_at) == ("validation_failed", None)
    db.execute("update agents.gateway_crons set timezone = 'UTC' where id = %s", [bad])
    assert cron(db, bad).next_run_at is not None


def test_a_poisoned_cron_is_tried_again_each_tick_and_heals(db: Database, gateway: Gateway) -> None:
    bad, good = gateway.cron(), gateway.cron(operation="capability_refresh")
    db.execute(
        f"""
        create function public.poison() returns trigger language plpgsql as $$
        begin
          if new.gateway_cron_id = '{bad}' then raise exception 'poisoned'; end if;
          return new;
        end $$;
        create trigger poison before insert on agents.gateway_cron_runs
        for each row execute function public.poison();
        """
    )
    assert db.value(TICK, [NOON]) == 1
    assert (cron(db, bad).last_status, cron(db, bad).next_run_at) == ("dispatch_failed", NOON)
    later = NOON + timedelta(minutes=5)
    assert db.value(TICK, [later]) == 1
    db.execute("drop trigger poison on agents.gateway_cron_runs")
    assert db.value(TICK, [later]) == 1
    assert [(r.gateway_cron_id, r.scheduled_for) for r in runs(db)] == sorted(
        [(good, NOON), (good, later), (bad, later)], key=lambda pair: (pair[1], pair[0])
    )
    assert cron(db, bad).last_status == "pending"


def test_a_cron_that_someone_holds_is_left_for_the_next_tick(
    db: Database, gateway: Gateway, committed: None
) -> None:
    held, free = gateway.cron(), gateway.cron(operation="capability_refresh")
    with db.another() as other:
        with other.transaction():
            other.execute("select from agents.gateway_crons where id = %s for update", [held])
            assert db.value(TICK, [NOON]) == 1
            assert [run.gateway_cron_id for run in runs(db)] == [free]
        assert db.value(TICK, [NOON]) == 1


def test_ticks_at_once_make_each_run_once(db: Database, gateway: Gateway, committed: None) -> None:
    for number in range(40):
        gateway.cron(operation=f"probe_{number}")
    made: list[int] = []
    together = threading.Barrier(4)

    def tick() -> None:
        with db.another() as other:
            together.wait(timeout=120)
            made.append(other.value(TICK, [NOON]))

    threads = [threading.Thread(target=tick) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    made.append(db.value(TICK, [NOON]))
    assert sum(made) == 40
    assert len(runs(db)) == 40


def test_the_tick_drives_them_and_does_not_count_them(db: Database, gateway: Gateway) -> None:
    gateway.cron()
    assert db.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [NOON]) == 0
    assert len(runs(db)) == 1


def test_a_frozen_dispatcher_leaves_them(db: Database, gateway: Gateway) -> None:
    gateway.cron()
    db.execute("select lenses.fn_freeze_dispatch('upgrade')")
    db.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [NOON])
    assert runs(db) == []


def test_the_run_carries_the_payload_of_its_moment(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron()
    db.execute(
        "update agents.gateway_crons set payload = %s where id = %s", ['{"deep": true}', cron_id]
    )
    db.execute(TICK, [NOON])
    [run] = runs(db)
    assert (run.payload, run.operation) == ({"deep": True}, "health_probe")


@pytest.mark.parametrize("value", ["infinity", "-infinity"])
def test_a_cron_is_never_due_at_infinity(db: Database, gateway: Gateway, value: str) -> None:
    cron_id = gateway.cron()
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        db.execute("update agents.gateway_crons set next_run_at = %s", [value])
    assert cron(db, cron_id).next_run_at == NOON
