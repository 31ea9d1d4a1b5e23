"""Do what the plan says: one transaction under a lock, then the jobs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import psycopg

from lf_sql import ahead, cron_extension, db, ledger, locks, preflight, roles
from lf_sql.bundle import Bundle, Migration
from lf_sql.compare import Finding, compare, damage
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError, Refusal
from lf_sql.plan import Plan, make_plan
from lf_sql.steps import LOCKS, Step, steps
from lf_sql.template import filled

LOCK_WAIT = 300.0  # seconds

# Another installer of this server, or a user, blocked us: start again.
TRANSIENT = {"40001", "40P01", "55P03"}


@dataclass
class Outcome:
    """What an install found and did."""

    plan: Plan
    is_installed: bool = False  # before
    findings: list[Finding] = field(default_factory=list)  # before
    leftovers: list[Finding] = field(default_factory=list)  # after
    seconds: float = 0.0


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
    """Called outside of a transaction: a standby allows none that may write."""
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
    tell: Callable[[str], None] = lambda line: None,
    wait: float = LOCK_WAIT,
) -> Outcome:
    """Bring the database to this version; safe to run twice, in parallel, and to be killed.

    `say` hears of each step, `tell` of whom it waits for.
    """
    started = time.monotonic()
    is_hidden = False
    try:
        outcome = prepare(conn, bundle)
    except ledger.HiddenLedger:
        outcome, is_hidden = Outcome(Plan(reasons=("a hidden ledger",))), True
    is_upgrade = outcome.is_installed and bool(outcome.plan.migrations)

    def pending() -> Sequence[Migration]:
        return prepare(conn, bundle).plan.migrations

    with ahead.built(conn, pending if is_upgrade else None, wait, say) as built:
        waiting = Waiting(conn, time.monotonic() + wait, tell)
        while outcome.plan.is_pending:
            try:
                with db.steady_transaction(conn):
                    locks.take(conn)
                    if is_hidden:
                        ledger.open_to_owner(conn)
                    outcome = _prepare_opened(conn, bundle) if is_hidden else _prepare(conn, bundle)
                    if outcome.plan.is_pending:
                        _apply(conn, bundle, outcome, say, built)
                break
            except (locks.Busy, psycopg.Error) as error:
                waiting.endure(error)
    outcome.seconds = time.monotonic() - started
    return outcome


class Waiting:
    """How long to try again, and what to print about the session that is in the way."""

    def __init__(self, conn: Connection, until: float, tell: Callable[[str], None]) -> None:
        self._conn = conn
        self._until = until
        self._tell = tell
        self._from = time.monotonic() + locks.PAUSE  # a wait that ends at once is not reported
        self._told = ""

    def endure(self, error: Exception) -> None:
        """Pause where another try makes sense; otherwise, or after the last try, raise."""
        if not isinstance(error, locks.Busy):
            is_over = time.monotonic() > self._until
            if not isinstance(error, psycopg.Error) or not is_transient(error) or is_over:
                raise error
            time.sleep(locks.PAUSE)
            return
        found = locks.holder(self._conn, error.what)
        refusal = locks.refusal(error.what, found)
        if time.monotonic() > self._until:
            raise Refusal(*refusal)
        if found and refusal[0] != self._told and time.monotonic() > self._from:
            self._told = refusal[0]
            self._tell(f"waiting: {refusal[0]}")
        time.sleep(error.pause)


def script(bundle: Bundle, plan: Plan, *, with_jobs: bool = True) -> Iterator[str]:
    """The SQL of a plan, as `--dry-run` prints it: `psql -v ON_ERROR_STOP=1 -f` installs it."""
    if not plan.is_pending:
        yield "-- nothing to do\n"
        return
    yield f"-- lf-sql {bundle.version}: {', '.join(plan.reasons)}\n"
    yield f"\nbegin;\n\n{db.steady_script()}"
    yield "set local check_function_bodies = off;\n"
    yield preflight.script()
    for step in steps(bundle, plan):
        yield part(step.label, step.sql)
    if with_jobs:  # in the same transaction: if it was refused there is nothing to call
        yield part("jobs", cron_extension.script(bundle))
    yield "\ncommit;\n"
    if not with_jobs:
        yield "\n-- the jobs are registered in pg_cron's database: lf-sql install --cron-dsn DSN\n"


def part(label: str, sql: str) -> str:
    """A piece of a script under its label."""
    sql = sql.strip()
    return f"\n-- {label}\n{sql}{'' if sql.endswith(';') else ';'}\n"


def is_transient(error: psycopg.Error) -> bool:
    return error.sqlstate in TRANSIENT or (
        error.sqlstate == "XX000" and "concurrently" in str(error)
    )


def _prepare(conn: Connection, bundle: Bundle, to_write: bool = True) -> Outcome:
    facts = db.facts(conn)  # first: psql does not read what follows a refusal
    preflight.check(conn)
    ledger.refuse_other(facts)  # before rights that would not help
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
        if state.installed.product_version == bundle.version and not findings:
            findings = ledger.missing_rows(conn)
    plan = make_plan(
        bundle, state, role_map=role_map(facts), server_major=major, findings=len(findings)
    )
    if findings and plan.is_pending and not plan.is_mending:
        plan = replace(plan, damage=damage(ledger.catalogue(conn), ledger.expectation(conn)))
    return Outcome(plan, state.installed is not None, findings)


def _apply(
    conn: Connection,
    bundle: Bundle,
    outcome: Outcome,
    say: Callable[[str], None],
    built: Sequence[ahead.Index],
) -> None:
    plan = outcome.plan
    told = ""
    for step in steps(bundle, plan):
        what = f"{len(bundle.sources)} sources" if step.source else step.label
        if what != told:
            say(what)
            told = what
        _run(conn, replace(step, sql=ahead.renamed(step.sql, built)) if step.migration else step)
    if plan.is_mending or plan.damage:
        outcome.leftovers = compare(ledger.expectation(conn), ledger.catalogue(conn))
    outcome.leftovers += ledger.missing_rows(conn)


def _prepare_opened(conn: Connection, bundle: Bundle) -> Outcome:
    try:
        return _prepare(conn, bundle)
    except ledger.HiddenLedger:
        raise ledger.EmptyLedger from None


def lock_tables(conn: Connection) -> None:
    """The first step alone, for an uninstall."""
    _run(conn, Step(LOCKS, filled("lock_tables")))


def _run(conn: Connection, step: Step) -> None:
    try:
        conn.execute(step.sql.encode())
    except psycopg.Error as error:
        if step.label == LOCKS and locks.is_in_the_way(error):
            raise locks.Busy("tables") from error
        raise _located(error, step.label, step.sql) from error


def _located(error: psycopg.Error, label: str, sql: str) -> Exception:
    """The server's error with the file and line it came from; a transient one as it is."""
    if is_transient(error) or error.sqlstate in (None, "42501"):
        return error
    message, hint = db.describe(error)
    position = error.diag.statement_position
    line = sql.count("\n", 0, int(position)) + 1 if position else 1
    return LfSqlError(f"sql/{label}:{line}: {message}", hint)
