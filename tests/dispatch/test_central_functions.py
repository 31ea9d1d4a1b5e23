"""The functions that a tick is made of, each asked directly: fn_late_stretches, fn_plan_slots, fn_evaluate_slots and
fn_record_failure. fn_pick_runs has tests/runs/test_pick_runs.py."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.dispatch.test_guards import GUARDS, add_calendar, fill_flight, take_slot
from tests.support.database import Database, connect
from tests.support.scenario import MONDAY, Scenario, at, minutes
from tests.support.state import State

GRACE = timedelta(minutes=2)


@pytest.fixture(scope="module")
def rolled_back(state: State) -> Iterator[Database]:
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        yield conn
    state.drop(name)


@pytest.fixture
def scenario(rolled_back: Database) -> Iterator[Scenario]:
    """Rolled back after each test."""
    with rolled_back.transaction(force_rollback=True):
        yield Scenario(rolled_back)


def ticked(scenario: Scenario, *ticks: tuple[float, float | None]) -> None:
    """Ticks at these minutes; each with the start of the gap that it ended, if it ended one."""
    for started, silent in ticks:
        scenario.db.execute(
            "insert into lenses.dispatch_ticks (driver, started_at, silent_since) values ('test', %s, %s)",
            [at(started), None if silent is None else at(silent)],
        )


def stretches(
    scenario: Scenario, schedule: UUID, now: float
) -> list[tuple[datetime, datetime, int]]:
    return [
        tuple(row)
        for row in scenario.db.rows(
            "select l.* from lenses.workflow_schedules as s "
            "cross join unnest(lenses.fn_late_stretches(s, %s, %s)) as l where s.id = %s",
            [at(now), GRACE, schedule],
        )
    ]


def stretch(first: float, last: float, count: int) -> tuple[datetime, datetime, int]:
    return at(first), at(last), count


@pytest.mark.parametrize(
    ("ticks", "columns", "now", "found"),
    [
        pytest.param([], {}, -1, [], id="nothing was due"),
        pytest.param([], {}, 1.5, [], id="within the grace"),
        pytest.param([], {}, 12, [stretch(0, 5, 2)], id="no tick ever"),
        pytest.param([(1, -60)], {}, 12, [stretch(5, 5, 1)], id="the first slot met a tick"),
        pytest.param([(9, -60)], {}, 9.5, [stretch(0, 5, 2)], id="in a gap that a tick has ended"),
        pytest.param(
            [(4, -60), (16, 4)], {}, 16, [stretch(0, 0, 1), stretch(5, 10, 2)], id="two gaps"
        ),
        pytest.param([(6, None)], {"seen_until": at(5)}, 22, [stretch(10, 15, 2)], id="some were seen"),
        pytest.param([(3, None), (9, None)], {"missed_before": at(8)}, 9, [stretch(0, 5, 2)], id="a pause"),
    ],
)  # fmt: skip
def test_fn_late_stretches(
    scenario: Scenario,
    ticks: list[tuple[float, float | None]],
    columns: dict[str, Any],
    now: float,
    found: list[tuple[datetime, datetime, int]],
) -> None:
    """A slot every five minutes from MONDAY on; two minutes are the grace."""
    schedule = scenario.make_schedule()
    ticked(scenario, *ticks)
    if columns:
        scenario.set(schedule, **columns)
    assert stretches(scenario, schedule, now) == found


def plan(scenario: Scenario, schedule: UUID, now: float, cap: int, grace: timedelta = GRACE) -> Any:
    return scenario.db.row(
        "select p.next_slot, p.next_due_at, p.seen_until, p.dropped_count, p.dropped_first, "
        "p.dropped_last, array(select c.slot from unnest(p.slots) as c) as slots, "
        "array(select c.is_missed from unnest(p.slots) as c) as missed, "
        "array(select c.available_at from unnest(p.slots) as c) as available "
        "from lenses.workflow_schedules as s "
        "cross join lenses.fn_plan_slots(s, %s, %s, %s, 'skip') as p where s.id = %s",
        [at(now), grace, cap, schedule],
    )


@pytest.mark.parametrize(
    ("now", "cap", "slots", "next_slot", "seen"),
    [
        pytest.param(-1, 9, [], 0, None, id="nothing is due"),
        pytest.param(0, 9, [0], 5, 0, id="one is due"),
        pytest.param(12, 9, [0, 5, 10], 15, 10, id="three are due"),
        pytest.param(12, 2, [0, 5], 10, 10, id="more are due than the cap, and all are seen"),
    ],
)
def test_fn_plan_slots_lists_what_is_due(
    scenario: Scenario,
    now: float,
    cap: int,
    slots: list[float],
    next_slot: float,
    seen: float | None,
) -> None:
    schedule = scenario.make_schedule()
    found = plan(scenario, schedule, now, cap, timedelta(hours=1))
    assert found.slots == minutes(*slots)
    assert (found.next_slot, found.next_due_at) == (at(next_slot), at(next_slot))
    assert found.seen_until == (None if seen is None else at(seen))
    assert not any(found.missed)


@pytest.mark.parametrize(
    ("queue", "dropped", "slots", "missed", "available"),
    [
        ({"onMissed": "skip"}, [0, 5], [10], [False], [None]),
        ({"onMissed": "run_once"}, [0, 0], [5, 10], [True, False], [None, None]),
        ({"onMissed": "backfill"}, None, [0, 5, 10], [True, True, False], [None] * 3),
        ({"onMissed": "backfill", "maxBackfill": 1}, [0, 0], [5, 10], [True, False], [None, None]),
        ({"onMissed": "spread", "spreadWindowMs": 60_000}, None, [0, 5, 10], [True, True, False], [12, 12.5, None]),
    ],
    ids=lambda value: "-".join(map(str, value.values())) if isinstance(value, dict) else "",
)  # fmt: skip
def test_fn_plan_slots_decides_about_late_slots(
    scenario: Scenario,
    queue: dict[str, Any],
    dropped: list[float] | None,
    slots: list[float],
    missed: list[bool],
    available: list[float | None],
) -> None:
    """At minute 12 the slots of minutes 0 and 5 are late, that of minute 10 is on time."""
    schedule = scenario.make_schedule(queue_policy={"mode": "parallel", **queue})
    found = plan(scenario, schedule, 12, 9)
    assert (found.slots, found.missed) == (minutes(*slots), missed)
    assert found.available == [None if offset is None else at(offset) for offset in available]
    assert [found.dropped_first, found.dropped_last] == (
        minutes(*dropped) if dropped else [None] * 2
    )
    assert (found.dropped_count or 0) + len(slots) == 3
    assert found.next_slot == at(15)


def judge(
    scenario: Scenario, schedule: UUID, slot: datetime | None, mode: str
) -> tuple[str, str | None, str]:
    row = scenario.db.row(
        "select d.decision, d.reason, d.status from lenses.fn_evaluate_slots("
        "array[row(%s, %s, %s, false, null)::lenses.slot_candidate], %s, %s) as d",
        [schedule, slot, slot, MONDAY, mode],
    )
    return row.decision, row.reason, row.status


def test_fn_evaluate_slots_names_the_first_guard_that_refuses(scenario: Scenario) -> None:
    """Guards are shut from the last to the first: each takes the reason from the one behind it."""
    schedule = scenario.make_schedule("0 9 * * *")
    assert judge(scenario, schedule, MONDAY, "tick") == ("dispatch", None, "dispatched")
    for shut, reason, status in reversed(GUARDS):
        if reason == "assignee_missing":
            continue  # it takes the agent away that the budget is of
        shut(scenario, schedule)
        assert judge(scenario, schedule, MONDAY, "tick") == ("skip", reason, status)


@pytest.mark.parametrize(
    ("shut", "mode", "slot", "expected"),
    [
        (fill_flight, "preview", MONDAY, "overlap_in_flight"),
        (fill_flight, "backfill", MONDAY, None),
        (fill_flight, "manual", None, None),
        (take_slot, "backfill", MONDAY, "schedule_slot_exists"),
        (take_slot, "manual", None, None),
        (add_calendar, "backfill", MONDAY, "calendar"),
        (add_calendar, "manual", None, None),
    ],
)
def test_fn_evaluate_slots_asks_by_mode(
    scenario: Scenario, shut: Any, mode: str, slot: datetime | None, expected: str | None
) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    shut(scenario, schedule)
    assert judge(scenario, schedule, slot, mode)[1] == expected


@pytest.mark.parametrize("failures", range(5))
def test_fn_record_failure(scenario: Scenario, failures: int) -> None:
    """Tried again after 1, 2, 4 and 8 minutes; the fifth failure uses the slot up."""
    schedule = scenario.make_schedule()
    scenario.set(schedule, failure_count=failures)
    tick = scenario.db.value(
        "insert into lenses.dispatch_ticks (driver, started_at) values ('test', %s) returning id",
        [MONDAY],
    )
    scenario.db.execute(
        "select lenses.fn_record_failure(%s, %s, %s, 'P0001', 'boom')", [schedule, tick, MONDAY]
    )
    row = scenario.schedule(schedule)
    assert (row.last_dispatch_status, row.last_error_message) == ("dispatch_failed", "P0001: boom")
    assert (row.last_error_at, row.tick_id) == (MONDAY, tick)
    logged = scenario.db.column(
        "select payload ->> 'attempts' from agents.action_logs "
        "where schedule_id = %s and action_type = 'schedule_failed'",
        [schedule],
    )
    if failures < 4:
        due = at(2**failures)
        assert (row.next_run_at, row.due_at, row.failure_count) == (MONDAY, due, failures + 1)
        assert logged == []
    else:
        due = at(5)
        assert (row.next_run_at, row.due_at, row.failure_count) == (due, due, 0)
        assert logged == ["5"]
    assert scenario.db.value(
        "select due_at from lenses.schedule_due where schedule_id = %s", [schedule]
    ) == due  # fmt: skip
    counted = scenario.db.row("select due, failed from lenses.dispatch_ticks where id = %s", [tick])
    assert tuple(counted) == (1, 1)
