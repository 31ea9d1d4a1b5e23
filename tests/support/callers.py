"""A tenant who calls RPCs, and what he needs to have something to call them about."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.support.database import Database, Tenant, as_user

ACYCLIC = {
    "nodes": [{"id": "a"}, {"id": "b", "action": "publish"}],
    "edges": [{"from": "a", "to": "b"}],
}
CYCLIC = {
    "nodes": [{"id": "a"}, {"id": "b"}],
    "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}],
}


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def call(
    function: str, arguments: dict[str, Any], schema: str = "public"
) -> tuple[sql.Composed, list[Any]]:
    named = sql.SQL(", ").join(
        sql.SQL("{} => %s").format(sql.Identifier(f"p_{name}")) for name in arguments
    )
    query = sql.SQL("select * from {}({})").format(sql.Identifier(schema, function), named)
    return query, [Jsonb(v) if isinstance(v, dict) else v for v in arguments.values()]


@dataclass
class Caller:
    """Arguments are the parameters' names without `p_`; a dict is jsonb."""

    db: Database
    tenant: Tenant | str | None
    role: str = "authenticated"

    def rows(self, function: str, /, **arguments: Any) -> list[Any]:
        query, values = call(function, arguments)
        with as_user(self.db, self.tenant, self.role) as conn:
            return conn.execute(query, values).fetchall()

    def one(self, function: str, /, **arguments: Any) -> Any:
        rows = self.rows(function, **arguments)
        assert len(rows) == 1
        return rows[0]

    def value(self, function: str, /, **arguments: Any) -> Any:
        return self.one(function, **arguments)[0]

    def refused(
        self, sqlstate: str, function: str, /, **arguments: Any
    ) -> psycopg.errors.Diagnostic:
        with pytest.raises(psycopg.Error) as caught:
            self.rows(function, **arguments)
        found = caught.value.diag
        assert found.sqlstate == sqlstate, f"{found.sqlstate}: {found.message_primary}"
        assert found.message_primary
        return found

    def workflow(self, **arguments: Any) -> Any:
        return self.one("fn_upsert_workflow", **{"title": "a workflow", **arguments})

    def schedule(self, workflow_id: uuid.UUID | None = None, **arguments: Any) -> Any:
        return self.one(
            "fn_upsert_workflow_schedule",
            workflow_id=workflow_id or self.workflow().id,
            **arguments,
        )

    def saved(self, schedule_id: uuid.UUID) -> Any:
        return self.db.row("select * from lenses.workflow_schedules where id = %s", [schedule_id])

    def agent(self, name: str = "agent") -> uuid.UUID:
        assert isinstance(self.tenant, Tenant)
        return self.db.value(
            "insert into agents.ai_lensers (lenser_id, name) values (%s, %s) returning id",
            [self.tenant.id, name],
        )
