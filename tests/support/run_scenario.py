"""A scenario whose runs are executed: the functions of executors, called by the role that executes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.database import Database, as_user
from tests.support.scenario import NO_APPROVAL, Scenario

FREE = {"approval_policy": NO_APPROVAL}
MINUTE = timedelta(minutes=1)


class RunScenario(Scenario):
    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._ages = itertools.count()

    def run(self, schedule: UUID | None = None, **columns: Any) -> UUID:
        """A run inserted by hand, each younger than the one before; free unless `policies` say more."""
        age = datetime.now(UTC) - timedelta(hours=1) + timedelta(seconds=next(self._ages))
        columns = {"workflow_id": self.workflow, "policies": FREE, "created_at": age, **columns}
        if schedule:
            columns["schedule_id"] = schedule
        return self._insert("lenses.workflow_runs", columns)

    def policies(self, **policies: Any) -> dict[str, Any]:
        return {**FREE, **{f"{name}_policy": value for name, value in policies.items()}}

    def row(self, run: UUID) -> Any:
        return self.db.row("select * from lenses.workflow_runs where id = %s", [run])

    def claim(
        self,
        worker: str = "w",
        limit: int = 1,
        lease: timedelta = MINUTE,
        db: Database | None = None,
    ) -> list[Any]:
        with as_user(db or self.db, None, "service_role") as conn:
            return conn.execute(
                "select * from lenses.fn_claim_workflow_runs(%s, %s, %s)", [worker, limit, lease]
            ).fetchall()

    def claimed(self, worker: str = "w", limit: int = 1) -> list[UUID]:
        return [run.id for run in self.claim(worker, limit)]

    @contextmanager
    def refused(self, sqlstate: str, message: str = "") -> Iterator[None]:
        """What is within must raise this SQLSTATE, with `message` in its text; it is undone."""
        with pytest.raises(psycopg.Error) as caught, self.db.transaction():
            yield
        found = caught.value.diag
        assert found.sqlstate == sqlstate, f"{found.sqlstate}: {found.message_primary}"
        assert message in (found.message_primary or "")

    def _call(self, query: str, values: list[Any]) -> Any:
        with as_user(self.db, None, "service_role") as conn:
            row = conn.execute(query, values).fetchone()
            assert row
            return row[0]

    def complete(self, run: UUID, worker: str = "w", result: Any = None, spent: Any = 0) -> bool:
        return self._call(
            "select lenses.fn_complete_workflow_run(%s, %s, %s, %s)",
            [run, worker, Jsonb(result), spent],
        )

    def fail(
        self, run: UUID, worker: str = "w", cause: str = "provider_error", error: str = "no"
    ) -> bool:
        return self._call(
            "select lenses.fn_fail_workflow_run(%s, %s, %s, %s)", [run, worker, cause, error]
        )

    def heartbeat(self, run: UUID, worker: str = "w", lease: timedelta = MINUTE) -> bool:
        return self._call(
            "select lenses.fn_heartbeat_workflow_run(%s, %s, %s)", [run, worker, lease]
        )

    def append(self, run: UUID, event: str, payload: Any = None, worker: str = "w") -> bool:
        return self._call(
            "select lenses.fn_append_run_event(%s, %s, %s, %s)",
            [run, worker, event, Jsonb(payload or {})],
        )

    def cancel(self, run: UUID) -> bool:
        return self._call("select lenses.fn_cancel_workflow_run(%s)", [run])

    def reap(self) -> int:
        return self._call("select lenses.fn_reap_workflow_runs()", [])

    def decide(self, run: UUID, decision: str = "approved", note: str | None = None) -> Any:
        with as_user(self.db, self.tenant, "authenticated") as conn:
            return conn.execute(
                "select * from public.fn_decide_workflow_run(%s, %s, %s)", [run, decision, note]
            ).fetchone()

    def let_lease_expire(self, run: UUID) -> None:
        self.db.execute(
            "update lenses.workflow_runs set lease_expires_at = now() - interval '1 second' "
            "where id = %s",
            [run],
        )

    def make_available(self, run: UUID) -> None:
        self.db.execute("update lenses.workflow_runs set available_at = null where id = %s", [run])

    def events(self, run: UUID) -> list[tuple[int, str]]:
        return [
            (row.seq, row.event_type)
            for row in self.db.rows(
                "select seq, event_type from lenses.workflow_run_events where run_id = %s "
                "order by seq",
                [run],
            )
        ]

    def event(self, run: UUID, event_type: str) -> Any:
        """The payload of the newest event of that type."""
        return self.db.value(
            "select payload from lenses.workflow_run_events where run_id = %s and event_type = %s "
            "order by seq desc limit 1",
            [run, event_type],
        )

    def team_run(self, run: UUID) -> Any:
        return self.db.row("select * from agents.team_runs where workflow_run_id = %s", [run])

    def team_events(self, run: UUID) -> list[str]:
        return self.db.column(
            "select e.event_type from agents.agent_run_events as e "
            "join agents.team_runs as t on t.id = e.team_run_id "
            "where t.workflow_run_id = %s order by e.id",
            [run],
        )

    def actions(self, schedule: UUID) -> list[str]:
        return self.db.column(
            "select action_type from agents.action_logs where schedule_id = %s order by id",
            [schedule],
        )

    def make_team(self, *members: UUID) -> UUID:
        team = self._insert("agents.teams", {"lenser_id": self.tenant.id})
        for member in members:
            self.db.execute(
                "insert into agents.team_members (team_id, ai_lenser_id, lenser_id) "
                "values (%s, %s, %s)",
                [team, member, self.tenant.id],
            )
        return team


def said(error: psycopg.Error) -> tuple[str | None, ...]:
    """All that a client of PostgREST sees of an error."""
    found = error.diag
    return found.sqlstate, found.message_primary, found.message_detail, found.message_hint
