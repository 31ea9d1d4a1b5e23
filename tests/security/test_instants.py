"""No instant outside the years 1970 to 9999 gets in, by any RPC or table; and what is in already is read."""

from __future__ import annotations

import psycopg
import pytest

from tests.security.rpcs import CALLS, arguments, call
from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE

OUTSIDE = ["10000-01-01Z", "20000-01-01Z", "1969-12-31 23:59:59Z", "0044-03-15 BC", "infinity",
           "-infinity"]  # fmt: skip
COLUMNS = """
select c.oid::regclass::text, a.attname::text, t.typname::text
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type as t on t.oid = a.atttypid
where c.relkind = 'r' and c.relnamespace::regnamespace::text in ('lensers', 'lenses', 'agents')
  and t.typname in ('timestamptz', 'date', '_date', '_timestamptz')
  and has_table_privilege('service_role', c.oid, 'update')
order by 1, 2
"""


def refusal(conn: Database, table: str, column: str, value: str) -> str | None:
    """What service_role is told; None where the table's own trigger wrote something else instead."""
    try:
        with acting(conn, "service_role"):
            conn.execute(f"update {table} set {column} = %s", [value])
            outside = f"{column} not between '1970-01-01Z' and '9999-12-31 23:59:59.999999Z'"
            assert conn.value(f"select count(*) from {table} where {outside}") == 0
    except psycopg.Error as error:
        if error.sqlstate != "22023":
            raise
        return error.diag.message_primary or ""
    return None


def test_every_column_of_every_table_that_service_role_writes(two_tenants: Database) -> None:
    found = two_tenants.rows(COLUMNS)
    assert len(found) > 40
    two_tenants.execute("select lenses.fn_begin_tick_at('x', now())")
    two_tenants.execute("select lenses.fn_worker_heartbeat('w', 'h', 1, true, '')")
    for table, column, kind in found:
        if table in ("lenses.workflow_versions", "lenses.schedule_due"):
            continue  # never changed by hand
        for value in OUTSIDE:
            given = f"{{{value.removesuffix('Z')}}}" if kind == "_date" else value
            with two_tenants.transaction(force_rollback=True):
                said = refusal(two_tenants, table, column, given)
                if said is None or "keeps" in said:
                    continue
                assert "1970 to 9999" in said, (table, column, value, said)
                assert value[:5] in said, (table, column, value, said)
        if kind == "timestamptz" and table not in ("lenses.workflow_runs", "agents.team_runs"):
            with two_tenants.transaction(force_rollback=True), acting(two_tenants, "service_role"):
                two_tenants.execute(f"update {table} set {column} = {column}")


def test_every_instant_of_every_rpc(two_tenants: Database) -> None:
    """Parameters of these types, by catalogue; each with each value."""
    found = two_tenants.rows(
        "select p.proname::text, a.name, a.type::regtype::text as kind from pg_proc as p "
        "cross join unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) as a (name, type) "
        "where p.proname = any(%s) and p.pronamespace = 'public'::regnamespace and a.type = any("
        "array['timestamptz', 'date', 'date[]', 'timestamptz[]']::regtype[])",
        [list(CALLS)],
    )
    assert {row.name for row in found} >= {"p_start_at", "p_end_at", "p_until", "p_since"}
    for name, argument, kind in found:
        for value in OUTSIDE:
            given = f"{{{value.removesuffix('Z')}}}" if kind == "date[]" else value
            changed = {**arguments(name, ALICE), argument: given}
            if name == "fn_backfill_schedule" and argument == "p_until" and value == "infinity":
                continue  # as every instant to come, now
            with pytest.raises(psycopg.Error) as caught:
                with acting(two_tenants, "authenticated", ALICE.claims):
                    call(two_tenants, name, changed)
            assert caught.value.sqlstate == "22023", (name, argument, value, str(caught.value))
            text = f"{caught.value.diag.message_primary} {caught.value.diag.message_detail}"
            assert value[:5] in text, (name, argument, value, text)


@pytest.mark.parametrize("key", ["start_at", "end_at"])
@pytest.mark.parametrize("value", ["10000-01-01", "1969-12-31T23:59:59Z", "0001-01-01"])
def test_a_patch(two_tenants: Database, key: str, value: str) -> None:
    with (
        pytest.raises(psycopg.errors.InvalidParameterValue, match=value[:10]),
        acting(two_tenants, "authenticated", ALICE.claims),
    ):
        two_tenants.execute(
            "select public.fn_patch_workflow_schedule(%s, jsonb_build_object(%s::text, %s::text))",
            [ALICE.schedule, key, value],
        )


@pytest.mark.parametrize("value", ["infinity", "-infinity"])
def test_a_slot_has_no_key_at_infinity(two_tenants: Database, value: str) -> None:
    with (
        pytest.raises(psycopg.errors.InvalidParameterValue, match=value),
        acting(two_tenants, "authenticated", ALICE.claims),
    ):
        two_tenants.execute("select lenses.fn_slot_key(%s, %s)", [ALICE.schedule, value])
    assert two_tenants.value("select lenses.fn_slot_key(%s, null)", [ALICE.schedule]) is None


@pytest.mark.parametrize(
    "rule",
    [
        "interval_ms = 316224000000, cron_expr = null, schedule_type = 'interval'",
        "interval_ms = 300000, cron_expr = null, schedule_type = 'interval'",
        "cron_expr = '59 23 31 12 *'",
        "cron_expr = '*/5 * * * *', timezone = 'America/New_York'",
        "cron_expr = '0 0 29 2 *', timezone = 'Pacific/Kiritimati'",
    ],
)
@pytest.mark.parametrize("jitter", [0, 86_400_000])
def test_the_slots_end_with_the_year_9999(two_tenants: Database, rule: str, jitter: int) -> None:
    """The search, the preview and what people look at come to their end there, without an overflow."""
    row = two_tenants.row(
        f"update lenses.workflow_schedules set {rule}, start_at = '9999-12-31 23:57Z', "
        "jitter_ms = %s where id = %s returning next_run_at < '10000-01-01Z' is not false as fits, "
        "due_at < '10000-01-01Z' is not false as is_due",
        [jitter, ALICE.schedule],
    )
    assert row == (True, True)
    beyond = two_tenants.value(
        "select count(*) from lenses.fn_next_slots(%s, '9999-12-30Z', 'infinity', 1000) as n "
        "where n >= '10000-01-01Z'",
        [ALICE.schedule],
    )
    assert beyond == 0
    with acting(two_tenants, "authenticated", ALICE.claims):
        two_tenants.execute("select public.fn_get_workflow_schedule(%s)", [ALICE.schedule])
        two_tenants.execute(
            "select * from public.fn_preview_schedule_ticks(%s, 200, '9000 years')",
            [ALICE.schedule],
        )
