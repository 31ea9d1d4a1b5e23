"""What a tenant could learn about another without reading his rows."""

from __future__ import annotations

import psycopg
import pytest

from tests.security.rpcs import CALLS, arguments, statement
from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE, BOB

LEAKY = """
create function public.leak(p text) returns boolean language plpgsql cost 0.0000001 {leakproof} as $$
begin
  raise notice 'leaked %', p;
  return true;
end
$$;
grant execute on function public.leak(text) to public
"""


def leaked(conn: Database, where: str) -> list[str]:
    notices: list[str] = []

    def hear(diag: psycopg.errors.Diagnostic) -> None:
        notices.append(diag.message_primary or "")

    conn.execute("set local enable_indexscan = off")
    conn.execute("set local enable_bitmapscan = off")
    conn.add_notice_handler(hear)
    try:
        with acting(conn, "authenticated", ALICE.claims):
            conn.execute(f"select title from lenses.workflows where {where}")
    finally:
        conn.remove_notice_handler(hear)
    return notices


@pytest.mark.parametrize(("leakproof", "hears"), [("", False), ("leakproof", True)])
def test_a_cheap_predicate_sees_no_hidden_row(
    leakproof: str, hears: bool, two_tenants: Database
) -> None:
    """The broken variant is LEAKPROOF, which only a superuser may say, and none of ours is."""
    two_tenants.execute(LEAKY.format(leakproof=leakproof))
    heard = leaked(two_tenants, "public.leak(title)")
    assert f"leaked {ALICE.secret}" in heard
    assert (f"leaked {BOB.secret}" in heard) is hears


def test_statistics_are_hidden(two_tenants: Database) -> None:
    """Pg_stats shows no column of a table with row security, but to its owner."""
    two_tenants.execute("analyze lenses.workflows")
    two_tenants.execute("analyze agents.action_logs")
    assert two_tenants.value(
        "select count(*) from pg_stats where schemaname in ('lenses', 'agents')"
    )
    for role in ("anon", "authenticated"):
        with acting(two_tenants, role, ALICE.claims):
            assert not two_tenants.column(
                "select tablename || '.' || attname from pg_stats "
                "where schemaname in ('lensers', 'lenses', 'agents', 'automation', 'lf_sql')"
            )
            with pytest.raises(psycopg.errors.InsufficientPrivilege), two_tenants.transaction():
                two_tenants.execute("select from pg_statistic")


def test_a_failing_row_is_not_printed(two_tenants: Database) -> None:
    """A CHECK that fails under row security tells the constraint, not the row."""
    with (
        pytest.raises(psycopg.errors.CheckViolation) as caught,
        acting(two_tenants, "lf_sql_owner", ALICE.claims),
    ):
        two_tenants.execute("update agents.policies set max_daily_battles = -1")
    assert caught.value.diag.message_detail is None


def test_a_name_that_another_has_is_free(two_tenants: Database) -> None:
    """No unique key tells what another tenant has; one's own duplicate tells only one's own input."""
    wanted = {
        "p_name": BOB.name,
        "p_kind": "skip_dates",
        "p_timezone": "UTC",
        "p_dates": "{2031-01-01}",
    }
    with acting(two_tenants, "authenticated", ALICE.claims):
        two_tenants.execute(statement("fn_create_schedule_calendar", wanted), wanted)
        with pytest.raises(psycopg.errors.UniqueViolation) as caught, two_tenants.transaction():
            two_tenants.execute(statement("fn_create_schedule_calendar", wanted), wanted)
    told = f"{caught.value} {caught.value.diag.message_detail}"
    assert BOB.lenser not in told
    assert BOB.calendar not in told


@pytest.mark.parametrize("name", CALLS)
def test_estimates_stay_inside(name: str, two_tenants: Database) -> None:
    """The planner sees an RPC as a function, so its estimate knows nothing of anyone's rows."""
    two_tenants.execute("analyze lenses.workflows")
    values = {
        k: str(v).lower() if isinstance(v, bool) else v for k, v in arguments(name, ALICE).items()
    }
    with acting(two_tenants, "authenticated", ALICE.claims):
        plan = "\n".join(two_tenants.column(f"explain {statement(name, values)}", values))
    assert "Function Scan" in plan or "Result" in plan
    assert "lenses." not in plan.replace("fn_", "")
    assert "Seq Scan" not in plan
    assert "Index" not in plan


def test_a_forgotten_check_shows_nothing(two_tenants: Database) -> None:
    """An RPC without any owner check, as it would be installed."""
    two_tenants.execute(
        "create function public.forgetful(p uuid) returns text language sql stable security definer "
        "set search_path = pg_catalog, pg_temp "
        "as 'select w.title from lenses.workflows as w where w.id = p'"
    )
    two_tenants.execute("grant execute on function public.forgetful(uuid) to authenticated")
    ask = f"select public.forgetful('{BOB.workflow}')"
    two_tenants.execute("alter function public.forgetful(uuid) owner to lf_sql_owner")
    with acting(two_tenants, "authenticated", ALICE.claims):
        assert two_tenants.value(ask) is None
    with acting(two_tenants, "authenticated"):
        assert two_tenants.value(ask) is None
    # the broken variant: an owner whom row security does not bind
    two_tenants.execute("alter function public.forgetful(uuid) owner to session_user")
    with acting(two_tenants, "authenticated", ALICE.claims):
        assert two_tenants.value(ask) == BOB.secret


def test_a_row_of_nobodys_is_not_a_nobodys(two_tenants: Database) -> None:
    """`=`, not `is not distinct from`: a caller without a lenser sees no row without one."""
    two_tenants.execute("set local session_replication_role = replica")
    two_tenants.execute("alter table lenses.workflows alter column lenser_id drop not null")
    two_tenants.execute(
        "insert into lenses.workflows (lenser_id, title) values (null, 'nobody''s')"
    )
    for role in ("authenticated", "lf_sql_owner"):
        with acting(two_tenants, role):
            assert two_tenants.column("select title from lenses.workflows") == []
    two_tenants.execute(
        "create policy broken on lenses.workflows for select to authenticated "
        "using (lenser_id is not distinct from (select lensers.get_auth_lenser_id()))"
    )
    with acting(two_tenants, "authenticated"):
        assert two_tenants.column("select title from lenses.workflows") == ["nobody's"]
