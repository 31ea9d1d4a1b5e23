"""Two installed databases on one server, and what tests of cells do with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from lf_sql import db as product_db
from lf_sql.cells import tenant
from tests.support.database import Database, Tenant, as_user, connect
from tests.support.state import State


@dataclass
class Cell:
    """`db` is a superuser's session, `conn` the product's own connection."""

    name: str
    db: Database
    conn: product_db.Connection

    @classmethod
    def start(cls, state: State, name: str) -> Cell:
        dsn = state.server.dsn(state.fresh(installed=True))
        return cls(name, connect(dsn), product_db.connect(dsn))

    def close(self, state: State) -> None:
        name = self.db.dbname
        self.db.close()
        self.conn.close()
        state.drop(name)

    def tick(self, now: datetime) -> int:
        return self.db.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [now])

    def presence(self, lenser_id: UUID) -> str:
        return tenant.presence(self.conn, lenser_id)

    def live_slots(self, schedule: UUID) -> list[datetime]:
        """Slots with a run that waits or has been carried out here, not those that went on."""
        return self.db.column(
            "select r.scheduled_for from lenses.workflow_runs as r where r.schedule_id = %s "
            "and r.scheduled_for is not null and r.status <> 'cancelled' order by 1",
            [schedule],
        )

    def status(self, run: UUID) -> str:
        return self.db.value("select status from lenses.workflow_runs where id = %s", [run])

    def events(self, run: UUID) -> list[str]:
        return self.db.column(
            "select event_type from lenses.workflow_run_events where run_id = %s order by seq",
            [run],
        )

    def claim(self, limit: int = 10) -> list[UUID]:
        with as_user(self.db, None, "service_role") as conn:
            return conn.column(
                "select id from lenses.fn_claim_workflow_runs('w', %s, interval '1 hour')", [limit]
            )

    def complete(self, run: UUID) -> bool:
        with as_user(self.db, None, "service_role") as conn:
            return conn.value("select lenses.fn_complete_workflow_run(%s, 'w', '{}')", [run])

    def departed_rows(self, lenser_id: UUID) -> int:
        return self.db.value(
            "select count(*) from lenses.departed_rows where lenser_id = %s", [lenser_id]
        )

    def violations(self) -> list[Any]:
        return self.db.rows("select * from lenses.fn_invariant_violations()")

    def rows(self, lenser_id: UUID | str) -> dict[str, list[dict[str, Any]]]:
        """All rows of a tenant by table, but the columns that count up or are a cell's own."""
        own = {"lensers.profiles": "id"}
        found = {}
        for table in self.db.column("select table_name from lenses.fn_tenant_tables()"):
            column = own.get(table, "lenser_id")
            if table.startswith("lenses.deliver"):
                continue
            rows = self.db.column(
                f"select to_jsonb(t) from {table} as t where t.{column} = %s", [lenser_id]
            )
            for row in rows:
                for name in LOCAL.get(table, ()):
                    row.pop(name)
            found[table] = sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
        due = "select to_jsonb(t) from lenses.schedule_due as t where t.lenser_id = %s order by 1"
        found["lenses.schedule_due"] = self.db.column(due, [lenser_id])
        return found


LOCAL = {
    "lensers.profiles": (
        "departed_at",
        "departed_to",
        "departure_settled_at",
        "source_departed_at",
    ),
    "lenses.workflow_schedules": ("tick_id", "tick_slots"),
    "lenses.workflow_runs": ("last_event_seq",),
    "lenses.workflow_run_events": ("id",),
    "agents.agent_run_events": ("id",),
    "agents.action_logs": ("id",),
    "lenses.outbox": ("id", "worker_id", "lease_expires_at"),
}


def without_moves(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Less the events that say that a run departed and arrived."""
    events = [
        row
        for row in rows["lenses.workflow_run_events"]
        if row["event_type"] not in ("run.departed", "run.arrived")
    ]
    return {**rows, "lenses.workflow_run_events": events}


@dataclass
class TwoCells:
    one: Cell
    two: Cell
    state: State

    @classmethod
    def start(cls, state: State) -> TwoCells:
        return cls(Cell.start(state, "one"), Cell.start(state, "two"), state)

    def close(self) -> None:
        self.one.close(self.state)
        self.two.close(self.state)

    def violations(self) -> list[Any]:
        return [*self.one.violations(), *self.two.violations()]

    def move(self, lenser_id: UUID, source: Cell, target: Cell) -> None:
        assert tenant.depart(source.conn, [lenser_id], target.name) == [lenser_id]
        assert tenant.carry(source.conn, target.conn, lenser_id)
        assert tenant.settle(source.conn, [lenser_id]) == [lenser_id]


@contextmanager
def refused(sqlstate: str, message: str = "", hint: str = "") -> Iterator[None]:
    """What is within must raise this SQLSTATE with these texts."""
    with pytest.raises(psycopg.Error) as caught:
        yield
    found = caught.value.diag
    assert found.sqlstate == sqlstate, f"{found.sqlstate}: {found.message_primary}"
    assert message in (found.message_primary or "")
    assert hint in (found.message_hint or "")


def schedules_of(cell: Cell, owner: Tenant) -> list[Any]:
    """As the tenant's own call answers."""
    with as_user(cell.db, owner) as conn:
        return conn.rows("select * from public.fn_workflow_get_schedules()")
