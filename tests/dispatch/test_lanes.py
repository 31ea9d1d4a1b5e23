"""Lanes: several drivers share a round. What comes of it is what one driver makes."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.support.database import Database, make_tenant, wait_until
from tests.support.scenario import MONDAY, Scenario, at

BATCH, CAP = 10, 3
LEDGER = (
    "select s.description as name, l.run_at, l.run_at_last, l.slot_count, l.status, l.reason "
    "from lenses.schedule_slots as l join lenses.workflow_schedules as s on s.id = l.schedule_id "
    "order by 1, 2, 5"
)
NEXT = "select description, next_run_at from lenses.workflow_schedules order by 1"


def populate(scenario: Scenario) -> None:
    """Three tenants: plain schedules, gated ones, and backlogs of more slots than a tick's cap."""
    scenario.db.execute(
        "select lenses.fn_set_dispatch_settings(%s)",
        [f'{{"batch_size": {BATCH}, "max_catchup_per_tick": {CAP}}}'],
    )
    for number in range(3):
        tenant = scenario.tenant if number == 0 else make_tenant(scenario.db)
        workflow = scenario.make_workflow(tenant)
        for column, count, more in (
            ("plain", 30, {}),
            ("gated", 5, {"pre_dispatch_condition": '{"/prior_run_result": {"eq": 1}}'}),
            ("behind", 5, {"queue_policy": {"onMissed": "backfill"}, "cron_expr": "* * * * *"}),
        ):
            for k in range(count):
                scenario.make_schedule(
                    workflow_id=workflow, lenser_id=tenant.id,
                    description=f"{number} {column} {k}",
                    **{"cron": more.get("cron_expr", "*/5 * * * *")},
                    **{key: value for key, value in more.items() if key != "cron_expr"},
                )  # fmt: skip


class Lane:
    """One driver's connection, ticking at a played instant."""

    def __init__(self, conn: Database, number: int) -> None:
        self.conn, self.number = conn, number

    def begin(self, minute: float) -> None:
        self.now = at(minute)
        self.tick = self.conn.value(
            "select lenses.fn_begin_tick_at('lane', %s, %s)", [self.now, self.number]
        )

    def batch(self) -> int:
        return self.conn.value(
            "select lenses.fn_dispatch_pass(%s, %s, %s, %s)", [self.tick, self.now, BATCH, CAP]
        )

    def end(self) -> None:
        self.conn.execute("select lenses.fn_tick_end(%s)", [self.tick])

    def whole(self) -> None:
        while self.batch():
            pass
        self.end()


def lanes_of(scenario: Scenario, stack: ExitStack, count: int) -> list[Lane]:
    scenario.db.execute(
        "select lenses.fn_set_dispatch_settings(%s)", [f'{{"dispatch_lanes": {count}}}']
    )
    return [
        Lane(stack.enter_context(scenario.db.another()), number) for number in range(1, count + 1)
    ]


def side_by_side(lanes: list[Lane], minute: float) -> None:
    """All begin, then all go on until nothing is left."""
    for lane in lanes:
        lane.begin(minute)
    threads = [threading.Thread(target=lane.whole) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture(scope="module")
def expected(state: Any) -> list[tuple[list[Any], list[Any]]]:
    """Ledger and next slots of each minute, as a single driver leaves them."""
    from tests.support.database import connect

    name = state.fresh(installed=True)
    found = []
    with connect(state.server.dsn(name)) as conn:
        scenario = Scenario(conn)
        populate(scenario)
        with ExitStack() as stack:
            lanes = lanes_of(scenario, stack, 1)
            for minute in MINUTES:
                side_by_side(lanes, minute)
                found.append((scenario.db.rows(LEDGER), scenario.db.rows(NEXT)))
    state.drop(name)
    return found


MINUTES = (0, 10, 11, 12)


@pytest.mark.parametrize("count", [2, 4])
def test_lanes_leave_after_each_round_what_one_driver_leaves(
    scenario: Scenario, expected: list[tuple[list[Any], list[Any]]], count: int, committed: None
) -> None:
    """The caps of a tick hold for a round, so that not even a backlog is told from one driver's."""
    populate(scenario)
    with ExitStack() as stack:
        lanes = lanes_of(scenario, stack, count)
        for minute, (ledger, following) in zip(MINUTES, expected, strict=True):
            side_by_side(lanes, minute)
            assert scenario.db.rows(LEDGER) == ledger
            assert scenario.db.rows(NEXT) == following
    late = "select count(*) from agents.action_logs where payload ->> 'reason' = 'missed'"
    assert scenario.db.value(late) == len([r for r in expected[-1][0] if r.reason == "missed"])


@pytest.mark.parametrize("count", [2, 4])
def test_everybody_is_in_the_first_batches_of_the_lanes(
    scenario: Scenario, count: int, committed: None
) -> None:
    """25 tenants and batches of 10: a lane alone would reach the last in its third."""
    scenario.db.execute("select lenses.fn_set_dispatch_settings('{\"batch_size\": 10}')")
    for _ in range(25):
        tenant = make_tenant(scenario.db)
        workflow = scenario.make_workflow(tenant)
        for _ in range(3):
            scenario.make_schedule("0 9 * * *", workflow_id=workflow, lenser_id=tenant.id)
    with ExitStack() as stack:
        lanes = lanes_of(scenario, stack, count)
        for lane in lanes:
            lane.begin(0)
        reached = 0
        for _ in range(-(-25 // (10 * count))):  # batches a lane, were they dealt without overlap
            for lane in lanes:
                lane.batch()
        reached = scenario.db.value("select count(distinct lenser_id) from lenses.workflow_runs")
    assert reached == 25


def test_one_who_has_little_is_in_the_first_batch_beside_one_who_has_much(
    scenario: Scenario,
    committed: None,
) -> None:
    small = make_tenant(scenario.db)
    for _ in range(60):
        scenario.make_schedule("0 9 * * *")
    mine = scenario.make_schedule(
        "0 9 * * *", workflow_id=scenario.make_workflow(small), lenser_id=small.id
    )
    with ExitStack() as stack:
        lanes = lanes_of(scenario, stack, 2)
        for lane in lanes:
            lane.begin(0)
        for lane in lanes:
            lane.batch()
    assert scenario.slots(mine) == [MONDAY]


def test_what_a_killed_lane_held_the_others_take(scenario: Scenario, committed: None) -> None:
    schedules = [scenario.make_schedule("0 9 * * *") for _ in range(40)]
    with ExitStack() as stack:
        first, second = lanes_of(scenario, stack, 2)
        first.begin(0)
        second.begin(0)
        second.conn.execute("begin")
        assert second.batch() == BATCH
        pid = second.conn.info.backend_pid
        while first.batch():
            pass
        assert scenario.db.value("select count(*) from lenses.workflow_runs") == 30
        scenario.db.execute("select pg_terminate_backend(%s)", [pid])
        gone = "select not exists (select from pg_stat_activity where pid = %s)"
        wait_until(lambda: scenario.db.value(gone, [pid]))
        with pytest.raises(psycopg.OperationalError):
            second.conn.execute("select 1")
        first.whole()
    assert all(scenario.slots(schedule) == [MONDAY] for schedule in schedules)


def test_a_gap_that_lanes_end_together_is_one_gap(scenario: Scenario, committed: None) -> None:
    """Both look back at the tick before the gap; slots are late once, and fresh ones stay so."""
    late = scenario.make_schedule("0 9 * * *", queue_policy={"onMissed": "run_once"})
    fresh = scenario.make_schedule("40 9 * * *")
    with ExitStack() as stack:
        first, second = lanes_of(scenario, stack, 2)
        first.begin(-1)
        first.whole()
        with second.conn.transaction():  # neither sees the other's row
            second.begin(40)
            first.begin(40)
        first.whole()
        second.whole()
        silent = "select lane, silent_since from lenses.dispatch_ticks where silent_since > %s"
        found = scenario.db.rows(silent + " order by lane", [MONDAY - timedelta(hours=1)])
        assert [tuple(row) for row in found] == [(1, at(-1)), (2, at(-1))]
    assert scenario.db.row("select metadata -> 'missed' as missed from lenses.workflow_runs "
                        "where schedule_id = %s", [late]).missed is True  # fmt: skip
    assert scenario.slots(fresh) == [at(40)]


def test_a_lane_beyond_the_setting_does_nothing(scenario: Scenario, committed: None) -> None:
    scenario.db.execute("select lenses.fn_set_dispatch_settings('{\"dispatch_lanes\": 2}')")
    for lane, ticks in ((2, 1), (3, 1)):
        scenario.db.execute("call lenses.sp_dispatch_tick(%s)", [lane])
        assert scenario.db.value("select count(*) from lenses.dispatch_ticks") == ticks
    scenario.db.execute("select lenses.fn_set_dispatch_settings('{\"dispatch_lanes\": 1}')")
    scenario.db.execute("call lenses.sp_dispatch_tick(2)")
    assert scenario.db.column("select lane from lenses.dispatch_ticks") == [2]
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="lane 17 is out of range"):
        scenario.db.execute("select lenses.fn_tick_begin('x', p_lane => 17)")
    for value in ("0", "17", "null", "1.5"):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="dispatch_lanes"):
            scenario.db.execute(
                "select lenses.fn_set_dispatch_settings(%s)", [f'{{"dispatch_lanes": {value}}}']
            )


def test_housekeeping_is_one_lanes_and_waits_for_nobody(
    scenario: Scenario, committed: None
) -> None:
    parts = "select parts from lenses.dispatch_ticks where id = %s"
    with ExitStack() as stack:
        first, second = lanes_of(scenario, stack, 2)
        for lane in (first, second):
            lane.tick = lane.conn.value(
                "select lenses.fn_tick_begin('x', p_lane => %s)", [lane.number]
            )
        second.conn.execute("set lock_timeout = '1ms'")
        with first.conn.transaction():
            first.conn.execute("select lenses.fn_tick_step(%s)", [first.tick])
            second.conn.execute("select lenses.fn_tick_step(%s)", [second.tick])
        assert scenario.db.value(parts, [first.tick]) == []
        assert scenario.db.value(parts, [second.tick]) is None
        second.conn.execute("select lenses.fn_tick_step(%s)", [second.tick])
        assert scenario.db.value(parts, [second.tick]) == []


def test_health_tells_lanes_of_one_round_as_one_tick(scenario: Scenario, committed: None) -> None:
    with ExitStack() as stack:
        lanes = lanes_of(scenario, stack, 2)
        for lane, runs in zip(lanes, (3, 4), strict=True):
            tick = lane.conn.value("select lenses.fn_tick_begin('x', p_lane => %s)", [lane.number])
            scenario.db.execute(
                "update lenses.dispatch_ticks set due = %(n)s, dispatched = %(n)s, "
                "round_at = (select min(started_at) from lenses.dispatch_ticks) where id = %(id)s",
                {"n": runs, "id": tick},
            )
            scenario.db.execute("select lenses.fn_tick_end(%s)", [tick])
    lines = {
        row.check_name: row
        for row in scenario.db.rows("select * from lenses.fn_health('{}', false)")
    }
    assert "7 schedules due, 7 runs, 0 failed; 2 lanes" in lines["last tick"].detail
    assert [lines[f"lane {n}"].state for n in (1, 2)] == ["ok", "ok"]
    scenario.db.execute("update lenses.dispatch_settings set dispatch_lanes = 3")
    query = "select * from lenses.fn_health_lanes(%s, false) order by 1"
    assert [tuple(row)[:3] for row in scenario.db.rows(query, ['{"lanes": [1, 2]}'])] == [
        ("lane 1", "ok", "ok"), ("lane 2", "ok", "ok"), ("lane 3", "warn", "job missing")
    ]  # fmt: skip
    scenario.db.execute("update lenses.dispatch_settings set dispatch_lanes = 1")
    assert [tuple(row)[:3] for row in scenario.db.rows(query, ['{"lanes": [1, 2]}'])] == [
        ("lane 2", "warn", "left over")
    ]
