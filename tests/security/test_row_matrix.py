"""Role × caller × table: whose rows are seen, and may be written, where a privilege lets one ask at all."""

from __future__ import annotations

import json

import psycopg
import pytest

from tests.security.matrix import MATRIX, TENANT_COLUMN, WITH_SEEDS
from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE, BOB, Estate

NOBODY = {
    "no claims": "",
    "empty claims": "{}",
    "no JSON": "{oops",
    "subject is not a uuid": json.dumps({"sub": "x' or 1=1 --"}),
    "subject is a number": json.dumps({"sub": 7}),
    "subject is an object": json.dumps({"sub": {"id": ALICE.user}}),
    "claims are a list": json.dumps([{"sub": ALICE.user}]),
    "subject without a profile": json.dumps({"sub": "99999999-0000-4000-8000-000000000000"}),
    "the lenser's id, not his user's": json.dumps({"sub": ALICE.lenser}),
    "editable claims": json.dumps({"user_metadata": {"sub": ALICE.user}}),
}
READERS = [
    (table, role)
    for table in TENANT_COLUMN
    for role in ("authenticated", "lf_sql_owner")
    if "S" in MATRIX[table][role]
]
CALLERS = [pytest.param(who, id=who.name) for who in (ALICE, BOB)]


def count(conn: Database, table: str, where: str, who: Estate | None = None) -> int:
    column = TENANT_COLUMN[table]
    return conn.value(
        f"select count(*) from {table} where {where.format(c=column)}",
        {"who": who.lenser} if who else None,
    )


@pytest.mark.parametrize("table", TENANT_COLUMN)
def test_both_have_rows_everywhere(table: str, two_tenants: Database) -> None:
    assert count(two_tenants, table, "{c} = %(who)s", ALICE) > 0
    assert count(two_tenants, table, "{c} = %(who)s", BOB) > 0


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize(("table", "role"), READERS)
def test_a_lenser_sees_his_own(
    table: str, role: str, caller: Estate, two_tenants: Database
) -> None:
    seeds = count(two_tenants, table, "{c} is null")
    own = count(two_tenants, table, "{c} = %(who)s", caller)
    with acting(two_tenants, role, caller.claims):
        assert count(two_tenants, table, "{c} = %(who)s", caller) == own
        assert count(two_tenants, table, "true") == own + (seeds if table in WITH_SEEDS else 0)


@pytest.mark.parametrize("claims", NOBODY.values(), ids=list(NOBODY))
@pytest.mark.parametrize(("table", "role"), READERS)
def test_nobody_sees_nothing(table: str, role: str, claims: str, two_tenants: Database) -> None:
    seeds = count(two_tenants, table, "{c} is null")
    with acting(two_tenants, role, claims):
        assert count(two_tenants, table, "true") == (seeds if table in WITH_SEEDS else 0)


@pytest.mark.parametrize("table", TENANT_COLUMN)
@pytest.mark.parametrize("role", ["service_role", "lf_sql_engine"])
def test_operators_see_all(table: str, role: str, two_tenants: Database) -> None:
    every = count(two_tenants, table, "true")
    with acting(two_tenants, role):
        assert count(two_tenants, table, "true") == every


@pytest.mark.parametrize("table", TENANT_COLUMN)
def test_the_owner_reaches_the_callers_rows(table: str, two_tenants: Database) -> None:
    """The definer RPCs' role; FOR UPDATE asks the policies of UPDATE. A seed is not the caller's."""
    own = count(two_tenants, table, "{c} = %(who)s", ALICE)
    with acting(two_tenants, "lf_sql_owner", ALICE.claims):
        assert len(two_tenants.rows(f"select from {table} for update")) == own
    with acting(two_tenants, "lf_sql_owner"):
        assert two_tenants.rows(f"select from {table} for update") == []


@pytest.mark.parametrize("table", TENANT_COLUMN)
def test_the_owner_makes_no_row_of_anothers(table: str, two_tenants: Database) -> None:
    column = TENANT_COLUMN[table]
    row = two_tenants.value(
        f"select to_jsonb(t) from {table} as t where {column} = %s limit 1", [BOB.lenser]
    )
    two_tenants.execute(f"alter table {table} disable trigger user")  # the policy itself answers
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
        acting(two_tenants, "lf_sql_owner", ALICE.claims),
    ):
        two_tenants.execute(
            f"insert into {table} overriding system value "
            f"select * from jsonb_populate_record(null::{table}, %s)",
            [json.dumps(row)],
        )


@pytest.mark.parametrize("table", TENANT_COLUMN)
def test_the_owner_hands_no_row_to_another(table: str, two_tenants: Database) -> None:
    column = TENANT_COLUMN[table]
    two_tenants.execute("set local session_replication_role = replica")
    before = count(two_tenants, table, "{c} = %(who)s", BOB)
    state = None
    try:
        with two_tenants.transaction():
            two_tenants.execute("set local role lf_sql_owner")
            two_tenants.execute("select set_config('request.jwt.claims', %s, true)", [ALICE.claims])
            two_tenants.execute(f"update {table} set {column} = %s", [BOB.lenser])
            two_tenants.execute("reset role")
    except psycopg.Error as error:
        state = error.sqlstate
    assert state in (None, "42501", "22023")
    assert count(two_tenants, table, "{c} = %(who)s", BOB) == before


@pytest.fixture
def views(two_tenants: Database) -> list[str]:
    found = two_tenants.column(
        "select c.oid::regclass::text from pg_class as c "
        "join pg_namespace as n on n.oid = c.relnamespace "
        "where c.relkind = 'v' and n.nspname in ('lensers', 'lenses', 'agents', 'automation') "
        "and c.relname not like 'cell\\_%' order by 1"
    )
    assert len(found) >= 2
    return found


def test_views_show_what_their_reader_may_see(two_tenants: Database, views: list[str]) -> None:
    """Nothing of another's to a tenant, all to service_role, nothing at all to anon; and no view is written to."""
    for view in views:
        with acting(two_tenants, "authenticated", ALICE.claims):
            mine = two_tenants.column(f"select to_jsonb(v)::text from {view} as v")
        with acting(two_tenants, "authenticated", BOB.claims):
            his = two_tenants.column(f"select to_jsonb(v)::text from {view} as v")
        with acting(two_tenants, "authenticated"):
            assert two_tenants.column(f"select to_jsonb(v)::text from {view} as v") == []
        with acting(two_tenants, "service_role"):
            every = two_tenants.column(f"select to_jsonb(v)::text from {view} as v")
        assert sorted(mine + his) == sorted(every)
        assert not any(BOB.lenser in row or BOB.schedule in row for row in mine)
        for role in ("anon", "authenticated", "service_role"):
            for verb in ("insert", "update", "delete"):
                assert not two_tenants.value(
                    "select has_table_privilege(%s, %s, %s)", [role, view, verb]
                )
        with pytest.raises(psycopg.errors.InsufficientPrivilege), acting(two_tenants, "anon"):
            two_tenants.execute(f"select from {view}")


def test_views_of_the_directory_are_service_roles(two_tenants: Database) -> None:
    views = two_tenants.column(
        "select oid::regclass::text from pg_class where relkind = 'v' and relname like 'cell\\_%' "
        "and relnamespace = 'lenses'::regnamespace"
    )
    assert len(views) == 4
    for view in views:
        with acting(two_tenants, "service_role"):
            rows = two_tenants.column(f"select to_jsonb(v)::text from {view} as v")
        assert rows
        assert not any(ALICE.secret in row for row in rows), "no payloads"
        for role, claims in (("anon", ""), ("authenticated", ALICE.claims)):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                with acting(two_tenants, role, claims):
                    two_tenants.execute(f"select from {view}")
