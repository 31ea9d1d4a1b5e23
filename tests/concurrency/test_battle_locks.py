"""What a call by hand holds while it counts battles: its agents' limits, and nothing that others need."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from tests.dispatch.conftest import House, house
from tests.support.database import Database, Tenant, as_user, make_tenant, wait_until

TICK = "select lenses.fn_dispatch_scheduled_workflows(%s)"


class Arena:
    """Battles of one agent, some by way of a team; and somebody else's schedule."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.agent = house.make_agent()
        self.limit(self.agent)
        self.workflow = house.make_workflow(kind="battle", title="battle")
        self.team = house._insert("agents.teams", {"lenser_id": house.tenant.id})
        house.db.execute(
            "insert into agents.team_members (team_id, ai_lenser_id, lenser_id) values (%s, %s, %s)",
            [self.team, self.agent, house.tenant.id],
        )
        self.first, self.second = self.schedule(self.agent), self.schedule(self.agent)
        self.by_team = self.schedule(self.team, "team")
        self.of_another_agent = self.schedule(house.make_agent())
        other = make_tenant(house.db)
        self.others = house.make_schedule(
            "0 * * * *", workflow_id=house.make_workflow(other), start_at="2020-01-01Z"
        )
        self.at: datetime = house.db.value("select date_trunc('hour', now()) + interval '1 hour'")

    def limit(self, agent: UUID) -> None:
        self.house.db.execute(
            "insert into agents.policies (ai_lenser_id, lenser_id, max_daily_battles) "
            "values (%s, %s, 1000)",
            [agent, self.house.tenant.id],
        )

    def schedule(self, assignee: UUID, kind: str = "agent") -> UUID:
        return self.house.make_schedule(
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
        with self.house.db.another() as conn, as_user(conn, tenant):
            assert self.backfill(conn, self.first)["dispatched"] >= 3
            yield conn


__all__ = ["house"]


@pytest.fixture
def arena(house: House) -> Arena:
    return Arena(house)


def test_an_open_backfill_holds_up_nobody_else(arena: Arena) -> None:
    house = arena.house
    with arena.open_backfill(house.tenant), house.db.another() as conn:
        conn.execute("set lock_timeout = '1s'")
        conn.execute(TICK, [arena.at])
        assert house.slots(arena.others) == [arena.at]
        assert house.slots(arena.of_another_agent) == [arena.at]
        for waiting in (arena.second, arena.by_team):
            assert house.slots(waiting) == []
            assert house.schedule(waiting).last_dispatch_status == "deferred"
        conn.execute("select lenses.fn_freeze_dispatch('stop')")
        conn.execute("select lenses.fn_unfreeze_dispatch()")
    later = arena.at + timedelta(minutes=1)
    house.db.execute(TICK, [later])
    for waiting in (arena.first, arena.second, arena.by_team):
        assert house.slots(waiting)[-1] == arena.at
        assert house.missed(waiting) == []


def test_backfills_of_one_agent_take_turns(arena: Arena) -> None:
    """So that the limit holds: the second counts what the first has made."""
    house = arena.house
    house.db.execute("update agents.policies set max_daily_battles = 3")
    blocked = "select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
    with house.db.another() as second, ThreadPoolExecutor(1) as pool:

        def late() -> dict[str, int]:
            with as_user(second, house.tenant):
                return arena.backfill(second, arena.second)

        with arena.open_backfill(house.tenant):
            answer = pool.submit(late)
            wait_until(lambda: house.db.rows(blocked, [second.info.backend_pid]))
        assert answer.result()["dispatched"] == 0
