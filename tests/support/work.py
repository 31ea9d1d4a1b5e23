"""Workflows and schedules for tests that look at what happens to them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.database import Database, Tenant, as_user


def make_workflow(conn: Database, owner: Tenant, title: str = "report") -> uuid.UUID:
    return conn.value(
        "insert into lenses.workflows (lenser_id, title) values (%s, %s) returning id",
        [owner.id, title],
    )


def make_schedule(conn: Database, workflow: uuid.UUID, **columns: Any) -> uuid.UUID:
    """Active, hourly, without approval, unless the columns say otherwise."""
    values = {
        "workflow_id": workflow,
        "cron_expr": "0 * * * *",
        "approval_policy": '{"requiresApproval": false}',
        **columns,
    }
    names = ", ".join(values)
    marks = ", ".join(f"%({name})s" for name in values)
    return conn.value(
        f"insert into lenses.workflow_schedules ({names}) values ({marks}) returning id", values
    )


def due_in(conn: Database, schedule: uuid.UUID, seconds: float) -> None:
    """Write the next slot by hand: the table keeps it, and the due time follows."""
    conn.execute(
        "update lenses.workflow_schedules set next_run_at = clock_timestamp() "
        "+ make_interval(secs => %s) where id = %s",
        [seconds, schedule],
    )


def run_now(conn: Database, owner: Tenant, schedule: uuid.UUID, inputs: str | None = None) -> Any:
    """A run for an executor, as its owner starts one."""
    with as_user(conn, owner):
        return conn.value(
            "select r.id from public.fn_run_workflow_schedule_now(%s, %s) as r", [schedule, inputs]
        )


@contextmanager
def unguarded(conn: Database, table: str) -> Iterator[None]:
    """Writes that no trigger of the table sees: what only time, or another server, could do."""
    with conn.transaction():
        conn.execute(f"alter table {table} disable trigger user")
        yield
        conn.execute(f"alter table {table} enable trigger user")
