"""Where the list of exceptions says that a table's trigger bounds a column, 3 MB are refused."""

from __future__ import annotations

from fnmatch import fnmatchcase

import psycopg
import pytest

from tests.security.test_catalogue_rules import EXCEPTIONS
from tests.support.database import Database

PATTERNS = [
    pattern
    for pattern, reason in EXCEPTIONS["table_size_limits"].items()
    if reason.startswith("its trigger")
]
HUGE = {"text": "repeat('x', 3000000)", "jsonb": "jsonb_build_object('a', repeat('x', 3000000))"}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_huge_values_are_refused(pattern: str, two_tenants: Database) -> None:
    columns = two_tenants.rows(
        """
        select n.nspname || '.' || c.relname as table, a.attname as column,
          format_type(a.atttypid, a.atttypmod) as type
        from pg_attribute as a
        join pg_class as c on c.oid = a.attrelid and c.relkind = 'r'
        join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname in ('lenses', 'agents') and a.attnum > 0 and a.atttypid in ('text'::regtype, 'jsonb'::regtype)
        """
    )
    tried = 0
    for table, column, type_ in columns:
        if fnmatchcase(f"{table}.{column}", pattern):
            tried += 1
            try:
                with two_tenants.transaction():
                    two_tenants.execute(f"update {table} set {column} = {HUGE[type_]}")
            except psycopg.Error as error:
                state = error.sqlstate
            else:
                state = "stored or derived anew"
            longest = two_tenants.value(
                f"select coalesce(max(octet_length({column}::text)), 0) from {table}"
            )
            assert longest < 100000, f"{table}.{column}: {state}"
    assert tried
