"""The jobs of pg_cron, from its table."""

from __future__ import annotations

import re
from typing import Any

from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.imports import cron, owned, zones
from lf_sql.imports.found import Job, Left, Refused, title_of

JOBS = """
select j.jobid, j.schedule, j.command, j.database, j.username, j.active, j.jobname
from cron.job as j
order by j.jobid
"""
OURS = re.compile(r"dispatch-scheduled-workflows(-\d+)?|purge-lf-sql-(history|job-log)")
_SECONDS = re.compile(r"\s*(\d+)\s+seconds?\s*", re.IGNORECASE)


def read(conn: Connection) -> list[Job | Left]:
    """Those that the connected role may see, oldest first."""
    missing = LfSqlError(
        "there is no pg_cron in this database",
        "give the database that cron.database_name says, with --dsn",
    )
    owned.require(conn, "cron", "job", missing)
    row = conn.execute(
        "select pg_catalog.current_setting('cron.timezone', true) as zone"
    ).fetchone()
    zone = _zone(row["zone"] if row else None)
    return [_job(job, zone) for job in conn.execute(JOBS.encode()).fetchall()]


def _zone(setting: str | None) -> str:
    return "UTC" if setting in (None, "", "GMT") else str(setting)


def _job(row: dict[str, Any], zone: str) -> Job | Left:
    name = row["jobname"] or title_of(row["command"])
    where = f"job {row['jobid']} ({name}): {row['schedule']} {row['command']}"
    if OURS.fullmatch(row["jobname"] or ""):
        where = f"job {row['jobid']} ({name})"
        return Left(where, "this is lf-sql's own", is_fine=True)
    try:
        expression, notes = _expression(row["schedule"].strip())
        zones.require(zone, "cron.timezone")
    except Refused as refused:
        return Left(where, str(refused))
    schedule: dict[str, Any] = {"cron": expression, "timezone": zone}
    if not row["active"]:
        schedule["enabled"] = False
    notes.append(f"job {row['jobid']}: it ran as {row['username']}")
    node = {"action": "sql", "sql": row["command"], "database": row["database"]}
    return Job(name, schedule, node, notes)


def _expression(text: str) -> tuple[str, list[str]]:
    seconds = _SECONDS.fullmatch(text)
    if seconds:
        raise Refused(
            f"a run every {seconds[1]} seconds is nothing for a scheduler by the minute; "
            'what comes near is cron: "* * * * *", or a loop in the command'
        )
    if text.startswith("@"):
        if text.lower() == "@reboot":
            raise Refused(cron.REBOOT)
        if text.lower() not in cron.NICKNAMES:
            raise Refused(f'pg_cron itself does not read "{text}"')
        return cron.NICKNAMES[text.lower()], []
    return cron.translated(text.split(), cron.PG_CRON)
