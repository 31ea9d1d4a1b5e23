"""The ledger has one row a slot, whatever came of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.support.callers import Caller
from tests.support.scenario import Scenario

HOUR = timedelta(hours=1)


def ledger(scenario: Scenario, schedule: UUID) -> list[Any]:
    return scenario.db.rows(
        "select status, reason, run_at, run_at_last, slot_count from lenses.schedule_slots "
        "where schedule_id = %s order by run_at, status",
        [schedule],
    )


def test_a_backfilled_slot_that_waited(scenario: Scenario) -> None:
    hour = scenario.db.value("select date_trunc('hour', now())")
    schedule = scenario.make_schedule(
        "0 * * * *", next_run_at=hour - 3 * HOUR, created_at=hour - 9 * HOUR,
        queue_policy={"mode": "serial", "onOverlap": "queue"},
    )  # fmt: skip
    scenario.tick(hour - 3 * HOUR)
    scenario.tick(hour - 2 * HOUR)
    waited = hour - 2 * HOUR
    assert [row.status for row in ledger(scenario, schedule)] == ["ENQUEUED", "DEFERRED"]
    Caller(scenario.db, scenario.tenant).value(
        "fn_backfill_schedule", schedule_id=schedule, since=waited, until=waited
    )
    assert [row.status for row in ledger(scenario, schedule) if row.run_at == waited] == [
        "ENQUEUED"
    ]


def test_one_backfilled_slot_of_many_dropped_together(scenario: Scenario) -> None:
    """The others stay where they are, and nothing counts twice."""
    hour = scenario.db.value("select date_trunc('hour', now())")
    first, last = hour - 5 * HOUR, hour - HOUR
    schedule = scenario.make_schedule("0 * * * *", next_run_at=first, created_at=hour - 9 * HOUR)
    scenario.tick(hour - 7 * HOUR)
    scenario.tick(hour - HOUR / 2)
    assert scenario.missed(schedule) == [(5, first, last)]
    caller = Caller(scenario.db, scenario.tenant)
    for done, slot in enumerate((last, hour - 3 * HOUR), start=1):
        caller.value("fn_backfill_schedule", schedule_id=schedule, since=slot, until=slot)
        rows = ledger(scenario, schedule)
        assert sum(row.slot_count for row in rows) == 5
        assert [row.slot_count for row in rows if row.status == "SKIPPED"] == [5 - done]
    caller.value("fn_backfill_schedule", schedule_id=schedule, since=first, until=last)
    assert [row.status for row in ledger(scenario, schedule)] == ["ENQUEUED"] * 5
