"""A scenario: one tenant with one workflow, and the tick played at any instant."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from tests.support.database import Database, Tenant, make_tenant

MONDAY = datetime(2027, 3, 1, 9, 0, tzinfo=UTC)
"""A Monday in the future of every test, so that nothing but the played clock makes it due."""

NO_APPROVAL = {"requiresApproval": False}


class Scenario:
    def __init__(self, db: Database) -> None:
        self.db = db
        self.tenant: Tenant = make_tenant(db)
        self.workflow: UUID = self.make_workflow()

    def make_workflow(self, tenant: Tenant | None = None, **columns: Any) -> UUID:
        columns = {"lenser_id": (tenant or self.tenant).id, "title": "report", **columns}
        return self._insert("lenses.workflows", columns)

    def make_agent(self, tenant: Tenant | None = None) -> UUID:
        return self._insert("agents.ai_lensers", {"lenser_id": (tenant or self.tenant).id})

    def make_calendar(
        self, kind: str, *dates: str, timezone: str = "UTC", name: str | None = None
    ) -> UUID:
        return self._insert(
            "lenses.schedule_calendars",
            {"lenser_id": self.tenant.id, "name": name or f"{kind} {dates[0]}", "kind": kind,
             "timezone": timezone, "dates": list(dates)},
        )  # fmt: skip

    def make_schedule(self, cron: str | None = "*/5 * * * *", **columns: Any) -> UUID:
        """Without `next_run_at` or `start_at` the first slot is the first from MONDAY on."""
        columns = {
            "workflow_id": self.workflow,
            "cron_expr": cron,
            "approval_policy": NO_APPROVAL,
            **columns,
        }
        if "next_run_at" not in columns:
            columns.setdefault("start_at", MONDAY)
        return self._insert("lenses.workflow_schedules", columns)

    def _insert(self, table: str, columns: dict[str, Any]) -> UUID:
        names = ", ".join(columns)
        marks = ", ".join(["%s"] * len(columns))
        values = [json.dumps(v) if isinstance(v, dict) else v for v in columns.values()]
        return self.db.value(f"insert into {table} ({names}) values ({marks}) returning id", values)

    def set(self, schedule: UUID, **columns: Any) -> None:
        sets = ", ".join(f"{name} = %s" for name in columns)
        values = [json.dumps(v) if isinstance(v, dict) else v for v in columns.values()]
        self.db.execute(
            f"update lenses.workflow_schedules set {sets} where id = %s", [*values, schedule]
        )

    def tick(self, now: datetime, limit: int | None = None) -> int:
        return self.db.value("select lenses.fn_dispatch_scheduled_workflows(%s, %s)", [now, limit])

    def play(self, start: datetime, end: datetime, step: timedelta = timedelta(minutes=1)) -> int:
        """Ticks at start, start + step … up to and including end; how many runs that made."""
        runs = 0
        while start <= end:
            runs += self.tick(start)
            start += step
        return runs

    def schedule(self, schedule: UUID) -> Any:
        return self.db.row("select * from lenses.workflow_schedules where id = %s", [schedule])

    def slots(self, schedule: UUID) -> list[datetime]:
        """Slots that have a run, in order."""
        return self.db.column(
            "select scheduled_for from lenses.workflow_runs "
            "where schedule_id = %s and scheduled_for is not null order by 1",
            [schedule],
        )

    def runs(self, schedule: UUID) -> list[Any]:
        return self.db.rows(
            "select * from lenses.workflow_runs where schedule_id = %s "
            "order by scheduled_for nulls last, created_at",
            [schedule],
        )

    def skips(self, schedule: UUID) -> list[tuple[str, datetime]]:
        """(reason, slot) of every skip, in order of logging."""
        return [
            (row.reason, row.slot)
            for row in self.db.rows(
                "select payload ->> 'reason' as reason, "
                "(payload ->> 'scheduled_for')::timestamptz as slot from agents.action_logs "
                "where schedule_id = %s and action_type = 'schedule_skipped' order by id",
                [schedule],
            )
        ]

    def missed(self, schedule: UUID) -> list[tuple[int, datetime, datetime]]:
        """(count, first, last) of every row of dropped late slots."""
        return [
            tuple(row)
            for row in self.db.rows(
                "select (payload #>> '{detail,count}')::int as n, "
                "(payload #>> '{detail,first}')::timestamptz as a, "
                "(payload #>> '{detail,last}')::timestamptz as b from agents.action_logs "
                "where schedule_id = %s and payload ->> 'reason' = 'missed' order by id",
                [schedule],
            )
        ]

    def end(self, run: UUID, status: str = "completed", at: datetime | None = None) -> None:
        """Ends a run as an executor would, through running, by plain UPDATEs."""
        self.db.execute(
            "update lenses.workflow_runs set status = 'running', worker_id = 'w', attempt = 1, "
            "started_at = coalesce(%(at)s, now()), lease_expires_at = coalesce(%(at)s, now()) "
            "+ interval '5 minutes' where id = %(run)s and status = 'pending'",
            {"run": run, "at": at},
        )
        self.db.execute(
            "update lenses.workflow_runs set status = %s, completed_at = coalesce(%s, now()) "
            "where id = %s and status = 'running'",
            [status, at, run],
        )

    def violations(self) -> list[Any]:
        return self.db.rows("select * from lenses.fn_invariant_violations()")


def minutes(*offsets: float) -> list[datetime]:
    return [MONDAY + timedelta(minutes=offset) for offset in offsets]


def at(offset: float) -> datetime:
    """MONDAY plus so many minutes."""
    return MONDAY + timedelta(minutes=offset)
