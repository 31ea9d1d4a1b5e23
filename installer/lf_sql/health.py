"""Health: the facts that only this connection can see, and the database's judgement of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import psycopg

from lf_sql import bundle
from lf_sql.db import Connection


@dataclass(frozen=True)
class Line:
    """A row of lenses.fn_health."""

    check_name: str
    state: str
    label: str
    detail: str
    advice: str | None
    schedule_id: UUID | None

    @property
    def head(self) -> str:
        """`worker: ok`; a schedule's line begins with its trouble: `PAUSED: 3f2a…`."""
        if self.schedule_id is not None:
            return f"{self.label}: {self.schedule_id}"
        return f"{self.check_name}: {self.label}"

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


def facts(conn: Connection) -> dict[str, Any]:
    """What the catalogue and pg_cron show to this role. pg_cron is named only where it is."""
    row = conn.execute(bundle.query("health_facts").encode()).fetchone()
    assert row is not None  # one row by construction
    found: dict[str, Any] = row["facts"]
    if found["pg_cron"]["can_read"]:
        try:
            job = conn.execute(bundle.query("health_job").encode()).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            found["pg_cron"]["can_read"] = False
        else:
            found |= job["facts"] if job else {}
    holders = conn.execute(bundle.query("health_holders").encode()).fetchone()
    found |= holders or {}
    return found


def everything(conn: Connection, *, has_schedules: bool = True) -> list[Line]:
    """The operator's view: the machinery, and every tenant's schedules that are not fine."""
    rows = conn.execute(
        "select * from lenses.fn_health(%s::jsonb, %s)",
        [json.dumps(facts(conn), default=str), has_schedules],
    ).fetchall()
    return [Line(**row) for row in rows]


def tenant(conn: Connection) -> list[Line]:
    """The view of the tenant that the transaction acts as."""
    return [
        Line(**row) for row in conn.execute("select * from public.fn_schedule_health()").fetchall()
    ]
