"""Reads what the database knows about lf-sql: the schema lf_sql, which steps.py writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lf_sql import bundle as bundles
from lf_sql import db
from lf_sql.bundle import Bundle
from lf_sql.compare import Catalogue, Finding
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError, Refusal
from lf_sql.plan import Applied, Installed, State


class HiddenLedger(LfSqlError):
    """The ledger is there and shows its owner nothing: the policies' roles went with a restore."""

    def __init__(self) -> None:
        super().__init__(
            "row security hides the ledger from its owner, as after a restore without roles",
            "lf-sql install mends it",
        )


def refuse_other(facts: Mapping[str, Any]) -> None:
    """Raise Refusal where what is installed belongs to a role that we may not act as."""
    if facts["has_ledger"] and not facts["is_ledger_ours"]:
        raise Refusal(
            f"lf-sql is installed here by another role, and {facts['user_name']} may not act as it",
            f"connect as the role that installed it, or: "
            f"grant lf_sql_owner, lf_sql_engine to {db.ident(facts['user_name'])}",
        )


TABLES = ("migrations", "installs", "sources", "expected_objects")


def read_state(conn: Connection, bundle: Bundle, facts: Mapping[str, Any]) -> State:
    """The ledger and what stands in its place where there is none."""
    schemas = frozenset(facts["schemas"])
    if not facts["has_ledger"]:
        names = sorted(
            s.name for s in bundle.sources if (s.kind, s.schema) == ("function", "public")
        )
        rows = conn.execute(bundles.query("public_functions").encode(), {"names": names}).fetchall()
        found = tuple(row["signature"].removeprefix("public.") for row in rows)
        return State(schemas=schemas, foreign_functions=found)
    refuse_other(facts)
    applied = conn.execute(
        "select version, slug, checksum, checksum_algorithm from lf_sql.migrations order by version"
    ).fetchall()
    if not applied:
        raise HiddenLedger
    installed = conn.execute(
        "select product_version, source_digest, digest_algorithm, server_major, role_map "
        "from lf_sql.installs order by id desc limit 1"
    ).fetchone()
    return State(
        applied=tuple(Applied(**row) for row in applied),
        installed=Installed(**installed) if installed else None,
        has_ledger=True,
        schemas=schemas,
    )


class EmptyLedger(LfSqlError):
    """The ledger is there and has no rows, though nothing hides them."""

    def __init__(self) -> None:
        super().__init__(
            "the ledger of lf-sql has no rows, as after a restore of a dump that row security "
            "emptied",
            "drop this database and restore from a dump taken by a superuser, by a role with "
            "BYPASSRLS, or by the role that installed, with --enable-row-security",
        )


def missing_rows(conn: Connection) -> list[Finding]:
    """Tables of this version that lack the rows which every lf-sql has."""
    rows = conn.execute(bundles.query("missing_rows").encode()).fetchall()
    problem = "missing, as after a restore of a dump that row security emptied"
    return [Finding("rows", row["name"], problem) for row in rows]


def open_to_owner(conn: Connection) -> None:
    """After a restore that lost the roles, forced row security hides the ledger from its owner."""
    for table in TABLES:
        conn.execute(f"alter table lf_sql.{table} no force row level security".encode())


def catalogue(conn: Connection) -> Catalogue:
    """The catalogue of our schemas as it is now."""
    rows = conn.execute(bundles.query("catalogue").encode()).fetchall()
    return {(row["kind"], row["identity"]): row["facts"] for row in rows}


def expectation(conn: Connection) -> Catalogue:
    """The catalogue as the newest install left it."""
    rows = conn.execute("select kind, identity, facts from lf_sql.expected_objects").fetchall()
    return {(row["kind"], row["identity"]): row["facts"] for row in rows}
