"""Whose is another scheduler's schema? Asked of the catalogues before anything in it is read."""

from __future__ import annotations

from lf_sql.db import Connection
from lf_sql.errors import LfSqlError, Refusal

OWNERS = """
select w.what, o.rolname, o.rolsuper or o.rolname = session_user as is_trusted
from (
  select 0 as rank, 'schema ' || n.nspname as what, n.nspowner as owner
  from pg_catalog.pg_namespace as n
  where n.nspname = %(schema)s
  union all
  select 1, n.nspname || '.' || c.relname, c.relowner
  from pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
  where n.nspname = %(schema)s and c.relkind in ('r', 'p', 'v', 'm', 'f')
) as w
join pg_catalog.pg_roles as o on o.oid = w.owner
order by w.rank, w.what
"""


def require(conn: Connection, schema: str, relation: str, missing: LfSqlError) -> None:
    """Raise `missing` where the relation is not there, Refusal where a stranger owns any."""
    rows = conn.execute(OWNERS.encode(), {"schema": schema}).fetchall()
    if f"{schema}.{relation}" not in {row["what"] for row in rows}:
        raise missing
    for row in rows:
        if not row["is_trusted"]:
            raise Refusal(
                f"{row['what']} in this database belongs to {row['rolname']}: nothing is read",
                f"if {row['rolname']} may act for you, connect as that role",
            )
