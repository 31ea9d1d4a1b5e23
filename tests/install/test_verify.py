"""Damage of every kind: verify is red and names it, install mends what a replay can mend."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lf_sql import apply, bundle, verify
from lf_sql import db as product_db
from lf_sql.errors import LfSqlError
from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database, make_tenant

# what is done → what verify must name
MENDABLE = {
    "a grant too many": (
        "grant select on lenses.workflows to anon",
        "table lenses.workflows: acl has unexpected anon:SELECT",
    ),
    "a grant to everyone": (
        "grant execute on function lensers.get_auth_lenser_id() to public",
        "acl has unexpected PUBLIC:EXECUTE",
    ),
    "a grant on a column": (
        "grant update (title) on lenses.workflows to authenticated",
        "table lenses.workflows: column acl",
    ),
    "a grant lost": (
        "revoke select on lenses.workflows from service_role",
        "table lenses.workflows: acl lacks service_role:SELECT",
    ),
    "a schema opened": (
        "grant create on schema lenses to authenticated",
        "schema lenses: acl has unexpected authenticated:CREATE",
    ),
    "row security off": (
        "alter table lenses.workflow_runs disable row level security",
        "table lenses.workflow_runs: row security is off, should be on",
    ),
    "row security not forced": (
        "alter table lenses.workflow_runs no force row level security",
        "table lenses.workflow_runs: forced is off, should be on",
    ),
    "a policy lost": (
        "drop policy if exists profiles_owner_select on lensers.profiles; "
        "do $$ declare p text; begin for p in select polname from pg_policy where polrelid = "
        "'lensers.profiles'::regclass loop execute format('drop policy %I on lensers.profiles', p); "
        "end loop; end $$",
        "policy lensers.profiles.",
    ),
    "a function replaced": (
        "create or replace function lensers.get_auth_lenser_id() returns uuid language sql stable "
        "security definer set search_path = pg_catalog, pg_temp as 'select null::uuid'",
        "function lensers.get_auth_lenser_id(): another body",
    ),
    "a function unpinned": (
        "alter function lensers.get_auth_lenser_id() reset search_path",
        "function lensers.get_auth_lenser_id(): settings",
    ),
    "a function lost": (
        "drop function public.fn_get_workflows() cascade",
        "function public.fn_get_workflows(): missing",
    ),
    "a view lost": ("drop view lenses.schedule_slots", "view lenses.schedule_slots: missing"),
    "another owner": (
        "alter table lenses.workflows owner to postgres",
        "table lenses.workflows: owner is postgres, should be lf_sql_owner",
    ),
    "a trigger off": (
        "alter table lenses.workflow_schedules disable trigger workflow_schedules_check_insert",
        "workflow_schedules_check_insert: enabled is D, should be A",
    ),
    "a trigger ordinary again, as after a restore of data alone": (
        "alter table lenses.workflow_schedules disable trigger user; "
        "alter table lenses.workflow_schedules enable trigger user",
        "workflow_schedules_check_insert: enabled is O, should be A",
    ),
    "a trigger lost": (
        "drop trigger workflow_schedules_check_insert on lenses.workflow_schedules",
        "workflow_schedules.workflow_schedules_check_insert: missing",
    ),
}

STATE = {
    "a column lost": (
        "alter table agents.teams drop column name",
        "table agents.teams: columns: name is missing",
    ),
    "an index lost": (
        "do $$ begin execute (select format('drop index %s', i.indexrelid::regclass) from pg_index as i "
        "where i.indrelid = 'lenses.workflow_runs'::regclass and not i.indisunique limit 1); end $$",
        "index lenses.",
    ),
    "a constraint lost": (
        "alter table lensers.profiles drop constraint profiles_handle_check",
        "constraint lensers.profiles.profiles_handle_check: missing",
    ),
    "a stranger's function": (
        "create function lenses.fn_strange() returns int language sql as 'select 1'",
        "function lenses.fn_strange(): unexpected",
    ),
    "a stranger's trigger": (
        "create trigger strange after insert on lensers.profiles for each row "
        "execute function tsvector_update_trigger('a', 'pg_catalog.simple', 'handle')",
        "trigger lensers.profiles.strange: unexpected",
    ),
    "a stranger's policy": (
        "create policy strange on lensers.profiles using (true)",
        "policy lensers.profiles.strange: unexpected",
    ),
}


def findings(db: Database) -> str:
    run = lf_sql("verify", dsn=db.dsn)
    assert run.returncode == 1, run.stdout
    rows = [line.split("\t") for line in run.stdout.splitlines()[1:]]
    return "\n".join(f"{r[1]} {r[2]}: {r[3]}" for r in rows if r[0] == "wrong")


# Several at once are one database and one mend; those of a round touch different things.
ROUNDS = {f"round {first + 1}": list(MENDABLE)[first::3] for first in range(3)}


def do_damage(db: Database, damages: Mapping[str, tuple[str, str]]) -> None:
    for command, _ in damages.values():
        db.execute(command)


def unnamed(db: Database, damages: Mapping[str, tuple[str, str]]) -> list[str]:
    """The damages that verify does not name."""
    found = findings(db)
    return [damage for damage, (_, named) in damages.items() if named not in found]


@pytest.mark.parametrize("members", ROUNDS.values(), ids=list(ROUNDS))
def test_install_mends(db: Database, members: list[str]) -> None:
    damages = {member: MENDABLE[member] for member in members}
    do_damage(db, damages)
    assert unnamed(db, damages) == []
    assert "mended" in succeeded(lf_sql("install", dsn=db.dsn))
    succeeded(lf_sql("verify", dsn=db.dsn))


OVERLOAD = {
    "an overload": (
        "create function public.fn_get_workflows(p int) returns int language sql as 'select 1'",
        "function public.fn_get_workflows(p integer): unexpected",
    ),
}


@pytest.mark.parametrize(
    ("damages", "reason"),
    [(STATE, "a replay does not mend them"), (OVERLOAD, "more than one signature")],
    ids=["a replay does not mend it", "a rule of the catalogue refuses it"],
)
def test_install_never_blesses(
    db: Database, damages: Mapping[str, tuple[str, str]], reason: str
) -> None:
    """What a replay cannot bring back stays red, however often install is run."""
    do_damage(db, damages)
    assert unnamed(db, damages) == []
    run = lf_sql("install", dsn=db.dsn)
    assert run.returncode == 1
    assert reason in run.stderr
    assert unnamed(db, damages) == []


def test_an_operators_own_index_is_his_business(db: Database) -> None:
    db.execute("create index mine on lenses.workflows (title)")
    succeeded(lf_sql("verify", dsn=db.dsn))


def test_a_replaced_condition_signal_is_his_business(db: Database) -> None:
    db.execute(
        "create or replace function lenses.fn_condition_signal(p_schedule_id uuid) returns jsonb "
        "language sql stable set search_path = pg_catalog, pg_temp as $$ select '{\"mine\": 1}'::jsonb $$"
    )
    succeeded(lf_sql("verify", dsn=db.dsn))
    succeeded(lf_sql("install", dsn=db.dsn))
    signal = "select lenses.fn_condition_signal(gen_random_uuid())"
    assert db.value(signal) == {"mine": 1}


def test_a_client_in_the_owners_role(db: Database) -> None:
    db.execute("create role insider; grant lf_sql_owner to insider; grant insider to authenticated")
    try:
        assert "membership authenticated in lf_sql_owner: unexpected" in findings(db)
    finally:
        db.execute("drop role insider")
    succeeded(lf_sql("verify", dsn=db.dsn))


def test_a_sequence_behind_its_column(db: Database) -> None:
    make_tenant(db)
    db.execute(
        "insert into lenses.workflow_run_events (id, lenser_id, run_id, seq, event_type, payload) "
        "overriding system value select 500, id, gen_random_uuid(), 1, 'note', '{}' from lensers.profiles"
    )
    assert "behind the highest id 500" in findings(db)
    assert "mended: sequence" in succeeded(lf_sql("install", dsn=db.dsn))
    succeeded(lf_sql("verify", dsn=db.dsn))


def test_json(db: Database) -> None:
    db.execute("grant select on lenses.workflows to anon")
    run = lf_sql("verify", "--json", dsn=db.dsn)
    assert run.returncode == 1
    wrong = [row for row in json.loads(run.stdout) if row["severity"] == "wrong"]
    assert [row["what"] for row in wrong] == ["lenses.workflows"]


def test_verify_changes_nothing(db: Database) -> None:
    """Its transactions are read-only: the server itself would refuse a write."""
    with product_db.connect(db.dsn) as conn:
        conn.read_only = True
        verify.verify(conn, bundle.load())
        with pytest.raises(LfSqlError, match="read-only transaction"):
            apply.install(conn, replace(bundle.load(), version="99.0.0"))


def test_a_tick_beside_it_is_no_sequence_behind(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is inserted while it looks at a table has moved the sequence before."""
    execute = product_db.Connection.execute
    inserted: list[object] = []

    def and_a_tick(conn: Any, query: Any, *rest: Any, **more: Any) -> Any:
        if "pg_catalog.max" in str(query) and "dispatch_ticks" in str(query):
            inserted.append(db.value("select lenses.fn_tick_begin('beside')"))
        return execute(conn, query, *rest, **more)

    monkeypatch.setattr(product_db.Connection, "execute", and_a_tick)
    with product_db.connect(db.dsn) as conn:
        assert verify.sequences_behind(conn) == []
    assert inserted != [None]
    assert len(inserted) == 1
