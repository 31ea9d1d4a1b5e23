"""To act as a tenant: the role it takes, and what to say where the connected role may not take it.

PostgreSQL asks who logged in, not whom the session acts as.
"""

from __future__ import annotations

import json
from uuid import UUID

import psycopg

from lf_sql import db
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

_BECOME = (
    b"select pg_catalog.set_config('request.jwt.claims', %s, true), "
    b"pg_catalog.set_config('role', 'authenticated', true)"
)
# "set" is a right of its own from PostgreSQL 16 on; before, every member has it.
_MAY = b"""
select session_user::text as login, r.oid is not null as is_there,
  coalesce(pg_catalog.pg_has_role(session_user, r.oid, %s), false) as may_become
from (select) as one
left join pg_catalog.pg_roles as r on r.rolname = 'authenticated'
"""


def become(conn: Connection, user_id: UUID) -> None:
    """The rest of the transaction acts as this tenant, as one of PostgREST does."""
    claims = json.dumps({"sub": str(user_id), "role": "authenticated"})
    try:
        conn.execute(_BECOME, [claims])
    except (psycopg.errors.InvalidParameterValue, psycopg.errors.InsufficientPrivilege) as error:
        login = conn.info.parameter_status("session_authorization") or conn.info.user
        is_there = isinstance(error, psycopg.errors.InsufficientPrivilege)
        problem, remedy = _trouble(login, is_there)
        raise LfSqlError(f"this command acts as a tenant, and {problem}", remedy) from None


def require(conn: Connection, user_id: UUID) -> None:
    """Requires that the tenant that we act as is here: for any other, every list would be empty."""
    row = conn.execute("select lensers.get_auth_lenser_id() as id").fetchone()
    if row is None or row["id"] is not None:
        return
    try:
        conn.execute("select from public.fn_get_workflows()")
    except psycopg.errors.InsufficientPrivilege as error:  # only to a tenant is it said where to go
        hint = error.diag.message_hint or ""
        if hint.startswith("The tenant lives in cell "):
            raise LfSqlError(f"the tenant {user_id} lives in another cell", hint) from None
    raise LfSqlError(f"there is no tenant with the user id {user_id}", "lf-sql tenant list")


def weaker(conn: Connection) -> list[str]:
    """For install and verify to say: a line where commands cannot act as a tenant."""
    right = "set" if conn.info.server_version >= 160000 else "member"
    row = conn.execute(_MAY, [right]).fetchone()
    if row is None or row["may_become"]:
        return []
    problem, remedy = _trouble(row["login"], row["is_there"])
    return [f"commands cannot act as a tenant, because {problem}; {remedy}"]


def _trouble(login: str, is_there: bool) -> tuple[str, str]:
    grant = f"grant authenticated to {db.ident(login)}"
    if is_there:
        return f"role {login} is no member of the role authenticated", f"as a superuser: {grant}"
    return (
        "the role authenticated does not exist",
        f"as a superuser: create role authenticated nologin; {grant}; then, as the role that "
        "installed: lf-sql install",
    )
