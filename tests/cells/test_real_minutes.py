"""Workers drive two cells by the real clock while tenants move between them."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from tests.cells.fleet import Fleet
from tests.support.database import wait_until
from tests.support.processes import running

MINUTES = 2
SLOTS = (
    "select schedule_id, scheduled_for from lenses.workflow_runs where scheduled_for is not null"
)


@pytest.mark.slow
@pytest.mark.clock
def test_each_minute_once_over_both(fleet: Fleet) -> None:
    users = [fleet.place(name, 0) for name in ("a", "b") for _ in range(5)]
    for number, user in enumerate(users):
        fleet.now = datetime.now(UTC) - timedelta(minutes=1)  # no slot before it is stored
        fleet.schedule("ab"[number // 5], user, 2)
    a, b = fleet.databases.values()
    first = max(
        conn.value("select max(next_run_at) from lenses.workflow_schedules") for conn in (a, b)
    )
    last = first + timedelta(minutes=MINUTES)
    dice = random.Random(22)
    with running(a.dsn, "worker"), running(b.dsn, "worker"):
        while a.value("select now()") < last:
            user = dice.choice(users)
            (here,) = fleet.active(user)
            fleet.did("cells", "move", user, "--to", "b" if here == "a" else "a")
        wanted = {
            (schedule, first + timedelta(minutes=minute))
            for schedule in fleet.schedules()
            for minute in range(MINUTES + 1)
        }
        wait_until(lambda: wanted <= fleet.slots())
    slots = {tuple(row) for conn in (a, b) for row in conn.rows(SLOTS)}
    made = sum(
        conn.value("select sum(dispatched) from lenses.dispatch_ticks") or 0 for conn in (a, b)
    )
    assert made == len(slots)
    for conn in (a, b):
        assert conn.rows("select * from lenses.fn_invariant_violations()") == []
    fleet.did("cells", "verify")
