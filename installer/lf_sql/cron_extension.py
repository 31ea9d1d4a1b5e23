"""The extension pg_cron itself, names of jobs, and the jobs as SQL for others to register."""

from __future__ import annotations

import hashlib
from contextlib import suppress

import psycopg

from lf_sql import db, preflight
from lf_sql.bundle import Bundle
from lf_sql.db import Connection
from lf_sql.job_types import Wanted
from lf_sql.template import filled, literal

EXTENSION_MARK = "Job scheduler for PostgreSQL (made by lf-sql)"
LONGEST = 63  # a job's name, as a name of PostgreSQL

MAY = """
select
  pg_catalog.has_function_privilege(
    'cron.schedule_in_database(text, text, text, text, text, boolean)', 'execute') as may_call,
  pg_catalog.has_column_privilege('cron.job', 'database', 'update') as may_change
"""


def create(conn: Connection) -> None:
    """Create the extension where this role may; a mark tells `uninstall` that we did."""
    try:
        with db.steady_transaction(conn):
            conn.execute("create extension pg_cron")
            conn.execute(f"comment on extension pg_cron is '{EXTENSION_MARK}'".encode())
    except psycopg.Error:
        return  # another installer created it first, or we may not: inspect says what is missing


def drop(conn: Connection) -> bool:
    """Drop pg_cron where our install made it and no job is left; inside a transaction."""
    found = conn.execute(
        "select 1 from pg_catalog.pg_extension as e where e.extname = 'pg_cron' and "
        "pg_catalog.obj_description(e.oid, 'pg_extension') = %s",
        [EXTENSION_MARK],
    ).fetchone()
    if not found or conn.execute("select 1 from cron.job limit 1").fetchone():
        return False
    conn.execute("drop extension pg_cron")
    return True


def script(bundle: Bundle) -> str:
    """For SQL that others run: registers them where pg_cron can be had, else warns."""
    return filled("export_jobs", jobs=calls(bundle), mark=literal(EXTENSION_MARK))


def calls(bundle: Bundle) -> str:
    """Statements of PL/pgSQL that register them here."""
    return "\n".join(
        f"perform cron.schedule({', '.join(map(literal, (j.name, j.schedule, j.command)))});"
        for j in bundle.jobs
        if j.place != "elsewhere" and j.lane == 1
    )


def schedule_elsewhere(conn: Connection, job: Wanted, user: str | None) -> None:
    """Register a job of another database, inside a transaction; `user` None: for whoever asks.

    A role that may change cron.job but not call cron.schedule_in_database, as on RDS, registers it
    here and moves it; pg_cron sees neither before the transaction commits.
    """
    call = [job.name, job.schedule, job.command]
    may = conn.execute(MAY).fetchone()
    if may and may["may_change"] and not may["may_call"] and user is None:
        made = conn.execute("select cron.schedule(%s, %s, %s) as jobid", call).fetchone()
        assert made is not None  # one row by construction
        move = "update cron.job set database = %s where jobid = %s"
        conn.execute(move, [job.database, made["jobid"]])
        return
    conn.execute(
        "select cron.schedule_in_database(%s, %s, %s, %s, %s)", [*call, job.database, user]
    )


def tell_health(conn: Connection) -> None:
    """The jobs are registered now: health waits a little for the first tick, as for a new install.

    Nothing depends on it, so a role that may not write this is fine.
    """
    with suppress(psycopg.errors.InsufficientPrivilege):
        conn.execute("update lenses.dispatch_settings set updated_at = default")


def suffixed(name: str, database: str) -> str:
    """One name a database, since all share one table."""
    whole = f"{name}-{database}"
    if len(whole.encode()) <= LONGEST and not database.isdigit():  # a number is a lane's
        return whole
    return f"{name}-{hashlib.sha256(database.encode()).hexdigest()[:16]}"


def lanes(conn: Connection) -> int:
    """How many drivers share the work: each wants a job of its own."""
    there = conn.execute(
        "select pg_catalog.to_regclass('lenses.dispatch_settings') is not null as is_there"
    ).fetchone()
    if not (there and there["is_there"]):
        return 1
    preflight.check(conn)  # behind the question what is there
    row = conn.execute(  # a database that is not upgraded yet has no such column
        "select (pg_catalog.to_jsonb(s) ->> 'dispatch_lanes')::integer as lanes "
        "from lenses.dispatch_settings as s"
    ).fetchone()
    return (row and row["lanes"]) or 1
