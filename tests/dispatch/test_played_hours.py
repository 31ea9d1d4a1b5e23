"""Hours of overload, played: tenants of every size, ticks cut off by limits, rows that somebody holds."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from tests.support.database import Database, make_tenant
from tests.support.scenario import Scenario, at

CRONS = {"* * * * *": 1, "*/2 * * * *": 2, "*/5 * * * *": 5}


def crowd(scenario: Scenario, rng: random.Random) -> dict[UUID, dict[UUID, int]]:
    """Tenants with their schedules, and every how many minutes each has a slot."""
    found: dict[UUID, dict[UUID, int]] = {}
    for count in (1, 2, rng.randint(3, 6), rng.randint(10, 16)):
        tenant = make_tenant(scenario.db)
        workflow = scenario.make_workflow(tenant)
        crons = [rng.choice(list(CRONS)) for _ in range(count)]
        found[tenant.id] = {
            scenario.make_schedule(cron, workflow_id=workflow): CRONS[cron] for cron in crons
        }
    return found


class Holder:
    """A session that holds some rows over some minutes."""

    def __init__(self, db: Database, rng: random.Random, schedules: list[UUID]) -> None:
        self.db, self.rng, self.schedules = db, rng, schedules
        self.held: set[UUID] = set()
        self.until = 0

    def move(self, minute: int) -> None:
        if minute < self.until:
            return
        if self.held:
            self.db.execute("rollback")
        self.held = set(self.rng.sample(self.schedules, self.rng.randint(0, 4)))
        self.until = minute + self.rng.randint(1, 9)
        if self.held:
            self.db.execute("begin")
            self.db.execute(
                "select from lenses.workflow_schedules where id = any (%s) for update",
                [list(self.held)],
            )

    def let_go(self) -> None:
        if self.held:
            self.db.execute("rollback")


def due(scenario: Scenario, now: datetime, held: set[UUID]) -> dict[UUID, set[UUID]]:
    """By tenant, what a tick can take."""
    found: dict[UUID, set[UUID]] = {}
    for row in scenario.db.rows(
        "select lenser_id, schedule_id from lenses.schedule_due where due_at <= %s", [now]
    ):
        if row.schedule_id not in held:
            found.setdefault(row.lenser_id, set()).add(row.schedule_id)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_nothing_on_time_is_lost_doubled_or_kept_from_its_share(
    scenario: Scenario, seed: int, committed: None
) -> None:
    """A tick comes each minute but for outages; only what fell due in one of these is dropped."""
    rng = random.Random(seed)
    tenants = crowd(scenario, rng)
    schedules = {s: every for mine in tenants.values() for s, every in mine.items()}
    came: list[int] = []
    outages, minute = 0, 0
    with scenario.db.another() as user:
        holder = Holder(user, rng, list(schedules))
        while minute < 120:
            holder.move(minute)
            now, limit = at(minute) + timedelta(seconds=2), rng.randint(4, 14)
            before = due(scenario, now, holder.held)
            scenario.tick(now, limit=limit)
            after = due(scenario, now, holder.held)
            came.append(minute)
            if not outages:
                share = limit // max(len(before), 1)
                for tenant, mine in before.items():
                    assert len(mine - after.get(tenant, set())) >= min(len(mine), share)
            gap = rng.choice([1] * 30 + [9, 17])
            outages += gap > 2
            minute += gap
        holder.let_go()
    end = max(minute, 120)
    came.append(end)
    while scenario.tick(at(end) + timedelta(seconds=2)):
        pass
    for schedule, every in schedules.items():
        slots = list(range(0, end + 1, every))
        on_time = [
            at(m) for m in slots
            if timedelta(minutes=min(c for c in came if c >= m) - m, seconds=2)
            <= timedelta(minutes=2)
        ]  # fmt: skip
        runs = scenario.runs(schedule)
        assert [run.scheduled_for for run in runs] == on_time
        assert [run.created_at for run in runs] == sorted(run.created_at for run in runs)
        dropped = sum(count for count, _, _ in scenario.missed(schedule))
        assert dropped == len(slots) - len(on_time)
    assert len(came) > 30
