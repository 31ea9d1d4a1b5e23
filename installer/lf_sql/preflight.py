"""Who owns what has our names? Asks the catalogues before anything of ours is used."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import psycopg

from lf_sql import bundle
from lf_sql.compare import Finding
from lf_sql.errors import Refusal

OWNER_VARIABLE = "LF_SQL_OWNER"  # a role that stands for the owner roles and is trusted


MEMBERS = """
select m.rolname as name, pg_catalog.string_agg(g.rolname, ', ' order by g.rolname) as owners
from pg_catalog.pg_roles as g
join pg_catalog.pg_roles as m on pg_catalog.pg_has_role(m.oid, g.oid, 'member')
where g.rolname in ('lf_sql_owner', 'lf_sql_engine')
  and m.rolname not in ('lf_sql_owner', 'lf_sql_engine')
  and not m.rolsuper
  and (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = session_user)
group by m.rolname
order by m.rolname
"""


@cache
def query() -> str:
    """sql/queries/strangers.sql, which finds what is there and is not ours."""
    folder = bundle.sql_root() / "public" / "functions"
    names = ",".join(sorted(path.stem for path in folder.rglob("*.sql")))
    return _bare("strangers").replace("@names@", f"'{{{names}}}'").rstrip().rstrip(";")


def script() -> str:
    """The same as a statement that raises, for the head of SQL that others run."""
    text = _bare("refuse_strangers").replace("@strangers@", query())
    return text.replace("@isolation@", _bare("isolation").rstrip().rstrip(";"))


def _bare(name: str) -> str:
    """A file of sql/queries without its header."""
    return re.sub(r"\A(?:--[^\n]*\n)+", "", bundle.query(name))


def check(conn: psycopg.Connection[dict[str, Any]]) -> None:
    """Within a transaction under our search_path, before it reads or calls anything of ours."""
    refuse_strangers(conn.execute(query().encode()).fetchall())


def check_roles(conn: psycopg.Connection[dict[str, Any]]) -> None:
    """Refuse to install beside roles that undo what row security and grants do."""
    for row in isolation(conn):
        is_trusted = row["role_name"] and row["role_name"] == os.environ.get(OWNER_VARIABLE)
        if row["is_fatal"] and not is_trusted:
            raise Refusal(
                f"{row['kind']} {row['identity']}: {row['problem']}; "
                "lf-sql is not installed beside it",
                f"as a superuser: {row['remedy']}",
            )


def isolation(conn: psycopg.Connection[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of sql/queries/isolation.sql: what undoes it, and the statement that mends it."""
    return conn.execute(bundle.query("isolation").encode()).fetchall()


def findings(conn: psycopg.Connection[dict[str, Any]]) -> list[Finding]:
    """The same for verify; who has installed here may be a member of the owner roles."""
    installers = {
        row["installed_by"]
        for row in conn.execute("select distinct installed_by from lf_sql.installs").fetchall()
    }
    return [
        Finding(row["kind"], row["identity"], f"{row['problem']}: {row['remedy']}")
        for row in isolation(conn)
        if row["kind"] != "membership" or row["role_name"] not in installers
    ]


def owners_members(conn: psycopg.Connection[dict[str, Any]]) -> list[str]:
    """For a superuser: which other roles write code that runs as the superuser, a line each."""
    rows = conn.execute(MEMBERS.encode()).fetchall()
    return [
        f"role {row['name']} may act as {row['owners']} and is no superuser: what it makes of "
        "lf-sql's functions and triggers runs as the role that uses them, superusers included"
        for row in rows
    ]


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
