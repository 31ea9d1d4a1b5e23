"""A tick looks for runs of its slots only where it must, and decides as one that always looks."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.support.database import Database, Tenant
from tests.support.scenario import Scenario, at

MODES = "array['optimistic', 'tick']"
# What differs between two plays of one world: sequences, clocks, and the tick's own id.
VOLATILE = {
    "lenses.dispatch_ticks": {"id", "finished_at"},
    "lenses.workflow_run_events": {"id"},
    "lenses.workflow_schedules": {"tick_id"},
    "lenses.run_counts": {"id"},
    "agents.agent_run_events": {"id"},
    "agents.action_logs": {"id"},
}
TABLES = (
    "select format('%I.%I', n.nspname, c.relname) from pg_class as c "
    "join pg_namespace as n on n.oid = c.relnamespace "
    "where n.nspname in ('lenses', 'agents') and c.relkind in ('r', 'p') and not c.relispartition"
)
OVER = ["completed", "failed", "cancelled"]


class World(Scenario):
    """Schedules of every policy, many of whose slots have runs; its dice decide everything."""

    def __init__(self, db: Database, dice: random.Random) -> None:
        self.db = db
        self.dice = dice
        self.tenant = Tenant(self.an_id(), self.an_id(), "dice")
        db.execute(
            "insert into lensers.profiles (id, user_id, handle) values (%s, %s, 'dice')",
            [self.tenant.id, self.tenant.user_id],
        )
        settings = {"max_catchup_per_tick": dice.choice([1, 3, 100])}
        db.execute("select lenses.fn_set_dispatch_settings(%s)", [json.dumps(settings)])
        kinds = ["workflow", "workflow", "battle"]
        self.workflows = [self.make_workflow(id=self.an_id(), kind=kind) for kind in kinds]
        self.workflow = self.workflows[0]
        self.schedules = [self.a_schedule() for _ in range(8)]
        for _ in range(12):
            self.take(dice.randint(-2, 14))

    def an_id(self) -> UUID:
        return UUID(int=self.dice.getrandbits(128), version=4)

    def an_agent(self) -> UUID:
        """One a schedule: which of two gets the last battle depends on where their rows lie."""
        agent = self._insert("agents.ai_lensers", {"id": self.an_id(), "lenser_id": self.tenant.id})
        self.db.execute(
            "insert into agents.policies (ai_lenser_id, max_daily_battles) values (%s, %s)",
            [agent, self.dice.randint(1, 5)],
        )
        return agent

    def a_schedule(self) -> tuple[UUID, UUID]:
        dice = self.dice
        workflow = dice.choice(self.workflows)
        queue = {
            "mode": dice.choice(["serial", "parallel"]),
            "onOverlap": dice.choice(["skip", "queue", "replace"]),
            "onMissed": dice.choice(["skip", "run_once", "backfill", "spread"]),
        }
        if queue["mode"] == "serial" and queue["onMissed"] in ("backfill", "spread"):
            del queue["onOverlap"]  # skip contradicts them
        columns: dict[str, Any] = {"queue_policy": queue if dice.random() < 0.7 else {}}
        if dice.random() < 0.4:
            columns["inputs_rotation"] = json.dumps([{"n": n} for n in range(dice.randint(1, 4))])
        if dice.random() < 0.3:
            columns["jitter_ms"] = dice.choice([30_000, 90_000])
        if workflow == self.workflows[2] or dice.random() < 0.2:
            columns["assignee_id"] = self.an_agent()
        if dice.random() < 0.2:
            columns["pre_dispatch_condition"] = {
                "/last_24h_stats/total": {"lt": dice.randint(3, 12)}
            }
        if dice.random() < 0.2:
            columns["approval_policy"] = {"requiresApproval": True}
        cron = dice.choice(["* * * * *", "*/2 * * * *", "*/3 * * * *"])
        schedule = self.make_schedule(cron, id=self.an_id(), workflow_id=workflow, **columns)
        return schedule, workflow

    def take(self, minute: int) -> None:
        """A run of a slot, by the slot or by its key alone, or a second or more beside it."""
        schedule, workflow = self.dice.choice(self.schedules)
        slot = at(minute) + timedelta(seconds=self.dice.choice([0, 0, 0, 0, 7]))
        columns: dict[str, Any] = {"schedule_id": schedule, "scheduled_for": slot}
        if self.dice.random() < 0.2:
            key = self.db.value("select lenses.fn_slot_key(%s, %s)", [schedule, slot])
            columns = {"idempotency_key": key}
        columns |= {"workflow_id": workflow, "trigger_mode": "backfill", "created_at": at(-5)}
        columns["status"] = self.dice.choice(["pending", *OVER])
        if not self.db.value(
            "select exists (select from lenses.workflow_runs as r where r.schedule_id = %(id)s "
            "and date_trunc('second', r.scheduled_for) = %(slot)s "
            "or r.idempotency_key = lenses.fn_slot_key(%(id)s, %(slot)s))",
            {"id": schedule, "slot": slot},
        ):
            self._insert("lenses.workflow_runs", columns)

    def rows(self) -> dict[str, list[str]]:
        found = {}
        for table in sorted(self.db.column(TABLES)):
            rows = self.db.column(f"select to_jsonb(t) from {table} as t")
            volatile = VOLATILE.get(table, set())
            found[table] = sorted(
                json.dumps({k: v for k, v in row.items() if k not in volatile}, sort_keys=True)
                for row in rows
            )
        return found

    def tell(self) -> list[tuple[int, dict[str, list[str]]]]:
        """Ten ticks, with runs that end and slots that are taken between them: what each left."""
        dice, minute, told = self.dice, 0, []
        for _ in range(10):
            minute += dice.choice([1, 1, 1, 2, 5])
            made = self.tick(at(minute))
            told.append((made, self.rows()))
            if dice.random() < 0.5:
                waiting = "select id from lenses.workflow_runs where status = 'pending' order by id"
                for run in self.db.column(waiting)[: dice.choice([1, 3, 100])]:
                    self.end(run, dice.choice(["completed", "failed"]), at(minute))
            else:
                self.take(minute + dice.randint(-1, 3))
        return told


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 40))]
)
def test_it_decides_as_a_tick_that_always_looks(db: Database, seed: int) -> None:
    definition = db.value("select pg_get_functiondef('lenses.fn_dispatch_schedules'::regproc)")
    assert definition.count(MODES) == 1
    told = []
    for modes in (MODES, "array['tick']"):
        with db.transaction(force_rollback=True):
            db.execute(definition.replace(MODES, modes))
            told.append(World(db, random.Random(seed)).tell())
    assert sum(made for made, _ in told[0]) > 0
    for (made, rows), (made_looking, rows_looking) in zip(*told, strict=True):
        assert made == made_looking
        for table, found in rows.items():
            assert found == rows_looking[table], table
