"""Two installed databases on one server, and what tests of cells do with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from lf_sql import db as product_db
from lf_sql.cells import tenant
from tests.support.database import Database, connect
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

    def slots(self) -> list[tuple[UUID, datetime]]:
        """What fired, by schedule and slot; a run that has gone on elsewhere does not count."""
        return self.db.rows(
            "select r.schedule_id, r.scheduled_for from lenses.workflow_runs as r "
            "inner join lensers.profiles as p on p.id = r.lenser_id and p.departed_at is null "
            "where r.schedule_id is not null and r.scheduled_for is not null order by 1, 2"
        )

    def violations(self) -> list[Any]:
        return self.db.rows("select * from lenses.fn_invariant_violations()")

    @contextmanager
    def as_tenant(self, user_id: UUID | str) -> Iterator[Database]:
        """A session that acts as the tenant, in one transaction."""
        with self.db.another() as conn, conn.transaction():
            conn.execute("set local role authenticated")
            conn.execute(
                "select set_config('request.jwt.claims', jsonb_build_object('sub', %s::text)::text, "
                "true)",
                [str(user_id)],
            )
            yield conn


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
