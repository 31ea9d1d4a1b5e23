"""Objects that a caller plants, in his temporary schema or on his path, are never used by ours."""

from __future__ import annotations

import psycopg
import pytest

from tests.security.rpcs import CALLS, arguments, call, call_as, make_ready
from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE

# What a definer function with another path would meet first: tables of ours and of the catalogue, as temporary ones.
SHADOWS = """
select n.nspname || '.' || c.relname as name, c.relname as short
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'v') and (n.nspname in ('lensers', 'lenses', 'agents', 'automation')
  or n.nspname = 'pg_catalog' and c.relname in ('pg_class', 'pg_proc', 'pg_roles', 'pg_timezone_names', 'pg_settings'))
"""

OPERATORS = [
    ("=", kind) for kind in ("uuid", "text", "timestamptz", "integer", "bigint", "jsonb", "boolean")
] + [
    (sign, kind)
    for sign in ("<", "<=", ">", ">=", "<>")
    for kind in ("timestamptz", "integer", "bigint", "text", "interval")
]  # fmt: skip


def plant(conn: Database) -> None:
    """A schema in which every common operator, and some functions, betray that they were called."""
    conn.execute("create schema mine")
    for kind in sorted({kind for _, kind in OPERATORS}):
        conn.execute(
            f"create function mine.trap(p {kind}, q {kind}) returns boolean language plpgsql as "
            f"$$ begin raise exception 'planted operator of {kind} was called'; end $$"
        )
    for sign, kind in OPERATORS:
        conn.execute(
            f"create operator mine.{sign} (leftarg = {kind}, rightarg = {kind}, function = mine.trap)"
        )
    for signature in ("now()", "coalesce_text(text)", "format(text, text)", "clock_timestamp()"):
        conn.execute(
            f"create function mine.{signature} returns text language plpgsql as "
            "$$ begin raise exception 'planted function was called'; end $$"
        )
    conn.execute("grant usage on schema mine to public")


@pytest.fixture
def planted(two_tenants: Database) -> Database:
    plant(two_tenants)
    two_tenants.execute("set local search_path = mine, pg_catalog, public")
    return two_tenants


@pytest.mark.parametrize("name", CALLS)
def test_planted_operators_are_not_called(name: str, planted: Database) -> None:
    """CVE-2018-1058."""
    planted.execute("set local search_path = pg_catalog")
    values = arguments(name, ALICE)
    with acting(planted, "authenticated", ALICE.claims):
        make_ready(planted, ALICE, name)
        planted.execute("set local search_path = mine, pg_catalog, public")
        call(planted, name, values)


def test_the_trap_bites(planted: Database) -> None:
    planted.execute(
        "create function public.naive(p uuid) returns boolean language plpgsql as "
        "$$ begin return p = p; end $$"
    )
    with pytest.raises(psycopg.errors.RaiseException, match="planted operator"):
        planted.execute(f"select public.naive('{ALICE.user}')")


WRITES = {
    "run": f"insert into lenses.workflow_runs (workflow_id, schedule_id) values ('{ALICE.workflow}', '{ALICE.schedule}')",
    "schedule": f"update lenses.workflow_schedules set cron_expr = '5 5 * * *' where id operator(pg_catalog.=) '{ALICE.schedule}'",
    "workflow": f"""update lenses.workflows set definition = '{{"nodes":[{{"id":"z"}}],"edges":[]}}'
        where id operator(pg_catalog.=) '{ALICE.workflow}'""",
    "calendar": f"update lenses.schedule_calendars set dates = '{{2031-05-05}}' where id operator(pg_catalog.=) '{ALICE.calendar}'",
    "start": f"update lenses.workflow_runs set status = 'pending' where id operator(pg_catalog.=) '{ALICE.run}'",
    "decision": f"update agents.team_runs set approval_status = 'approved' where workflow_run_id operator(pg_catalog.=) '{ALICE.run}'",
    "gateway cron": f"update agents.gateway_crons set cron_expr = '5 5 * * *' where id operator(pg_catalog.=) '{ALICE.gateway_cron}'",
    "settings": "update lenses.dispatch_settings set batch_size = 900",
}


@pytest.mark.parametrize("what", WRITES)
def test_triggers_are_not_led_astray(what: str, planted: Database) -> None:
    """What fires at an operator's own statements: triggers, policies, foreign keys, CHECKs."""
    with acting(planted, "service_role"):
        planted.execute(WRITES[what])


def test_the_tick_is_not_led_astray(planted: Database) -> None:
    planted.execute("set local role service_role")
    assert planted.value("select public.fn_dispatch_tick()") is not None
    assert planted.value("select count(*) from public.fn_claim_workflow_runs('w', 5)") is not None


@pytest.mark.parametrize("name", CALLS)
def test_temporary_objects_shadow_nothing(name: str, two_tenants: Database) -> None:
    """The temporary schema comes last on our path, and every name of ours is qualified."""
    honest = call_as(two_tenants, ALICE, name)
    for row in two_tenants.rows(SHADOWS):
        two_tenants.execute(
            f"create temporary table {row.short} as select * from {row.name} where false"
        )
        two_tenants.execute(f"grant all on pg_temp.{row.short} to public")
    two_tenants.execute(
        "create function pg_temp.get_auth_lenser_id() returns uuid language sql as "
        "'select ''00000000-0000-4000-8000-000000000000''::uuid'"
    )
    shadowed = call_as(two_tenants, ALICE, name)
    assert [scrub(row) for row in shadowed] == [scrub(row) for row in honest]


def scrub(answer: object) -> object:
    """Without what differs from one call to the next: fresh ids and times."""
    if isinstance(answer, dict):
        return {
            key: scrub(value)
            for key, value in answer.items()
            if key not in ("id", "idempotency_key", "label", "detail")
            and not key.endswith(("_at", "_id"))
        }
    if isinstance(answer, list):
        return [scrub(value) for value in answer]
    return answer


def test_an_empty_path_would_be_shadowed(two_tenants: Database) -> None:
    """Why the path is not '': the temporary schema comes first there, before the catalogue."""
    for path, expected in (("''", "fake"), ("pg_catalog, pg_temp", "real")):
        two_tenants.execute(
            "create or replace function public.which() returns text language sql "
            f"set search_path = {path} as "
            "$$ select case when exists (select from pg_roles) then 'real' else 'fake' end $$"
        )
        with acting(two_tenants, "authenticated"):
            two_tenants.execute("create temporary table pg_roles (rolname name)")
            two_tenants.execute("grant select on pg_temp.pg_roles to public")
            two_tenants.execute("set local role none")
            assert two_tenants.value("select public.which()") == expected
