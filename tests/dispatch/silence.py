"""What makes a schedule fall silent, and what brings it back: for tests."""

from __future__ import annotations

from uuid import UUID

from tests.support.scenario import Scenario
from tests.support.work import unguarded

LOST = "Atlantis/Capital"


BACKFILL = {"mode": "parallel", "onMissed": "backfill", "maxBackfill": 1000}


def kill(scenario: Scenario, schedule: UUID) -> None:
    """An active schedule without a next slot, as no trigger would leave it."""
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.set(schedule, next_run_at=None, due_at=None)
    scenario.db.execute(
        "update lenses.schedule_due set due_at = null where schedule_id = %s", [schedule]
    )


def lose_zone(scenario: Scenario, schedule: UUID) -> None:
    with unguarded(scenario.db, "lenses.workflow_schedules"):
        scenario.set(schedule, timezone=LOST)
