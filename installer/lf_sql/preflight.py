"""Whose is what stands in our place? Asked of the catalogues before anything of ours is used."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import psycopg

from lf_sql import bundle
from lf_sql.errors import Refusal

OWNER_VARIABLE = "LF_SQL_OWNER"  # a role that stands for the owner roles and is trusted


@cache
def query() -> str:
    """sql/queries/strangers.sql, which finds what is there and is not ours."""
    folder = bundle.sql_root() / "public" / "functions"
    names = ",".join(sorted(path.stem for path in folder.rglob("*.sql")))
    return bundle.query("strangers").replace("@names@", f"'{{{names}}}'").rstrip().rstrip(";")


def script() -> str:
    """The same as a statement that raises, for the head of SQL that others run."""
    return bundle.query("refuse_strangers").replace("@query@", query())


def check(conn: psycopg.Connection[dict[str, Any]]) -> None:
    """Within a transaction under our search_path, before it reads or calls anything of ours."""
    refuse_strangers(conn.execute(query().encode()).fetchall())


def refuse_strangers(rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise for the first of the rows of `query`; the role that LF_SQL_OWNER names is trusted."""
    trusted = os.environ.get(OWNER_VARIABLE)
    for row in rows:
        if row["owner"] is not None and row["owner"] == trusted:
            continue
        hint = f"as a superuser or its owner: {row['remedy']}"
        if row["owner"] is not None:
            hint = (
                f"if {row['owner']} installed lf-sql here and may act for you, set "
                f"{OWNER_VARIABLE}={row['owner']}; if not, {hint}"
            )
        others = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
        raise Refusal(
            f"{row['what']} {row['why']}{others}: lf-sql reads and calls nothing here", hint
        )
