"""The pg_cron jobs: registered exactly once, or what is missing and how to get it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg

from lf_sql import bundle as bundles
from lf_sql import db
from lf_sql.bundle import Bundle, Job
from lf_sql.compare import Finding
from lf_sql.db import Connection

EXTENSION_MARK = "Job scheduler for PostgreSQL (made by lf-sql)"
WORKER = "or let the process `lf-sql worker` drive it instead of pg_cron"
_CALL = re.compile(r"cron\.schedule\('([^']+)', '([^']+)', '([^']+)'\)")


@dataclass(frozen=True)
class Trouble:
    """Why pg_cron does not drive this database, and the commands that mend it."""

    problem: str
    commands: tuple[str, ...]


@dataclass
class Driver:
    """What pg_cron does for this database."""

    troubles: list[Trouble] = field(default_factory=list)  # the server's, not the installation's
    findings: list[Finding] = field(default_factory=list)  # jobs that are not as they should be
    registered: list[str] = field(default_factory=list)
    is_usable: bool = False  # jobs can be registered from here


@dataclass(frozen=True)
class Wanted:
    name: str
    schedule: str
    command: str


def wanted(job: Job) -> Wanted:
    """The three words that a job's file gives to cron.schedule."""
    found = _CALL.search(job.sql)
    if not found:
        raise ValueError(f"{job.label} registers no job")
    return Wanted(*found.groups())


def inspect(conn: Connection, bundle: Bundle) -> Driver:
    """Read-only: what is missing on the server, and how our jobs stand."""
    with db.steady_transaction(conn):
        return _inspect(conn, bundle)


def _inspect(conn: Connection, bundle: Bundle) -> Driver:
    server = _server(conn)
    driver = Driver(troubles=troubles(server))
    driver.is_usable = bool(server["is_created"] and server["may_use"])
    if driver.is_usable:
        jobs = _jobs_to_have(conn, bundle)
        rows = _rows(conn, bundle)
        driver.findings = check(jobs, rows)
        wrong = {finding.identity for finding in driver.findings}
        driver.registered = [job.name for job in jobs if job.name not in wrong]
    return driver


def register(conn: Connection, bundle: Bundle) -> Driver:
    """Register what is missing or altered, in a transaction of its own; says what cannot be."""
    with db.steady_transaction(conn):
        server = _server(conn)
    if (
        server["is_available"]
        and not server["is_created"]
        and server["cron_database"] == server["database_name"]
    ):
        _create_extension(conn)
    driver = inspect(conn, bundle)
    if not (driver.is_usable and driver.findings):
        return driver
    wrong = {finding.identity for finding in driver.findings}
    try:
        with db.steady_transaction(conn):
            for row in _rows(conn, bundle):
                if row["name"] in wrong:
                    conn.execute("select cron.unschedule(%s::bigint)", [row["jobid"]])
            names = {job.name for job in _jobs_to_have(conn, bundle)} & wrong
            for job in bundle.jobs:
                if job.name in names:
                    conn.execute(job.sql.encode())
    except psycopg.Error as error:
        driver.troubles.append(
            Trouble(
                f"pg_cron did not take the job: {db.describe(error)[0]}",
                (f"grant usage on schema cron to {db.ident(server['user_name'])}", WORKER),
            )
        )
        return driver
    return inspect(conn, bundle)


def unregister(conn: Connection, bundle: Bundle) -> list[str]:
    """Take our jobs of this database away, and the extension if it is ours and nobody else's."""
    with db.steady_transaction(conn):
        server = _server(conn)
        if not (server["is_created"] and server["may_use"]):
            return []
        rows = _rows(conn, bundle)
        for row in rows:
            conn.execute("select cron.unschedule(%s::bigint)", [row["jobid"]])
    return [row["name"] for row in rows]


def drop_extension(conn: Connection) -> bool:
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


def check(jobs: list[Wanted], rows: list[Mapping[str, Any]]) -> list[Finding]:
    """How the rows of cron.job differ from one good row a job."""
    findings = []
    for job in jobs:
        mine = [row for row in rows if row["name"] == job.name]
        live = [row for row in mine if not row["is_orphan"]]
        problems = []
        if not live:
            problems.append("not registered")
        elif len(live) > 1:
            problems.append(f"registered {len(live)} times")
        for row in live[:1]:
            if row["schedule"] != job.schedule:
                problems.append(f"schedule is {row['schedule']}, should be {job.schedule}")
            if row["command"] != job.command:
                problems.append(f"command is {row['command']}, should be {job.command}")
            if not row["active"]:
                problems.append("not active")
            if not row["owner_can"]:
                problems.append(f"its owner {row['username']} cannot run it")
        problems += [
            f"left over from database {row['database']}, which is gone"
            for row in mine
            if row["is_orphan"]
        ]
        findings += [Finding("job", job.name, problem) for problem in problems]
    return findings


def troubles(server: Mapping[str, Any]) -> list[Trouble]:
    """What keeps pg_cron from driving this database. Pure."""
    database, user = server["database_name"], db.ident(server["user_name"])
    conf = (
        "in postgresql.conf:",
        "  shared_preload_libraries = 'pg_cron'   # behind what is there already",
        f"  cron.database_name = '{database}'",
        "  cron.use_background_workers = on",
        "  max_worker_processes = 16",
        "restart PostgreSQL, then: lf-sql install",
    )
    if not server["is_available"]:
        return [
            Trouble(
                "pg_cron is not installed on this server",
                (f"apt-get install postgresql-{server['server_major']}-cron", *conf, WORKER),
            )
        ]
    if server["sees_settings"] and server["cron_database"] is None:
        return [Trouble("pg_cron is not preloaded", (*conf, WORKER))]
    if server["sees_settings"] and server["cron_database"] != database:
        job = f"dispatch-scheduled-workflows-{database}".replace("'", "''")
        schedule = (
            f"select cron.schedule_in_database('{job}', '* * * * *', "
            f"'call lenses.sp_dispatch_tick()', '{database.replace(chr(39), chr(39) * 2)}')"
        )
        return [
            Trouble(
                f"pg_cron lives in database {server['cron_database']}, not in {database}",
                (
                    f"psql -d {server['cron_database']} "
                    f"-c 'create extension if not exists pg_cron' "
                    f'-c "{schedule}"',
                    f"or set cron.database_name = '{database}', restart, and: lf-sql install",
                    WORKER,
                ),
            )
        ]
    if not server["is_created"]:
        return [
            Trouble(
                "the extension pg_cron is not created in this database",
                (
                    "as a superuser: create extension pg_cron",
                    "  (where pg_cron is preloaded and cron.database_name is this database)",
                    f"as a superuser: grant usage on schema cron to {user}",
                    "then: lf-sql install",
                    WORKER,
                ),
            )
        ]
    found = []
    if not server["may_use"]:
        found.append(
            Trouble(
                f"role {user} may not use pg_cron",
                (
                    f"as a superuser: grant usage on schema cron to {user}",
                    "then: lf-sql install",
                    WORKER,
                ),
            )
        )
    if (
        server["uses_workers"] == "off"
        and not server["cron_host"].startswith("/")
        and not server["listen_addresses"].strip()
    ):
        found.append(
            Trouble(
                f"pg_cron connects to {server['cron_host']} by TCP, and the server does not listen",
                ("alter system set cron.use_background_workers = on", "restart PostgreSQL", WORKER),
            )
        )
    return found


def _server(conn: Connection) -> Mapping[str, Any]:
    row = conn.execute(bundles.query("cron_server").encode()).fetchone()
    assert row is not None  # one row by construction
    return row


def _rows(conn: Connection, bundle: Bundle) -> list[Mapping[str, Any]]:
    names = [job.name for job in bundle.jobs]
    return list(conn.execute(bundles.query("cron_jobs").encode(), {"names": names}).fetchall())


def _jobs_to_have(conn: Connection, bundle: Bundle) -> list[Wanted]:
    """The jobs whose procedure is here."""
    rows = conn.execute(
        "select n.nspname || '.' || p.proname as name from pg_catalog.pg_proc as p "
        "join pg_catalog.pg_namespace as n on n.oid = p.pronamespace where p.prokind = 'p'"
    ).fetchall()
    there = {row["name"] for row in rows}
    return [wanted(job) for job in bundle.jobs if job.requires in there]


def _create_extension(conn: Connection) -> None:
    """Made by us where we may; the mark lets `uninstall` know."""
    try:
        with db.steady_transaction(conn):
            conn.execute("create extension pg_cron")
            conn.execute(f"comment on extension pg_cron is '{EXTENSION_MARK}'".encode())
    except psycopg.Error:
        return  # another installer was faster, or we may not: inspect says what is missing
