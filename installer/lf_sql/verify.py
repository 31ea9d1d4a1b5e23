"""Read-only: is everything as this version installs it, and do the invariants hold?"""

from __future__ import annotations

from dataclasses import dataclass, field

from psycopg import sql

from lf_sql import ahead, apply, db, jobs, preflight, roles, tenancy
from lf_sql import bundle as bundles
from lf_sql.bundle import Bundle
from lf_sql.compare import Finding
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.job_types import Driver
from lf_sql.plan import Plan


@dataclass
class Report:
    """`findings` are problems; the rest was reported at the install, and is still true."""

    plan: Plan
    driver: Driver
    findings: list[Finding] = field(default_factory=list)
    weaker: list[str] = field(default_factory=list)
    driver_notes: list[str] = field(default_factory=list)


def verify(conn: Connection, bundle: Bundle, cron: Connection | None = None) -> Report:
    """Everything that `lf-sql verify` looks at."""
    outcome = apply.prepare(conn, bundle, to_write=False)
    plan = outcome.plan
    if not outcome.is_installed:
        raise LfSqlError("lf-sql is not installed in this database", "lf-sql install")
    findings = list(outcome.findings)
    if plan.is_pending and not plan.is_mending:
        findings.insert(0, Finding("install", "pending", "; ".join(plan.reasons)))
    driver = jobs.inspect(conn, bundle, cron)
    findings += driver.findings
    with db.steady_transaction(conn):
        findings += [lag.finding for lag in sequences_behind(conn)]
        findings += [
            Finding("index", name, "left of an upgrade that was cut off: lf-sql install drops it")
            for name in ahead.left(conn)
        ]
        findings += _invariants(conn)
        findings += _misplaced(conn)
        findings += preflight.findings(conn)
        weaker = [*roles.weaker(plan.role_map), *tenancy.weaker(conn)]
        weaker += preflight.owners_members(conn)
    notes = [trouble.problem for trouble in driver.troubles]
    return Report(plan, driver, findings, weaker, notes)


@dataclass(frozen=True)
class Lag:
    """A sequence behind the column that it fills."""

    sequence: str
    highest: int
    last_value: int | None

    @property
    def finding(self) -> Finding:
        there = "never used" if self.last_value is None else f"at {self.last_value}"
        return Finding("sequence", self.sequence, f"{there}, behind the highest id {self.highest}")


def sequences_behind(conn: Connection) -> list[Lag]:
    """After a restore by hand, or an upgrade that rebuilt a table, inserts would fail on these.

    The sequence is read after the rows: beside a tick it is never behind those that were seen.
    """
    highest = {}
    for row in conn.execute(bundles.query("sequences").encode()).fetchall():
        query = sql.SQL("select pg_catalog.max({}) as highest from {}").format(
            sql.Identifier(row["column_name"]),
            sql.Identifier(row["schema_name"], row["table_name"]),
        )
        found = conn.execute(query).fetchone()
        highest[row["sequence_name"]] = found["highest"] if found else None
    behind = []
    for row in conn.execute(bundles.query("sequences").encode()).fetchall():
        name, last = row["sequence_name"], row["last_value"]
        most = highest.get(name)
        if most is not None and (last is None or last < most):
            behind.append(Lag(name, most, last))
    return behind


def mend_sequences(conn: Connection) -> list[Finding]:
    """Move every sequence that is behind to its column's highest value."""
    with db.steady_transaction(conn):
        lags = sequences_behind(conn)
        for lag in lags:
            conn.execute(
                "select pg_catalog.setval(%s::pg_catalog.regclass, %s)", [lag.sequence, lag.highest]
            )
    return [lag.finding for lag in lags]


def _invariants(conn: Connection) -> list[Finding]:
    there = conn.execute(
        "select 1 from pg_catalog.pg_proc as p "
        "join pg_catalog.pg_namespace as n on n.oid = p.pronamespace "
        "where n.nspname = 'lenses' and p.proname = 'fn_invariant_violations' and p.pronargs = 0"
    ).fetchone()
    if not there:
        return []
    rows = conn.execute("select * from lenses.fn_invariant_violations()").fetchall()
    return [
        Finding("invariant", str(next(iter(row.values()))), _words(list(row.items())[1:]))
        for row in rows
    ]


def _misplaced(conn: Connection) -> list[Finding]:
    """Next slots that are missing or stand where no tick puts them."""
    there = conn.execute(
        "select 1 from pg_catalog.pg_proc as p "
        "join pg_catalog.pg_namespace as n on n.oid = p.pronamespace "
        "where n.nspname = 'lenses' and p.proname = 'fn_misplaced_schedules'"
    ).fetchone()
    if not there:
        return []
    rows = conn.execute("select * from lenses.fn_misplaced_schedules(null::uuid)").fetchall()
    mend = "; lf-sql schedule recompute --all mends it"
    return [
        Finding(row["resource"], str(row["id"]), f"{row['label']}: {row['detail']}{mend}")
        for row in rows
    ]


def _words(items: list[tuple[str, object]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in items if value is not None)
