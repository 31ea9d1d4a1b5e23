"""Each slot exactly once over both cells, whenever the tenant moves and wherever a move is killed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

import psycopg
import pytest

from lf_sql import db as product_db
from lf_sql.cells import tenant
from tests.cells.scene import Cell, TwoCells
from tests.support.run_scenario import RunScenario
from tests.support.scenario import MONDAY, at, minutes

MINUTE = timedelta(minutes=1)


def again(cell: Cell) -> product_db.Connection:
    """The process was killed: another one has another connection."""
    cell.conn.close()
    cell.conn = product_db.connect(cell.db.dsn)
    return cell.conn


def killed(cell: Cell) -> None:
    """The server ends the session of the product's connection."""
    cell.db.execute("select pg_terminate_backend(%s)", [cell.conn.info.backend_pid])


def depart(cells: TwoCells, who: UUID) -> None:
    assert tenant.depart(again(cells.one), [who], "two") == [who]


def depart_undone(cells: TwoCells, who: UUID) -> None:
    """Killed before the departure's commit."""
    conn = again(cells.one)
    with pytest.raises(psycopg.OperationalError), conn.transaction():
        conn.execute("select lenses.fn_depart_tenants(%s::uuid[], 'two')", [[who]])
        killed(cells.one)
        conn.execute("select")


def carry(cells: TwoCells, who: UUID) -> None:
    tenant.carry(again(cells.one), again(cells.two), who)


def carry_undone(cells: TwoCells, who: UUID) -> None:
    """The target is killed before the arrival's commit."""
    source, target = again(cells.one), again(cells.two)
    with cells.two.db.another() as holder:
        # Whatever the arrival writes first waits here.
        with holder.transaction():
            holder.execute("lock table lenses.workflow_runs in share mode")
            target.execute("set lock_timeout = '50ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                tenant.carry(source, target, who)


def source_away(cells: TwoCells, who: UUID) -> None:
    """The source is killed under the copy: the target keeps nothing of it."""
    killed(cells.one)
    with pytest.raises(psycopg.OperationalError):
        tenant.carry(cells.one.conn, again(cells.two), who)
    again(cells.one)


def take_back(cells: TwoCells, who: UUID) -> None:
    tenant.take_back(again(cells.one), [who])


Step = Callable[[TwoCells, UUID], None]
WAYS: dict[str, list[Step]] = {
    "straight": [depart, carry],
    "killed before the departure": [depart_undone, depart, carry],
    "killed between": [depart, depart, carry, carry],
    "killed in the arrival": [depart, carry_undone, carry],
    "the source away": [depart, source_away, carry],
    "killed after": [depart, carry, carry, carry],
    "taken back": [depart, take_back, take_back],
    "taken back and again": [depart, carry_undone, take_back, depart, carry],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ticks_between", [0, 1, 3])
def test_each_slot_once(two_cells: TwoCells, way: str, ticks_between: int) -> None:
    scenario = RunScenario(two_cells.one.db)
    who = scenario.tenant.id
    schedules = {
        scenario.make_schedule("* * * * *"): 1,
        scenario.make_schedule("*/5 * * * *"): 5,
        scenario.make_schedule("* * * * *", queue_policy={"onMissed": "skip"}): 1,
    }
    now = MONDAY

    def tick(times: int) -> None:
        nonlocal now
        for _ in range(times):
            for cell in (two_cells.one, two_cells.two):
                cell.tick(now)
            now += MINUTE

    tick(3)
    for step in WAYS[way]:
        step(two_cells, who)
        tick(ticks_between)
    tick(6)
    count = round((now - MONDAY) / MINUTE)
    for schedule, every in schedules.items():
        fired = two_cells.one.live_slots(schedule) + two_cells.two.live_slots(schedule)
        # What was carried out or waits is in one cell; a copy of the past is in both.
        here = two_cells.two if carry in WAYS[way] else two_cells.one
        assert here.live_slots(schedule) == minutes(*range(0, count, every))
        assert set(fired) == set(minutes(*range(0, count, every)))
    assert two_cells.violations() == []
    ran = executed(two_cells)
    assert len(ran) == len(set(ran)) == sum(len(range(0, count, e)) for e in schedules.values())


def executed(cells: TwoCells) -> list[tuple[UUID, datetime]]:
    """An executor at each cell takes whatever it is given; what it was given, in both."""
    return [
        (row.schedule_id, row.scheduled_for)
        for cell in (cells.one, cells.two)
        for run in cell.claim(1000)
        for row in cell.db.rows(
            "select schedule_id, scheduled_for from lenses.workflow_runs where id = %s", [run]
        )
    ]


def test_a_move_there_and_back_under_work(two_cells: TwoCells) -> None:
    """Executors at both cells carry out what they get; the tenant goes to and fro every 7 minutes."""
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    who = scenario.tenant.id
    schedules = [
        scenario.make_schedule("* * * * *"),
        scenario.make_schedule("* * * * *", queue_policy={"mode": "serial", "onOverlap": "queue"}),
    ]
    home, away = one, two
    done: list[UUID] = []
    for minute in range(40):
        for cell in (one, two):
            cell.tick(at(minute))
        if minute % 7 == 3:
            two_cells.move(who, home, away)
            home, away = away, home
        for cell in (one, two):
            for run in cell.claim(3):
                assert cell.complete(run)
                done.append(run)
    for _ in range(5):
        for run in home.claim(50):
            assert home.complete(run)
            done.append(run)
        home.tick(at(39))
    assert len(done) == len(set(done))
    for schedule in schedules:
        assert home.live_slots(schedule) == minutes(*range(40))


def test_a_pause_ends_in_the_new_cell_alone(two_cells: TwoCells) -> None:
    scenario = RunScenario(two_cells.one.db)
    schedule = scenario.make_schedule("* * * * *")
    scenario.set(schedule, is_active=False, paused_at=MONDAY, paused_until=at(5))
    tenant.depart(two_cells.one.conn, [scenario.tenant.id], "two")
    for minute in range(8):
        two_cells.one.tick(at(minute))
        two_cells.two.tick(at(minute))
    assert two_cells.one.db.value("select is_active from lenses.workflow_schedules") is False
    tenant.carry(two_cells.one.conn, two_cells.two.conn, scenario.tenant.id)
    for minute in range(8, 10):
        two_cells.one.tick(at(minute))
        two_cells.two.tick(at(minute))
    assert two_cells.one.live_slots(schedule) == []
    assert two_cells.two.db.value("select is_active from lenses.workflow_schedules") is True
    assert two_cells.two.live_slots(schedule)[-1] == at(9)


def test_gateway_crons_fire_in_the_new_cell_alone(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    gateway = one.db.value(
        "insert into agents.gateways (lenser_id, name) values (%s, 'g') returning id",
        [scenario.tenant.id],
    )
    cron = one.db.value(
        "insert into agents.gateway_crons (gateway_id, operation, cron_expr, next_run_at) "
        "values (%s, 'health_probe', '* * * * *', %s) returning id",
        [gateway, MONDAY],
    )
    fired = (
        "select scheduled_for from agents.gateway_cron_runs "
        "where gateway_cron_id = %s and status <> 'cancelled' order by 1"
    )
    for minute in range(9):
        if minute == 3:
            tenant.depart(one.conn, [scenario.tenant.id], "two")
        if minute == 5:
            tenant.carry(one.conn, two.conn, scenario.tenant.id)
        one.tick(at(minute))
        two.tick(at(minute))
    assert one.db.column(fired, [cron]) == []
    # A gateway cron fires once for the newest slot, however many have passed.
    assert two.db.column(fired, [cron]) == minutes(0, 1, 2, 5, 6, 7, 8)
