"""Who comes first when more is due than a tick can do."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.database import Database, Tenant, make_tenant
from tests.support.scenario import MONDAY, NO_APPROVAL, Scenario, at


def crowd(scenario: Scenario, count: int, tenant: Tenant | None = None, **columns: Any) -> Tenant:
    """So many schedules of one tenant, all due at MONDAY unless said."""
    tenant = tenant or make_tenant(scenario.db)
    workflow = scenario.make_workflow(tenant)
    for _ in range(count):
        scenario.make_schedule(
            columns.get("cron", "* * * * *"),
            workflow_id=workflow,
            **{name: value for name, value in columns.items() if name != "cron"},
        )
    return tenant


def many(scenario: Scenario, count: int) -> Tenant:
    """As `crowd`, in one statement."""
    tenant = make_tenant(scenario.db)
    scenario.db.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, approval_policy, start_at) "
        "select %s, '* * * * *', %s, %s from generate_series(1, %s)",
        [scenario.make_workflow(tenant), '{"requiresApproval": false}', MONDAY, count],
    )
    return tenant


class Ticker:
    """A driver at a played instant, a batch a call."""

    def __init__(self, db: Database, now: datetime = MONDAY) -> None:
        self.db, self.now = db, now
        self.tick = db.value("select lenses.fn_begin_tick_at('driver', %s)", [now])

    def batch(self, limit: int) -> int:
        return self.db.value(
            "select lenses.fn_dispatch_pass(%s, %s, %s, 100)", [self.tick, self.now, limit]
        )


def served(scenario: Scenario, tenant: Tenant) -> int:
    """Schedules of the tenant that have a run."""
    return scenario.db.value(
        "select count(distinct schedule_id) from lenses.workflow_runs where lenser_id = %s",
        [tenant.id],
    )


def test_ten_beside_a_crowd_are_in_the_first_two_batches(scenario: Scenario) -> None:
    many(scenario, 1000)
    small = many(scenario, 10)
    driver = Ticker(scenario.db)
    driver.batch(100)
    driver.batch(100)
    assert served(scenario, small) == 10


def test_a_batch_is_full_while_anybody_has_more(scenario: Scenario) -> None:
    large, small = many(scenario, 300), many(scenario, 30)
    driver = Ticker(scenario.db)
    taken = []
    while batch := driver.batch(40):
        taken.append(batch)
    assert sum(taken) == 330
    assert taken == [40, 30, *[40] * 6, 20]
    assert (served(scenario, large), served(scenario, small)) == (300, 30)


def test_each_of_more_tenants_than_a_batch_takes_has_one_turn_before_anybody_has_two(
    scenario: Scenario,
) -> None:
    tenants = [crowd(scenario, 3) for _ in range(25)]
    driver = Ticker(scenario.db)
    for turn in (1, 2, 3):
        for _ in range(2):
            assert driver.batch(10) == 10
            counts = [served(scenario, tenant) for tenant in tenants]
            assert max(counts) == turn
        assert driver.batch(5) == 5
        assert [served(scenario, tenant) for tenant in tenants] == [turn] * 25
    assert driver.batch(10) == 0


def test_a_limit_is_shared_between_tenants(scenario: Scenario) -> None:
    large, small = many(scenario, 200), many(scenario, 10)
    for minute in range(3):
        scenario.tick(at(minute), limit=20)
        runs = scenario.db.value(
            "select count(*) from lenses.workflow_runs where lenser_id = %s", [small.id]
        )
        assert runs == 10 * (minute + 1)
    assert served(scenario, large) == 30


def test_a_limit_rotates_over_more_tenants_than_it_lets_through(scenario: Scenario) -> None:
    tenants = [crowd(scenario, 1) for _ in range(12)]
    for minute in range(3):
        scenario.tick(at(minute), limit=4)
    assert [served(scenario, tenant) for tenant in tenants] == [1] * 12


def test_the_line_is_forgotten_at_the_end_of_a_tick(scenario: Scenario) -> None:
    many(scenario, 30), many(scenario, 30)
    scenario.tick(MONDAY, limit=10)
    assert scenario.db.row(
        "select fresh_turns, conditional_turns, late_turns from lenses.dispatch_ticks"
    ) == (None, None, None)


def backlog(**more: object) -> dict[str, object]:
    return {
        "queue_policy": {
            "mode": "parallel",
            "onMissed": "backfill",
            "maxBackfill": 100_000,
            **more,
        },
        "start_at": MONDAY - timedelta(days=3),
    }


def test_late_work_keeps_a_share_of_ticks_that_are_cut_off(scenario: Scenario) -> None:
    scenario.tick(MONDAY - timedelta(days=4))
    late = crowd(scenario, 3, **backlog())
    conditional = crowd(scenario, 3, pre_dispatch_condition={"/signal_rpc_result": {"eq": None}})
    on_time = many(scenario, 40)
    for minute in range(32):
        scenario.tick(at(minute), limit=10)
    assert served(scenario, late) == 3
    assert served(scenario, conditional) == 3
    assert served(scenario, on_time) == 40
    assert scenario.db.value(
        "select count(*) from lenses.workflow_runs where lenser_id = %s", [late.id]
    ) >= 300  # fmt: skip


def test_late_work_does_not_starve_what_is_on_time(scenario: Scenario) -> None:
    scenario.tick(MONDAY - timedelta(days=4))
    crowd(scenario, 30, **backlog())
    on_time = crowd(scenario, 10)
    for minute in range(16):
        scenario.tick(at(minute), limit=10)
    runs = scenario.db.value(
        "select count(*) from lenses.workflow_runs where lenser_id = %s", [on_time.id]
    )
    assert runs >= 140
    scenario.tick(at(16))
    assert scenario.db.value(
        "select count(*) from agents.action_logs where lenser_id = %s "
        "and action_type = 'schedule_skipped'", [on_time.id],
    ) == 0  # fmt: skip


def test_late_work_is_shared_between_tenants(scenario: Scenario) -> None:
    scenario.tick(MONDAY - timedelta(days=4))
    crowd(scenario, 30, **backlog())
    small = crowd(scenario, 3, **backlog())
    driver = Ticker(scenario.db)
    driver.batch(100)
    assert served(scenario, small) == 3


def test_what_goes_on_as_backlog_comes_after_what_is_on_time(scenario: Scenario) -> None:
    """Its due time is that of the tick before, and so older than that of the others."""
    scenario.tick(MONDAY - timedelta(days=4))
    late = crowd(scenario, 2, **backlog())
    scenario.tick(MONDAY - timedelta(seconds=30))
    on_time = crowd(scenario, 4, cron="0 9 * * *")
    driver = Ticker(scenario.db)
    assert driver.batch(4) == 4
    assert served(scenario, on_time) == 4
    before = scenario.db.value(
        "select count(*) from lenses.workflow_runs where lenser_id = %s", [late.id]
    )
    assert before == 200


def test_a_condition_that_comes_later_moves_the_schedule_behind(scenario: Scenario) -> None:
    asked, plain = scenario.make_schedule("* * * * *"), scenario.make_schedule("* * * * *")
    scenario.set(asked, pre_dispatch_condition={"/signal_rpc_result": {"eq": None}})
    driver = Ticker(scenario.db)
    driver.batch(1)
    assert (scenario.slots(asked), scenario.slots(plain)) == ([], [MONDAY])
    scenario.set(asked, pre_dispatch_condition=None)
    assert not scenario.db.value(
        "select has_condition from lenses.schedule_due where schedule_id = %s", [asked]
    )


@pytest.mark.parametrize("drivers", [2, 4])
def test_drivers_side_by_side_are_fair_and_double_nothing(
    scenario: Scenario, drivers: int, committed: None
) -> None:
    many(scenario, 600)
    small = many(scenario, 12)
    start = threading.Barrier(drivers)
    failures: list[BaseException] = []

    def drive() -> None:
        try:
            with scenario.db.another() as conn:
                driver = Ticker(conn)
                for _ in range(2):
                    start.wait(timeout=120)
                    driver.batch(40)
                start.wait(timeout=120)
                if served(house_of(conn), small) != 12:
                    raise AssertionError("the small tenant waits")
                start.wait(timeout=120)
                while driver.batch(40):
                    pass
        except BaseException as error:
            failures.append(error)
            start.abort()
            raise

    threads = [threading.Thread(target=drive) for _ in range(drivers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    runs = scenario.db.row(
        "select count(*) as n, count(distinct (schedule_id, scheduled_for)) as slots, "
        "count(distinct schedule_id) as schedules from lenses.workflow_runs"
    )
    assert runs == (612, 612, 612)


def house_of(conn: Database) -> Scenario:
    """The same scenario, seen by another session."""
    scenario = Scenario.__new__(Scenario)
    scenario.db = conn
    return scenario


def test_a_batch_of_large_inputs_is_cut_by_their_size(scenario: Scenario) -> None:
    """Sixteen megabytes of inputs are joined at once, however many schedules are due."""
    sizes = scenario.db.rows(
        "select cardinality(schedule_ids) as n, slots from lenses.fn_batch_chunks("
        "array(select gen_random_uuid() from generate_series(1, 40)), "
        "array_fill(1048576, array[40]), 1000)"
    )
    assert sum(size.n for size in sizes) == 40
    assert all(size.n * size.slots <= 16 for size in sizes)


def test_the_size_of_inputs_is_known_to_the_dispatcher(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("* * * * *")
    large = {"text": "x" * 100_000}
    scenario.set(schedule, inputs_template=large)
    size = "select input_bytes from lenses.schedule_due where schedule_id = %s"
    assert scenario.db.value(size, [schedule]) > 100_000
    scenario.tick(MONDAY)
    assert scenario.db.value(size, [schedule]) > 100_000
    scenario.set(schedule, inputs_template={})
    assert scenario.db.value(size, [schedule]) == 2


def test_large_inputs_are_dispatched_in_order_and_whole(scenario: Scenario) -> None:
    """More slots than are joined at once, and more schedules."""
    rotation = f'[{{"text": "{"x" * 900_000}"}}, {{"text": "y"}}]'
    schedules = [
        scenario.make_schedule("* * * * *", inputs_rotation=rotation, approval_policy=NO_APPROVAL)
        for _ in range(20)
    ]
    for minute in (0, 2):
        scenario.tick(at(minute))
    for schedule in schedules:
        runs = scenario.runs(schedule)
        assert [run.scheduled_for for run in runs] == [at(0), at(1), at(2)]
        assert [len(run.context_inputs["text"]) for run in runs] == [900_000, 1, 900_000]
