"""Health: the facts that only this connection can see, and the database's judgement of them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

import psycopg

from lf_sql import bundle, cron_extension, jobs
from lf_sql.db import Connection

MOST_LANES = 16


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


def facts(conn: Connection, cron: Connection | None = None) -> dict[str, Any]:
    """What the catalogue and pg_cron show to this role. pg_cron is named only where it is.

    `cron`: a connection to the database in which pg_cron lives, where it is another one.
    """
    found = _facts(conn)
    database = found["database"]
    names = [jobs.DISPATCH]
    if cron is not None and (seen := _facts(cron))["database"] != database:
        found["pg_cron"] = seen["pg_cron"]
        names.insert(0, cron_extension.suffixed(jobs.DISPATCH, database))
        found |= {"job_name": names[0], "jobs_in": seen["database"]}
    lanes = {f"{names[-1]}-{lane}": lane for lane in range(2, MOST_LANES + 1)}
    lanes |= {names[-1]: 1}
    lanes |= {cron_extension.suffixed(name, database): lane for name, lane in lanes.items()}
    if found["pg_cron"]["can_read"]:
        asked = {"names": names, "database": database, "lane_names": list(lanes)}
        try:
            row = (cron or conn).execute(bundle.query("health_job").encode(), asked).fetchone()
        except psycopg.errors.InsufficientPrivilege:
            found["pg_cron"]["can_read"] = False
        else:
            found |= row["facts"] if row else {}
            found["lanes"] = sorted({lanes[name] for name in found.pop("lane_jobs", None) or []})
    if job := found.get("job"):
        query = bundle.query("cron_roles").encode()
        role = conn.execute(query, {"names": [job["username"]]}).fetchone()
        assert role is not None  # a row a name
        job |= {"has_role": role["has_role"], "can_login": role["can_login"]}
        job |= {"can_tick": role["can_run"], "why_not": role["why_not"]}
    holders = conn.execute(bundle.query("health_holders").encode()).fetchone()
    found |= holders or {}
    return found


def _facts(conn: Connection) -> dict[str, Any]:
    row = conn.execute(bundle.query("health_facts").encode()).fetchone()
    assert row is not None  # one row by construction
    found: dict[str, Any] = row["facts"]
    return found


def everything(
    conn: Connection, *, has_schedules: bool = True, cron: Connection | None = None
) -> list[Line]:
    """The operator's view: the machinery, and every tenant's schedules that are not fine."""
    rows = conn.execute(
        "select * from lenses.fn_health(%s::jsonb, %s)",
        [json.dumps(facts(conn, cron), default=str), has_schedules],
    ).fetchall()
    return [Line(**row) for row in rows]


def tenant(conn: Connection) -> list[Line]:
    """The view of the tenant that the transaction acts as."""
    return [
        Line(**row) for row in conn.execute("select * from public.fn_schedule_health()").fetchall()
    ]
