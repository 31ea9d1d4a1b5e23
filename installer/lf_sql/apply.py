"""Do what the plan says: one transaction under a lock, then the jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

from lf_sql import db, ledger, preflight, roles
from lf_sql.bundle import Bundle, Source
from lf_sql.compare import Finding, carried, compare
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError, Refusal
from lf_sql.plan import Plan, make_plan

# Taken by installers; shared by whoever they must not meet. The first half is 'lfsq' as an int4.
LOCK_KEY = (1818653553, 1)
LOCK_WAIT = 300.0  # seconds
POLL = 0.1
STATEMENT_LOCK_TIMEOUT = "5s"  # a DDL statement never queues longer in front of the users

BEFORE_SEEDS = ("ownership", "grants")

# Another installer of this server, or a user, was in the way: begin anew.
TRANSIENT = {"40001", "40P01", "55P03"}
# A source names something that a later one makes.
UNDEFINED = {"42P01", "42704", "42883", "3F000"}


@dataclass
class Outcome:
    """What an install found and did."""

    plan: Plan
    is_installed: bool = False  # before
    findings: list[Finding] = field(default_factory=list)  # before
    leftovers: list[Finding] = field(default_factory=list)  # after
    seconds: float = 0.0


class Busy(Exception):
    """The lock is somebody else's for now."""


def check_rights(facts: Mapping[str, Any]) -> None:
    """Refuse before the first change what could not be finished."""
    user, database = facts["user_name"], facts["database_name"]
    if facts["encoding"] != "UTF8":
        raise Refusal(
            f"database {database} has the encoding {facts['encoding']}, lf-sql needs UTF8",
            "create database NAME encoding 'UTF8' template template0",
        )
    if not facts["has_public"]:
        raise Refusal(
            f"database {database} has no schema public, where the functions for clients belong",
            "create schema public",
        )
    if not facts["has_ledger"] and not facts["can_create_schemas"]:
        raise Refusal(
            f"role {user} may not create schemas in database {database}",
            f"as its owner: grant create on database {db.ident(database)} to {db.ident(user)}",
        )
    if not facts["can_create_in_public"]:
        raise Refusal(
            f"role {user} may not create functions in schema public of database {database}",
            f"as its owner: grant create on schema public to {db.ident(user)}",
        )


def _check_primary(conn: Connection) -> None:
    """Asked outside of a transaction: a standby takes none that may write."""
    row = conn.execute("select pg_catalog.pg_is_in_recovery() as is_standby").fetchone()
    if row and row["is_standby"]:
        raise Refusal(
            "this server is a read-only standby", "connect to the primary: it passes everything on"
        )


def role_map(facts: Mapping[str, Any]) -> dict[str, str]:
    return roles.role_map(
        {name: roles.RoleFacts(**row) for name, row in facts["roles"].items()},
        user=facts["user_name"],
        can_create=facts["can_create_roles"],
        can_own_public=facts["can_own_public"],
    )


def prepare(conn: Connection, bundle: Bundle, *, to_write: bool = True) -> Outcome:
    """Read-only: what there is to do. Raises Refusal where nothing may be done."""
    db.check_server(conn)
    if to_write:
        _check_primary(conn)
    with db.steady_transaction(conn):
        return _prepare(conn, bundle, to_write)


def install(
    conn: Connection,
    bundle: Bundle,
    *,
    say: Callable[[str], None] = lambda line: None,
    wait: float = LOCK_WAIT,
) -> Outcome:
    """Bring the database to this version; safe to run twice, in parallel, and to be killed."""
    started = time.monotonic()
    is_hidden = False
    try:
        outcome = prepare(conn, bundle)
    except ledger.HiddenLedger:
        outcome, is_hidden = Outcome(Plan(reasons=("a hidden ledger",))), True
    give_up = started + wait
    tries = 0
    while outcome.plan.is_pending:
        try:
            with db.steady_transaction(conn):
                take_lock(conn)
                if is_hidden:
                    ledger.open_to_owner(conn)
                outcome = _prepare(conn, bundle)
                if outcome.plan.is_pending:
                    _apply(conn, bundle, outcome, say)
            break
        except Busy:
            if time.monotonic() > give_up:
                raise Refusal(*who_holds(conn)) from None
            time.sleep(POLL)
        except psycopg.Error as error:
            if not is_transient(error) or tries >= 20 or time.monotonic() > give_up:
                raise
            tries += 1
            time.sleep(POLL * tries)
    outcome.seconds = time.monotonic() - started
    return outcome


def script(bundle: Bundle, plan: Plan) -> Iterator[str]:
    """The SQL of a plan, as `--dry-run` prints it."""
    if not plan.is_pending:
        yield "-- nothing to do\n"
        return
    yield f"-- lf-sql {bundle.version}: {', '.join(plan.reasons)}\n"
    yield "begin;\nset local search_path = pg_catalog, pg_temp;\n"
    yield "set local check_function_bodies = off;\n"
    yield preflight.script()
    for label, sql in _steps(bundle, plan):
        yield f"\n-- {label}\n{sql.rstrip()}\n"
    yield "\ncommit;\n"
    for job in bundle.jobs:
        yield f"\n-- {job.label}\n{job.sql.rstrip()}\n"


def is_transient(error: psycopg.Error) -> bool:
    return error.sqlstate in TRANSIENT or (
        error.sqlstate == "XX000" and "concurrently" in str(error)
    )


def _prepare(conn: Connection, bundle: Bundle, to_write: bool = True) -> Outcome:
    preflight.check(conn)
    facts = db.facts(conn)
    if to_write:
        check_rights(facts)
        preflight.check_roles(conn)
    state = ledger.read_state(conn, bundle, facts)
    major = facts["server_version_num"] // 10000
    findings: list[Finding] = []
    if state.installed:
        same_server = state.installed.server_major == major
        findings = compare(
            ledger.expectation(conn), ledger.catalogue(conn), same_server=same_server
        )
    plan = make_plan(
        bundle, state, role_map=role_map(facts), server_major=major, findings=len(findings)
    )
    return Outcome(plan, state.installed is not None, findings)


def take_lock(conn: Connection) -> None:
    row = conn.execute("select pg_catalog.pg_try_advisory_xact_lock(%s, %s) as got", LOCK_KEY)
    if not row.fetchone()["got"]:  # type: ignore[index]
        raise Busy
    conn.execute("select pg_catalog.set_config('lock_timeout', %s, true)", [STATEMENT_LOCK_TIMEOUT])
    conn.execute("select pg_catalog.set_config('check_function_bodies', 'off', true)")


def who_holds(conn: Connection) -> tuple[str, str]:
    """The message and the hint for one who waited in vain."""
    row = conn.execute(
        "select pid from pg_catalog.pg_locks where locktype = 'advisory' and classid = %s "
        "and objid = %s and granted and database = (select oid from pg_catalog.pg_database "
        "where datname = pg_catalog.current_database()) limit 1",
        LOCK_KEY,
    ).fetchone()
    holder = f"process {row['pid']} of the server" if row else "another process"
    return (
        f"another installer is at work: {holder} holds the lock",
        f"wait for it, or end it: select pg_terminate_backend({row['pid'] if row else 'PID'})",
    )


def _apply(conn: Connection, bundle: Bundle, outcome: Outcome, say: Callable[[str], None]) -> None:
    plan = outcome.plan
    before = ledger.catalogue(conn) if outcome.findings else {}
    expected = ledger.expectation(conn) if outcome.findings else {}
    _run(conn, "roles.sql", bundle.scripts["roles"])
    for migration in plan.migrations:
        say(migration.label)
        _run(conn, migration.label, roles.render(migration.sql, plan.role_map, grants=True))
        ledger.record_migration(conn, bundle, migration)
    say(f"{len(bundle.sources)} sources")
    definitions, seeds = _halves(bundle)
    _replay(conn, definitions, plan.role_map)
    ledger.record_sources(conn, bundle)
    for name in BEFORE_SEEDS:
        say(f"{name}.sql")
        _run(conn, f"{name}.sql", _rendered_script(bundle, name, plan.role_map))
    _replay(conn, seeds, plan.role_map)
    _run(conn, "assertions.sql", _rendered_script(bundle, "assertions", plan.role_map))
    after = ledger.catalogue(conn)
    if not plan.is_mending:
        major = conn.info.server_version // 10000
        ledger.record_install(conn, bundle, plan.role_map, major, "; ".join(plan.reasons))
        expected = carried(before, expected, after) if outcome.findings else after
        ledger.record_expectation(conn, expected)
    outcome.leftovers = compare(expected, after)


def _rendered_script(bundle: Bundle, name: str, mapped: Mapping[str, str]) -> str:
    return roles.render(bundle.scripts[name], mapped, grants=name == "grants")


def _render_source(source: Source, mapped: Mapping[str, str]) -> str:
    return roles.render(source.sql, mapped, grants=source.kind == "policy")


def _steps(bundle: Bundle, plan: Plan) -> Iterator[tuple[str, str]]:
    yield "roles.sql", bundle.scripts["roles"]
    for migration in plan.migrations:
        yield migration.label, roles.render(migration.sql, plan.role_map, grants=True)
    definitions, seeds = _halves(bundle)
    for source in definitions:
        yield source.label, _render_source(source, plan.role_map)
    for name in BEFORE_SEEDS:
        yield f"{name}.sql", _rendered_script(bundle, name, plan.role_map)
    for source in seeds:
        yield source.label, _render_source(source, plan.role_map)
    yield "assertions.sql", _rendered_script(bundle, "assertions", plan.role_map)


def _halves(bundle: Bundle) -> tuple[list[Source], list[Source]]:
    """The definitions, and the seeds: rows that functions write once they have their owners."""
    seeds = [source for source in bundle.sources if source.kind == "seed"]
    return [source for source in bundle.sources if source.kind != "seed"], seeds


def _replay(conn: Connection, sources: Sequence[Source], mapped: Mapping[str, str]) -> None:
    """All sources; one that names something not made yet is tried again after the others."""
    waiting = list(sources)
    while waiting:
        later: list[tuple[Source, psycopg.Error]] = []
        for source in waiting:
            text = f"savepoint lf_sql_source;{_render_source(source, mapped)}"
            try:
                conn.execute(f"{text}\n;release savepoint lf_sql_source".encode())
            except psycopg.Error as error:
                if error.sqlstate not in UNDEFINED:
                    raise _located(error, source.label, text) from error
                conn.execute("rollback to savepoint lf_sql_source")
                later.append((source, error))
        if len(later) == len(waiting):
            source, error = later[0]
            text = f"savepoint lf_sql_source;{_render_source(source, mapped)}"
            raise _located(error, source.label, text) from error
        waiting = [source for source, _ in later]


def _run(conn: Connection, label: str, sql: str) -> None:
    try:
        conn.execute(sql.encode())
    except psycopg.Error as error:
        raise _located(error, label, sql) from error


def _located(error: psycopg.Error, label: str, sql: str) -> Exception:
    """The server's error with the file and line it came from; a transient one as it is."""
    if is_transient(error) or error.sqlstate in (None, "42501"):
        return error
    message, hint = db.describe(error)
    position = error.diag.statement_position
    line = sql.count("\n", 0, int(position)) + 1 if position else 1
    return LfSqlError(f"sql/{label}:{line}: {message}", hint)
