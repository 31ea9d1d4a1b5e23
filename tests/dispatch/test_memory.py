"""What one call may hold: megabytes of its backend, whatever the number of slots and the size of their inputs."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.support.database import as_user
from tests.support.held import held
from tests.support.scenario import MONDAY, Scenario

MOST = 200  # MB
LARGE = Jsonb([{"x": "a" * 930_000}])
"""A rotation holds at most 1 MB: this one has a single entry."""

BACKFILL = "select public.fn_backfill_schedule(%s, %s, %s, %s)"


def large(scenario: Scenario, **columns: Any) -> UUID:
    return scenario.make_schedule("* * * * *", inputs_rotation=LARGE, **columns)


def backfilled(scenario: Scenario, slots: int, dry: bool) -> tuple[Any, float]:
    schedule = large(scenario, start_at="2020-01-01Z")
    end = scenario.db.value("select date_trunc('minute', now())")
    with scenario.db.another() as conn:
        with as_user(conn, scenario.tenant):
            since = end - timedelta(minutes=slots - 1)
            answer = conn.value(BACKFILL, [schedule, since, dry, end])
        return answer, held(conn)


def test_a_dry_run_of_ten_thousand_slots(scenario: Scenario, committed: None) -> None:
    answer, megabytes = backfilled(scenario, 10_000, dry=True)
    assert answer["would_dispatch"] == 10_000
    assert megabytes < MOST


def test_a_backfill(scenario: Scenario, committed: None) -> None:
    answer, megabytes = backfilled(scenario, 300, dry=False)
    assert answer["dispatched"] == 300
    assert megabytes < MOST
    sizes = "select distinct length(context_inputs ->> 'x') from lenses.workflow_runs"
    assert scenario.db.column(sizes) == [930_000]


def test_a_batch_of_the_tick(scenario: Scenario, committed: None) -> None:
    for _ in range(3):
        large(scenario, queue_policy={"mode": "parallel", "onMissed": "backfill"})
    late = MONDAY + timedelta(minutes=99)
    with scenario.db.another() as conn:
        runs = conn.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [late])
        assert runs == 300
        assert held(conn) < MOST


def test_a_preview(scenario: Scenario, committed: None) -> None:
    """As many rows as have 16 MB of inputs; at least one, and all of a usual one."""
    schedule = large(scenario, start_at=None)
    usual = scenario.make_schedule("* * * * *", start_at=None, inputs_rotation=Jsonb([{"x": 1}]))
    preview = "select inputs from lenses.fn_preview_schedule_ticks(%s, 200)"
    with scenario.db.another() as conn:
        rows = conn.column(preview, [schedule])
        assert {len(row["x"]) for row in rows} == {930_000}
        assert len(rows) == 16 * 1024 * 1024 // 930_009
        assert held(conn) < MOST
        assert conn.column(preview, [usual]) == [{"x": 1}] * 200


def test_the_parts_of_an_insert_leave_nothing_out(scenario: Scenario) -> None:
    """Many inserts of one call: each slot its own entry, in order."""
    entries = [{"n": n, "x": "b" * 200_000} for n in range(4)]
    schedule = scenario.make_schedule(
        "* * * * *", start_at="2020-01-01Z", inputs_rotation=Jsonb(entries)
    )
    end = scenario.db.value("select date_trunc('minute', now())")
    with as_user(scenario.db, scenario.tenant):
        answer = scenario.db.value(BACKFILL, [schedule, end - timedelta(minutes=99), False, end])
    assert answer["dispatched"] == 100
    assert [run.context_inputs["n"] for run in scenario.runs(schedule)] == [0, 1, 2, 3] * 25
