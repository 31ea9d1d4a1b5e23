"""What a call by hand holds while it counts battles: its agents' limits, and nothing that others need."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from tests.support.database import Database, Tenant, as_user, make_tenant, wait_until_blocked
from tests.support.scenario import Scenario

TICK = "select lenses.fn_dispatch_scheduled_workflows(%s)"


class Arena:
    """Battles of one agent, some by way of a team; and somebody else's schedule."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.agent = scenario.make_agent()
        self.limit(self.agent)
        self.workflow = scenario.make_workflow(kind="battle", title="battle")
        self.team = scenario._insert("agents.teams", {"lenser_id": scenario.tenant.id})
        scenario.db.execute(
            "insert into agents.team_members (team_id, ai_lenser_id, lenser_id) values (%s, %s, %s)",
            [self.team, self.agent, scenario.tenant.id],
        )
        self.first, self.second = self.schedule(self.agent), self.schedule(self.agent)
        self.by_team = self.schedule(self.team, "team")
        self.of_another_agent = self.schedule(scenario.make_agent())
        other = make_tenant(scenario.db)
        self.others = scenario.make_schedule(
            "0 * * * *", workflow_id=scenario.make_workflow(other), start_at="2020-01-01Z"
        )
        self.at: datetime = scenario.db.value(
            "select date_trunc('hour', now()) + interval '1 hour'"
        )

    def limit(self, agent: UUID) -> None:
        self.scenario.db.execute(
            "insert into agents.policies (ai_lenser_id, lenser_id, max_daily_battles) "
            "values (%s, %s, 1000)",
            [agent, self.scenario.tenant.id],
        )

    def schedule(self, assignee: UUID, kind: str = "agent") -> UUID:
        return self.scenario.make_schedule(
            "0 * * * *",
            workflow_id=self.workflow,
            assignee_id=assignee,
            assignee_type=kind,
            start_at="2020-01-01Z",
        )

    def backfill(self, conn: Database, schedule: UUID) -> dict[str, int]:
        return conn.value(
            "select public.fn_backfill_schedule(%s, %s, false, now())",
            [schedule, self.at - timedelta(hours=4)],
        )

    @contextmanager
    def open_backfill(self, tenant: Tenant) -> Iterator[Database]:
        with self.scenario.db.another() as conn, as_user(conn, tenant):
            assert self.backfill(conn, self.first)["dispatched"] >= 3
            yield conn


@pytest.fixture
def arena(scenario: Scenario) -> Arena:
    return Arena(scenario)


def test_an_open_backfill_holds_up_nobody_else(arena: Arena, committed: None) -> None:
    scenario = arena.scenario
    with arena.open_backfill(scenario.tenant), scenario.db.another() as conn:
        conn.execute("set lock_timeout = '1s'")
        conn.execute(TICK, [arena.at])
        assert scenario.slots(arena.others) == [arena.at]
        assert scenario.slots(arena.of_another_agent) == [arena.at]
        for waiting in (arena.second, arena.by_team):
            assert scenario.slots(waiting) == []
            assert scenario.schedule(waiting).last_dispatch_status == "deferred"
        conn.execute("select lenses.fn_freeze_dispatch('stop')")
        conn.execute("select lenses.fn_unfreeze_dispatch()")
    later = arena.at + timedelta(minutes=1)
    scenario.db.execute(TICK, [later])
    for waiting in (arena.first, arena.second, arena.by_team):
        assert scenario.slots(waiting)[-1] == arena.at
        assert scenario.missed(waiting) == []


def test_backfills_of_one_agent_take_turns(arena: Arena, committed: None) -> None:
    """So that the limit holds: the second counts what the first has made."""
    scenario = arena.scenario
    scenario.db.execute("update agents.policies set max_daily_battles = 3")
    with scenario.db.another() as second, ThreadPoolExecutor(1) as pool:

        def late() -> dict[str, int]:
            with as_user(second, scenario.tenant):
                return arena.backfill(second, arena.second)

        with arena.open_backfill(scenario.tenant):
            answer = pool.submit(late)
            wait_until_blocked(scenario.db, second)
        assert answer.result()["dispatched"] == 0
