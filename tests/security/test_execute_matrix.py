"""Role × function: the allow-list is functions.toml, everything else is refused; asked by calling each function."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.security.matrix import OUR_SCHEMAS
from tests.support.database import Database
from tests.support.setups import STRANGER, acting
from tests.support.tenants import ALICE

ALLOWED: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "functions.toml").read_text()
)
ROLES = ("anon", "authenticated", "service_role", STRANGER)
OURS = """
select
  n.nspname || '.' || p.proname as name,
  format('%%s.%%s(%%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) as signature,
  array(select format_type(t, null) from unnest(p.proargtypes) as t) as types,
  p.prokind, p.prorettype = 'trigger'::regtype as is_trigger, p.oid
from pg_proc as p
join pg_namespace as n on n.oid = p.pronamespace
where n.nspname = any(%s) or (n.nspname = 'public' and exists (
  select from lf_sql.sources as s
  where s.kind = 'function' and s.schema_name = 'public' and s.object_name = p.proname
))
order by 2
"""


def may(conn: Database, role: str, function: Any) -> bool:
    """Ask by a call with nulls; sub-selects keep the planner from answering for a strict function."""
    if function.is_trigger:
        return conn.value(
            "select has_function_privilege(%s, %s::oid, 'execute')", [role, function.oid]
        )
    verb, null = "select from", "(select null::{})"
    if function.prokind == "p":  # which takes no sub-select, and is never strict
        verb, null = "call", "null::{}"
    nulls = ", ".join(null.format(name) for name in function.types)
    try:
        with acting(conn, role, ALICE.claims):
            conn.execute("set local statement_timeout = '20s'")
            conn.execute(f"{verb} {function.name}({nulls})")
    except psycopg.errors.InsufficientPrivilege as error:
        text = error.diag.message_primary or ""
        if not text.startswith("permission denied"):
            return True
        if error.diag.context:
            raise AssertionError(f"{function.signature} may be called, but: {error}") from error
        return False
    except psycopg.Error:
        return True
    return True


@pytest.mark.parametrize("role", ROLES)
def test_execute_matrix(role: str, two_tenants: Database) -> None:
    found = {
        f.signature
        for f in two_tenants.rows(OURS, [list(OUR_SCHEMAS)])
        if may(two_tenants, role, f)
    }
    assert found == set(ALLOWED.get(role, []))


def test_public_holds_nothing_that_no_client_may_call(two_tenants: Database) -> None:
    clients = {signature for listed in ALLOWED.values() for signature in listed}
    in_public = {
        f.signature
        for f in two_tenants.rows(OURS, [list(OUR_SCHEMAS)])
        if f.name.startswith("public.")
    }
    assert in_public <= clients
