"""A database whose lf-sql is older than this one: what it lacks is an error, and this says why.

A statement that meets what is not there yet has an error of the server, in words about columns and
functions. Where the session is free again, the error is given the database's version; whoever makes
a message of it says that instead.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg

from lf_sql import __version__
from lf_sql.plan import version_key

# An unknown column, function, table or schema.
MISSING = ("42703", "42883", "42P01", "3F000")
_VERSION = b"select product_version from lf_sql.installs order by id desc limit 1"
_NOTED = "older_lf_sql"  # the attribute of an error


def is_missing(error: psycopg.Error) -> bool:
    """Whether the statement named something that is not there."""
    return error.sqlstate in MISSING


def note(error: psycopg.Error, conn: psycopg.Connection[dict[str, Any]]) -> None:
    """Give the error the database's version, where that is older; reads, outside a transaction."""
    if not is_missing(error) or conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        return
    with suppress(psycopg.Error):  # no ledger, or one that is not for this role
        row = psycopg.Connection.execute(conn, _VERSION).fetchone()
        if row and version_key(row["product_version"]) < version_key(__version__):
            vars(error)[_NOTED] = row["product_version"]


def said(error: psycopg.Error) -> tuple[str, str] | None:
    """What to say of such an error instead of its own words, and the way out."""
    version = vars(error).get(_NOTED)
    if version is None:
        return None
    return f"the database has lf-sql {version}, this is {__version__}", "lf-sql upgrade"
