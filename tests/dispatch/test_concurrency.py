"""Two dispatchers and a user at the same moment."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from tests.support.database import wait_until_blocked
from tests.support.scenario import MONDAY, Scenario, at


def test_a_second_dispatcher_skips_what_the_first_holds(
    scenario: Scenario, committed: None
) -> None:
    schedules = [scenario.make_schedule("0 9 * * *") for _ in range(4)]
    with scenario.db.another() as first, scenario.db.another() as second, first.transaction():
        assert first.value(
            "select lenses.fn_dispatch_scheduled_workflows(%s, 2)", [MONDAY]
        ) == 2  # fmt: skip
        second.execute("set lock_timeout = '2s'")
        assert second.value(
            "select lenses.fn_dispatch_scheduled_workflows(%s)", [MONDAY]
        ) == 2  # fmt: skip
    assert all(scenario.slots(schedule) == [MONDAY] for schedule in schedules)
    assert scenario.tick(MONDAY) == 0


@pytest.mark.parametrize("dispatchers", [2, 8])
def test_many_dispatchers_double_nothing_and_lose_nothing(
    scenario: Scenario, dispatchers: int, committed: None
) -> None:
    scenario.db.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, approval_policy, start_at) "
        "select %s, '* * * * *', %s, %s from generate_series(1, 200)",
        [scenario.workflow, '{"requiresApproval": false}', MONDAY],
    )
    start = threading.Barrier(dispatchers)
    counts: list[int] = []

    def dispatch() -> None:
        with scenario.db.another() as conn:
            for minute in range(5):
                start.wait()
                counts.append(
                    conn.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [at(minute)])
                )

    threads = [threading.Thread(target=dispatch) for _ in range(dispatchers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    scenario.tick(at(4))
    runs = scenario.db.row(
        "select count(*) as n, count(distinct (schedule_id, scheduled_for)) as slots "
        "from lenses.workflow_runs"
    )
    assert (runs.n, runs.slots) == (1000, 1000)


def test_a_row_that_a_user_holds_is_left_for_the_next_tick(
    scenario: Scenario, committed: None
) -> None:
    held = scenario.make_schedule("0 9 * * *")
    free = scenario.make_schedule("0 9 * * *")
    with scenario.db.another() as user:
        with user.transaction():
            user.execute("select from lenses.workflow_schedules where id = %s for update", [held])
            assert scenario.tick(MONDAY) == 1
        assert scenario.slots(held) == []
        assert scenario.slots(free) == [MONDAY]
        assert scenario.tick(at(1)) == 1
    assert scenario.slots(held) == [MONDAY]
    assert scenario.schedule(held).failure_count == 0


@pytest.mark.parametrize(
    "change",
    [
        "update lenses.workflow_schedules set description = 'mine' where id = %s",
        "update lenses.workflow_schedules set cron_expr = '0 17 * * *' where id = %s",
        "update lenses.workflow_schedules set is_active = false, paused_at = now() where id = %s",
        "delete from lenses.workflow_schedules where id = %s",
    ],
    ids=["describe", "move", "pause", "delete"],
)
def test_a_users_change_during_a_tick_waits_and_stands(
    scenario: Scenario, change: str, committed: None
) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    with scenario.db.another() as ticker, scenario.db.another() as user:
        done = threading.Thread(target=lambda: user.execute(change, [schedule]))
        with ticker.transaction():
            ticker.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [MONDAY])
            done.start()
            wait_until_blocked(scenario.db, user)
        done.join()
    rows = scenario.db.rows("select * from lenses.workflow_schedules where id = %s", [schedule])
    if change.startswith("delete"):
        assert rows == []
        [run] = scenario.db.rows("select * from lenses.workflow_runs")
        assert (run.schedule_id, run.triggered_by) == (None, str(schedule))
        return
    [row] = rows
    assert row.last_dispatch_status == "dispatched"
    assert (row.description == "mine") == ("description" in change)
    assert row.is_active == ("is_active" not in change)
    if "cron_expr" in change:
        assert row.next_run_at.hour == 17
    scenario.play(at(1), at(3))
    assert len(scenario.slots(schedule)) == 1


def test_a_schedule_that_was_paused_meanwhile_is_not_dispatched(scenario: Scenario) -> None:
    """The pause commits while the tick waits to look: the row is judged as it is now."""
    schedule = scenario.make_schedule("0 9 * * *")
    scenario.set(schedule, is_active=False)
    assert scenario.tick(MONDAY) == 0
    assert scenario.slots(schedule) == []


def test_a_tick_never_waits_for_a_user(scenario: Scenario, committed: None) -> None:
    for _ in range(3):
        scenario.make_schedule("0 9 * * *")
    with scenario.db.another() as user, scenario.db.another() as ticker:
        with user.transaction():
            user.execute("update lenses.workflow_schedules set description = 'held'")
            ticker.execute("set lock_timeout = '500ms'")
            assert ticker.value(
                "select lenses.fn_dispatch_scheduled_workflows(%s)", [MONDAY]
            ) == 0  # fmt: skip
        assert ticker.value(
            "select lenses.fn_dispatch_scheduled_workflows(%s)", [MONDAY + timedelta(seconds=1)]
        ) == 3  # fmt: skip
