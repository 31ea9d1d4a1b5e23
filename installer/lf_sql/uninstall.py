"""Removes everything: jobs, then what they run, then the roles that nothing else uses."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql

from lf_sql import apply, cron_extension, db, jobs, locks, preflight
from lf_sql import bundle as bundles
from lf_sql.bundle import Bundle
from lf_sql.cron_extension import suffixed
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError, Refusal
from lf_sql.template import literal

TICK_WAIT = 60.0  # a tick stops by itself after 50 seconds


@dataclass
class Removed:
    """What went, and what had to stay."""

    jobs: list[str] = field(default_factory=list)
    functions: int = 0
    roles: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def uninstall(
    conn: Connection,
    bundle: Bundle,
    cron: Connection | None = None,
    *,
    wait: float = TICK_WAIT,
    say: Callable[[str], None],
) -> Removed:
    """Leaves nothing of ours. Refuses where other people's objects stand on ours."""
    with db.steady_transaction(conn):
        facts = db.facts(conn)
    if not facts["has_ledger"]:
        raise Refusal("lf-sql is not installed in this database", "nothing to do")
    if not facts["is_ledger_ours"]:
        raise Refusal(
            f"lf-sql is installed here by another role, and {facts['user_name']} may not act as it",
            "connect as the role that installed it",
        )
    _refuse_dependents(conn)
    removed = Removed(jobs=jobs.unregister(conn, bundle, cron))
    if cron is None:
        removed.warnings += _beyond_reach(conn, bundle)
    let_tick_end(conn, wait, say)
    waiting = apply.Waiting(conn, time.monotonic() + wait, say)
    while True:
        try:
            with db.steady_transaction(conn):
                locks.take(conn)
                preflight.check(conn)
                apply.lock_tables(conn)
                _refuse_dependents(conn)
                removed.functions = _drop(conn)
                cron_extension.drop(conn)
                removed.roles, removed.kept = _drop_roles(conn)
            removed.warnings += _sessions(conn)
            return removed
        except (locks.Busy, psycopg.Error) as error:
            waiting.endure(error)


def _refuse_dependents(conn: Connection) -> None:
    with db.steady_transaction(conn):
        rows = conn.execute(bundles.query("dependents").encode()).fetchall()
    if rows:
        found = [row["description"] for row in rows]
        raise Refusal(
            f"{found[0]} depends on lf-sql and would go with it",
            f"drop or change it first: {', '.join(found)}",
        )


def let_tick_end(conn: Connection, wait: float, say: Callable[[str], None]) -> None:
    """The job is gone; a running tick stops by itself, or is cancelled after `wait` seconds."""
    query = (
        "select pid from pg_catalog.pg_stat_activity where datname = pg_catalog.current_database() "
        "and pid <> pg_catalog.pg_backend_pid() and state <> 'idle' "
        "and (query ~ 'lenses[.]sp_(dispatch_tick|purge_history)' "
        "or query ~ 'fn_dispatch_(tick|scheduled_workflows)')"
    )
    started = time.monotonic()
    told = False
    while rows := _ask(conn, query):
        waited = time.monotonic() - started
        if waited > wait + 10:
            raise LfSqlError(
                f"process {rows[0]['pid']} is in a tick and does not end",
                f"select pg_terminate_backend({rows[0]['pid']}), then again",
            )
        if waited > wait:
            for row in rows:
                _ask(conn, f"select pg_catalog.pg_cancel_backend({int(row['pid'])})")
        elif not told:
            say("a tick is running: waiting for it to end")
            told = True
        time.sleep(locks.POLL)


def _ask(conn: Connection, query: str) -> list[dict[str, Any]]:
    with db.steady_transaction(conn):
        return conn.execute(query.encode()).fetchall()


def _sessions(conn: Connection) -> list[str]:
    """What still runs for this database, and is to be stopped."""
    rows = _ask(
        conn,
        "select a.pid, a.application_name as name, a.usename as role "
        "from pg_catalog.pg_stat_activity as a "
        "where a.datname = pg_catalog.current_database() and a.application_name in "
        "('lf-sql worker', 'lf-sql worker lane', 'lf-sql runs work', 'lf-sql console') "
        "order by a.pid",
    )
    return [
        f"{row['name']} (server process {row['pid']}, role {row['role']}) is connected still: "
        "stop it"
        for row in rows
    ]


def _drop(conn: Connection) -> int:
    """Our functions in public one by one, then the schemas, which are ours alone."""
    rows = conn.execute(
        "select p.oid::pg_catalog.regprocedure::text as signature from pg_catalog.pg_proc as p "
        "join lf_sql.sources as s on s.object_name = p.proname and s.kind = 'function' "
        "and s.schema_name = 'public' "
        "where p.pronamespace = 'public'::pg_catalog.regnamespace "
        "and pg_catalog.pg_has_role(p.proowner, 'usage')"
    ).fetchall()
    for row in rows:
        conn.execute(f"drop routine {row['signature']}".encode())
    # cascade within our own schemas: it was checked that nothing else depends on them
    names = sql.SQL(", ").join(map(sql.Identifier, bundles.OWN_SCHEMAS))
    conn.execute(sql.SQL("drop schema if exists {} cascade").format(names))
    return len(rows)


def _drop_roles(conn: Connection) -> tuple[list[str], list[str]]:
    """The roles that an lf-sql made: all of them, or none where one is in use anywhere."""
    rows = conn.execute(bundles.query("made_roles").encode()).fetchall()
    names = [row["name"] for row in rows if not row["is_used"]]
    kept = [row["name"] for row in rows if row["is_used"]]
    try:
        with conn.transaction():
            for name in names:
                conn.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))
        return names, kept
    except (psycopg.errors.DependentObjectsStillExist, psycopg.errors.InsufficientPrivilege):
        return [], sorted(names + kept)


def _beyond_reach(conn: Connection, bundle: Bundle) -> list[str]:
    """Where jobs of this database may be left, if --cron-dsn is not given."""
    server = jobs.Cron(conn, bundle, None).server
    home, database = server["cron_database"], server["database_name"]
    if server["is_created"] or home in (None, database):
        return []
    log = suffixed("purge-lf-sql-job-log", database)
    return [
        f"pg_cron lives in database {home}: jobs of this one that are registered there stay, and "  # noqa: S608
        f"fail; there: select cron.unschedule(jobid) from cron.job where jobname = {literal(log)} "
        f"or database = {literal(database)} and command like '%call lenses.sp\\_%'"
    ]
