"""lenses.fn_pick_runs, asked directly: which pending runs a claim may have, and in which order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.run_scenario import RunScenario
from tests.support.scenario import NO_APPROVAL

SERIAL = {"approval_policy": NO_APPROVAL, "queue_policy": {"mode": "serial"}}
PAST = datetime.now(UTC) - timedelta(minutes=1)
FUTURE = datetime.now(UTC) + timedelta(days=1)


def picked(scenario: RunScenario, limit: int) -> list[str]:
    """The names of the runs that fn_pick_runs gives, in its order."""
    return scenario.db.column(
        "select r.metadata ->> 'name' from unnest(lenses.fn_pick_runs(%s)) with ordinality as p (id, place) "
        "inner join lenses.workflow_runs as r on r.id = p.id order by p.place",
        [limit],
    )


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        (1, ["urgent"]),
        (3, ["urgent", "first", "waited"]),
        (9, ["urgent", "first", "waited", "serial 1", "last"]),
    ],
)
def test_fn_pick_runs(scenario: RunScenario, limit: int, names: list[str]) -> None:
    """By priority, then age; what still waits, lacks approval, or is over its schedule's limit is left."""
    serial = scenario.make_schedule("0 9 * * *", **SERIAL)
    busy = scenario.make_schedule("0 9 * * *", **SERIAL)
    scenario.run(busy, metadata={"name": "running"})
    assert len(scenario.claim()) == 1
    scenario.run(metadata={"name": "first"})
    scenario.run(metadata={"name": "waited"}, available_at=PAST)
    scenario.run(metadata={"name": "waits"}, available_at=FUTURE)
    scenario.run(serial, metadata={"name": "serial 1"})
    scenario.run(serial, metadata={"name": "serial 2"})
    scenario.run(busy, metadata={"name": "full"})
    scenario.run(
        metadata={"name": "to approve"}, policies={"approval_policy": {"requiresApproval": True}}
    )
    scenario.run(metadata={"name": "last"})
    scenario.run(metadata={"name": "urgent"}, priority=7)
    assert picked(scenario, limit) == names
