"""Rules over functions that follow calls from one to the next, which a query on the catalogue alone does not."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.security.test_catalogue_rules import EXCEPTIONS
from tests.support.database import Database

DELIVERY = Path(__file__).parents[1] / "delivery"
CLIENTS = ("authenticated", "service_role")
WHO_CALLS = "lensers.get_auth_lenser_id"
WRITES = re.compile(
    r"\b(insert\s+into|update\s+\w+\.\w+|delete\s+from|truncate|for\s+(no\s+key\s+)?update|for\s+(key\s+)?share"
    r"|pg_notify|nextval|pg_(try_)?advisory\w*|lock\s+table|commit|merge\s+into|raise\s+log)\b"
)
# VOLATILE without a write: clock_timestamp.
READS_A_CLOCK_THAT_RUNS = {"lenses.fn_next_wake"}
# Definer functions for authenticated that give everyone the same answer.
SAME_FOR_ALL = {"public.fn_cron_preview", "public.fn_cron_describe", "public.fn_cron_build"}


@dataclass(frozen=True)
class Function:
    name: str
    body: str
    is_definer: bool
    volatility: str
    clients: frozenset[str]
    language: str


@pytest.fixture
def functions(two_tenants: Database) -> dict[str, Function]:
    rows = two_tenants.rows(
        """
        select n.nspname || '.' || p.proname as name, p.prosecdef, p.provolatile::text, l.lanname,
          lower(regexp_replace(p.prosrc, $s$'[^']*'|--[^\n]*$s$, ' ', 'g')) as body,
          array(
            select r.rolname::text from pg_roles as r
            where r.rolname = any(%s) and has_function_privilege(r.oid, p.oid, 'execute')
          ) as clients
        from pg_proc as p
        join pg_namespace as n on n.oid = p.pronamespace
        join pg_language as l on l.oid = p.prolang
        where n.nspname in ('lensers', 'lenses', 'agents', 'automation') or (n.nspname = 'public' and exists (
          select from lf_sql.sources as s
          where s.kind = 'function' and s.schema_name = 'public' and s.object_name = p.proname
        ))
        """,
        [list(CLIENTS)],
    )
    return {
        row.name: Function(
            row.name, row.body, row.prosecdef, row.provolatile, frozenset(row.clients), row.lanname
        )
        for row in rows
    }


def reached(functions: dict[str, Function], start: str) -> set[str]:
    """The function, what it calls, what those call."""
    known, waiting = set(), [start]
    while waiting:
        name = waiting.pop()
        if name in known:
            continue
        known.add(name)
        called = re.findall(r"\b(\w+\.\w+)\s*\(", functions[name].body)
        waiting += [other for other in called if other in functions]
    return known


def test_who_calls_is_asked(functions: dict[str, Function]) -> None:
    """A definer function that a tenant may call asks who he is."""
    silent = {
        f.name
        for f in functions.values()
        if f.is_definer and "authenticated" in f.clients
        if WHO_CALLS not in reached(functions, f.name)
    }
    assert silent - SAME_FOR_ALL == set()


def test_what_only_reads_says_so(functions: dict[str, Function]) -> None:
    """PostgREST runs STABLE functions read-only, and a client may repeat them."""
    lazy = {
        f.name
        for f in functions.values()
        if f.clients and f.volatility == "v"
        if not any(WRITES.search(functions[name].body) for name in reached(functions, f.name))
    }
    assert lazy - READS_A_CLOCK_THAT_RUNS == set()


def test_what_says_so_only_reads(functions: dict[str, Function]) -> None:
    wrong = {
        (f.name, name)
        for f in functions.values()
        if f.volatility != "v"
        for name in reached(functions, f.name)
        if WRITES.search(functions[name].body) or functions[name].volatility == "v"
    }
    assert wrong == set()


def test_immutable_reads_nothing(functions: dict[str, Function]) -> None:
    tables = re.compile(
        r"\b(from|join)\s+(lensers|lenses|agents|lf_sql)\.\w+(?!\w*\s*\()|current_setting|\bnow\(\)|clock_timestamp"
    )
    wrong = {
        (f.name, name)
        for f in functions.values()
        if f.volatility == "i"
        for name in reached(functions, f.name)
        if tables.search(functions[name].body) or functions[name].volatility != "i"
    }
    assert wrong == set()


def test_who_writes_holds_his_tenant(functions: dict[str, Function]) -> None:
    """A call that writes takes the profile first, or a departure to another cell could lose it."""
    holds = "lensers.fn_hold_lenser"
    loose = {
        f.name
        for f in functions.values()
        if "authenticated" in f.clients and f.volatility == "v"
        if holds not in reached(functions, f.name)
    }
    assert loose == set()


PLPGSQL_CHECK = """
select format('%s:%s %s', p.oid::regprocedure, c.lineno, c.message)
from pg_proc as p
join pg_namespace as n on n.oid = p.pronamespace
join pg_language as l on l.oid = p.prolang and l.lanname = 'plpgsql'
left join pg_trigger as g on g.tgfoid = p.oid and not g.tgisinternal
cross join lateral plpgsql_check_function_tb(
  p.oid, coalesce(g.tgrelid, 0), fatal_errors := false, other_warnings := true, extra_warnings := true,
  performance_warnings := false, security_warnings := true, oldtable := g.tgoldtable, newtable := g.tgnewtable
) as c
where n.nspname in ('lensers', 'lenses', 'agents', 'automation', 'public') and p.prokind <> 'a'
  and (g.oid is not null or p.prorettype <> 'trigger'::regtype)
  -- a cast in an assignment; a loop that only RETURN leaves; RETURN QUERY; one trigger of two with other tables
  and c.message !~ '^(target type is different|control reached end|unmodified OUT variable|relation "(new|old)_rows")'
"""


def test_plpgsql_check_finds_nothing(own_two_tenants: Database) -> None:
    """PL/pgSQL, under each function's own path: no unqualified or missing relation, no injection.

    In a session of its own, which it leaves in a state that no later test should meet.
    """
    if not own_two_tenants.value(
        "select 1 from pg_available_extensions where name = 'plpgsql_check'"
    ):
        assert os.environ.get("LF_SQL_TEST_BINDIR"), "apt install postgresql-15-plpgsql-check"
        return
    own_two_tenants.execute("create extension plpgsql_check")
    for stand_in in ("net", "vault"):  # what may be there is called where it is
        own_two_tenants.execute((DELIVERY / f"{stand_in}.sql").read_bytes())
    with own_two_tenants.transaction():
        own_two_tenants.execute("select lenses.fn_open_arrival()")
        found = own_two_tenants.column(PLPGSQL_CHECK)
    # Those that run text as SQL are listed, with reasons.
    listed = EXCEPTIONS["function_no_dynamic_sql"]
    lines = [
        line
        for line in found
        if not (
            line.endswith(("variable is not sanitized", "is not SQL injection safe"))
            and line.split(":")[0] in {name.replace(", ", ",") for name in listed}
        )
    ]
    assert lines == []


def test_sql_bodies_are_whole(two_tenants: Database) -> None:
    """SQL: each body is checked again, under its own path, now that everything is there."""
    two_tenants.execute("set local check_function_bodies = on")
    names = two_tenants.column(
        """
        select p.oid::regprocedure::text from pg_proc as p
        join pg_namespace as n on n.oid = p.pronamespace
        join pg_language as l on l.oid = p.prolang and l.lanname = 'sql'
        cross join lateral fmgr_sql_validator(p.oid)
        where n.nspname in ('lensers', 'lenses', 'agents', 'automation', 'public')
        """
    )
    assert len(names) > 10
