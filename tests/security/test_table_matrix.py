"""Role × table × verb: every cell of tables.csv is asked with a real statement, as that role."""

from __future__ import annotations

import psycopg
import pytest

from tests.security.matrix import MATRIX, OUR_SCHEMAS, ROLES, VERBS
from tests.support.database import Database
from tests.support.setups import STRANGER, acting


def expectation(allowed: str, letter: str) -> str:
    if letter in allowed:
        return "done"
    return "refused" if letter.lower() in allowed else "denied"


CELLS = [
    (table, role, verb, expectation(row[role], letter))
    for table, row in MATRIX.items()
    for role in ROLES
    for letter, verb in VERBS.items()
]


def statement(conn: Database, table: str, verb: str) -> str:
    """One that touches no row and reads none but for SELECT; TRUNCATE has no such form."""
    columns = conn.rows(
        "select quote_ident(attname) as name, format_type(atttypid, atttypmod) as type "
        "from pg_attribute where attrelid = %s::regclass "
        "and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = ''",
        [table],
    )
    names = ", ".join(column.name for column in columns)
    nulls = ", ".join(f"null::{column.type}" for column in columns)
    return {
        "select": f"select {names} from {table} where false",
        "insert": f"insert into {table} ({names}) select {nulls} where false",
        "update": f"update {table} set {columns[0].name} = default where false",
        "delete": f"delete from {table} where false",
        "truncate": f"truncate {table}",
    }[verb]


def outcome(conn: Database, role: str, sql: str) -> str:
    try:
        with acting(conn, STRANGER if role == "stranger" else role):
            conn.execute(sql)
    except psycopg.errors.InsufficientPrivilege as error:
        return "denied" if "permission denied" in str(error) else "refused"
    except psycopg.errors.FeatureNotSupported:  # TRUNCATE is let through, a foreign key stops it
        return "done"
    return "done"


@pytest.mark.parametrize(("table", "role", "verb", "expected"), CELLS)
def test_cell(table: str, role: str, verb: str, expected: str, two_tenants: Database) -> None:
    assert outcome(two_tenants, role, statement(two_tenants, table, verb)) == expected


def test_no_table_escapes(two_tenants: Database) -> None:
    tables = two_tenants.column(
        "select n.nspname || '.' || c.relname from pg_class as c "
        "join pg_namespace as n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'f', 'm') "
        "and n.nspname = any(%s)",
        [list(OUR_SCHEMAS)],
    )
    assert set(tables) == set(MATRIX)


def test_no_tenant_column_escapes(two_tenants: Database) -> None:
    tables = two_tenants.column(
        "select n.nspname || '.' || c.relname from pg_class as c "
        "join pg_namespace as n on n.oid = c.relnamespace "
        "join pg_attribute as a on a.attrelid = c.oid and a.attname = 'lenser_id' "
        "where c.relkind in ('r', 'p') and not c.relispartition and not a.attisdropped"
    )
    ours = {table for table, row in MATRIX.items() if row["tenant"].startswith("lenser_id")}
    assert set(tables) == ours


def test_other_privileges_are_nobodys(two_tenants: Database) -> None:
    """REFERENCES, TRIGGER, MAINTAIN, column privileges, sequences: no role but the owners has any."""
    found = two_tenants.column(
        """
        select c.oid::regclass || ' ' || r.rolname || ' ' || a.privilege_type
        from pg_class as c
        join pg_namespace as n on n.oid = c.relnamespace
        cross join aclexplode(c.relacl) as a
        join pg_roles as r on r.oid = a.grantee
        where n.nspname = any(%(two_tenants)s)
          and a.grantee <> c.relowner and r.rolname <> 'lf_sql_engine'
          and (a.privilege_type not in ('SELECT', 'INSERT', 'UPDATE') or a.is_grantable or c.relkind = 'S')
        union all
        select t.attrelid::regclass || '.' || t.attname
        from pg_attribute as t
        join pg_class as c on c.oid = t.attrelid
        join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = any(%(two_tenants)s) and t.attacl is not null
        """,
        {"two_tenants": list(OUR_SCHEMAS)},
    )
    assert found == []
