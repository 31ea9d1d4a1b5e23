"""The owner's functions: who may call, what is kept, what is refused and in which words."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime

import psycopg
import pytest

from tests.gateways.conftest import NOON, Gateway
from tests.support.database import Database, Tenant, as_user

ADD = "select * from public.fn_gateway_cron_add(%s, %s, %s, %s)"


def test_a_gateway_is_made_changed_and_listed(db: Database, tenant: Callable[..., Tenant]) -> None:
    upsert = "select * from public.fn_upsert_gateway(%s, %s, %s)"
    with as_user(db, tenant("ann")):
        made = db.row(upsert, [None, " eu-west ", "https://gw.example"])
        assert (made.name, made.endpoint) == ("eu-west", "https://gw.example")
        again = db.row(upsert, [made.id, None, ""])
        assert again.id == made.id
        assert (again.name, again.endpoint) == ("eu-west", None)
        db.execute("select public.fn_upsert_gateway(p_name => 'ap-south')")
        assert db.column("select name from public.fn_get_gateways()") == ["ap-south", "eu-west"]
    with as_user(db, tenant("bob")):
        assert db.rows("select * from public.fn_get_gateways()") == []


def test_a_cron_is_added_updated_run_and_removed(db: Database, gateway: Gateway) -> None:
    with as_user(db, gateway.owner):
        added = db.row(ADD, [gateway.id, "capability_refresh", "0 3 * * 1-5", "Europe/Istanbul"])
        assert added.lenser_id == gateway.owner.id
        assert added.next_run_at > datetime.now(UTC)
        assert added.next_run_at.astimezone(UTC).hour == 0
        changed = db.row(
            "select * from public.fn_gateway_cron_update(%s, p_cron_expr => '0 4 * * 1-5')",
            [added.id],
        )
        assert (changed.cron_expr, changed.operation) == ("0 4 * * 1-5", "capability_refresh")
        assert changed.next_run_at.astimezone(UTC).hour == 1
        run = db.row("select * from public.fn_gateway_cron_run(%s, %s)", [added.id, '{"now": 1}'])
        assert (run.scheduled_for, run.status, run.payload) == (None, "pending", {"now": 1})
        listed = db.rows("select * from public.fn_gateway_cron_list(%s)", [gateway.id])
        assert [(row.id, row.last_status) for row in listed] == [(added.id, "pending")]
        runs = db.rows("select * from public.fn_get_gateway_cron_runs(%s)", [gateway.id])
        assert [row.id for row in runs] == [run.id]
        db.execute("select public.fn_gateway_cron_remove(%s)", [added.id])
        assert db.rows("select * from public.fn_gateway_cron_list()") == []


def test_switching_on_and_edits_never_fire_a_past_slot(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron(next_run_at=datetime(2020, 1, 1, tzinfo=UTC))
    update = "select next_run_at from public.fn_gateway_cron_update(%s, p_is_active => %s)"
    with as_user(db, gateway.owner):
        assert db.value(update, [cron_id, False]).year == 2020
        assert db.value(update, [cron_id, True]) > datetime.now(UTC)


def test_a_written_next_run_is_kept(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron(next_run_at=None)
    with as_user(db, None, "service_role"):
        db.execute("update agents.gateway_crons set next_run_at = %s", [NOON])
    with as_user(db, gateway.owner):
        kept = db.value(
            "select next_run_at from public.fn_gateway_cron_update(%s, p_payload => '{}')",
            [cron_id],
        )
    assert kept == NOON


@pytest.mark.parametrize(
    ("operation", "cron_expr", "timezone", "quoted"),
    [
        ("Health Probe", "* * * * *", "UTC", '"Health Probe"'),
        ("", "* * * * *", "UTC", '""'),
        ("probe", "61 * * * *", "UTC", '"61 * * * *"'),
        ("probe", "@daily", "UTC", '"@daily"'),
        ("probe", "* * * * *", "UTC+8", '"UTC+8"'),
        ("probe", "* * * * *", "Mars/Base", '"Mars/Base"'),
    ],
)
def test_bad_input_is_refused_by_the_table_whoever_writes(
    db: Database, gateway: Gateway, operation: str, cron_expr: str, timezone: str, quoted: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as by_rpc, as_user(db, gateway.owner):
        db.execute(ADD, [gateway.id, operation, cron_expr, timezone])
    with pytest.raises(psycopg.errors.InvalidParameterValue) as by_table:
        db.execute(
            "insert into agents.gateway_crons (gateway_id, operation, cron_expr, timezone) "
            "values (%s, %s, %s, %s)",
            [gateway.id, operation, cron_expr, timezone],
        )
    for caught in (by_rpc, by_table):
        assert quoted in caught.value.diag.message_primary
        assert caught.value.diag.message_hint
    assert db.value("select count(*) from agents.gateway_crons") == 0


@pytest.mark.parametrize("payload", ["[]", '"x"', "1", "null"])
def test_a_payload_is_an_object(db: Database, gateway: Gateway, payload: str) -> None:
    cron_id = gateway.cron()
    with pytest.raises(psycopg.errors.InvalidParameterValue), as_user(db, gateway.owner):
        db.execute(
            "select public.fn_gateway_cron_update(%s, p_payload => %s::jsonb)", [cron_id, payload]
        )
    with pytest.raises(psycopg.errors.InvalidParameterValue), as_user(db, gateway.owner):
        db.execute("select public.fn_gateway_cron_run(%s, %s::jsonb)", [cron_id, payload])


@pytest.mark.parametrize(
    ("name", "endpoint"), [("  ", None), (None, None), ("a\nb", None), ("a", "b c")]
)
def test_a_gateway_has_a_readable_name(
    db: Database, tenant: Callable[..., Tenant], name: str | None, endpoint: str | None
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue), as_user(db, tenant()):
        db.execute("select public.fn_upsert_gateway(null, %s, %s)", [name, endpoint])


GATEWAY_CALLS = [
    "select public.fn_delete_gateway(%s)",
    "select public.fn_gateway_cron_list(%s)",
    "select public.fn_gateway_cron_add(%s, 'probe', '* * * * *')",
    "select public.fn_get_gateway_cron_runs(%s)",
]
CRON_CALLS = [
    "select public.fn_gateway_cron_update(%s, p_is_active => false)",
    "select public.fn_gateway_cron_run(%s)",
    "select public.fn_gateway_cron_remove(%s)",
]


@pytest.mark.parametrize("call", GATEWAY_CALLS + CRON_CALLS)
def test_a_strangers_id_and_an_unknown_one_look_the_same(
    db: Database, gateway: Gateway, tenant: Callable[..., Tenant], call: str
) -> None:
    theirs = gateway.id if call in GATEWAY_CALLS else gateway.cron()
    unknown = uuid.uuid4()
    said = []
    stranger = tenant("bob")
    for given in (theirs, unknown):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
            as_user(db, stranger),
        ):
            db.execute(call, [given])
        diag = caught.value.diag
        said.append((diag.message_primary.replace(str(given), "ID"), diag.message_hint))
    assert said[0] == said[1]


def test_a_strangers_gateway_is_not_overwritten(
    db: Database, gateway: Gateway, tenant: Callable[..., Tenant]
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), as_user(db, tenant("bob")):
        db.execute("select public.fn_upsert_gateway(%s, 'mine')", [gateway.id])
    assert db.value("select name from agents.gateways") == "eu-west"


@pytest.mark.parametrize(
    ("role", "call"),
    [
        ("anon", "select public.fn_get_gateways()"),
        ("authenticated", "select public.fn_claim_gateway_cron_runs('w')"),
        ("authenticated", "select public.fn_complete_gateway_cron_run(gen_random_uuid(), 'w')"),
        ("authenticated", "insert into agents.gateways (name) values ('x')"),
        ("authenticated", "update agents.gateway_crons set is_active = false"),
        ("service_role", "select agents.fn_dispatch_gateway_crons(now())"),
        ("service_role", "select agents.fn_reap_gateway_cron_runs(now())"),
        ("service_role", "delete from agents.gateways"),
    ],
)
def test_each_role_has_its_own_doors(db: Database, gateway: Gateway, role: str, call: str) -> None:
    with (
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        as_user(db, gateway.owner, role),
    ):
        db.execute(call)


def test_a_link_across_tenants_cannot_exist(
    db: Database, gateway: Gateway, tenant: Callable[..., Tenant]
) -> None:
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        db.execute(
            "insert into agents.gateway_crons (lenser_id, gateway_id, operation, cron_expr) "
            "values (%s, %s, 'probe', '* * * * *')",
            [tenant("bob").id, gateway.id],
        )


def test_a_deleted_gateway_takes_all_of_its_own_with_it(db: Database, gateway: Gateway) -> None:
    gateway.cron()
    db.execute("select agents.fn_dispatch_gateway_crons(%s)", [NOON])
    with as_user(db, gateway.owner):
        db.execute("select public.fn_delete_gateway(%s)", [gateway.id])
    for table in ("gateways", "gateway_crons", "gateway_cron_runs"):
        assert db.value(f"select count(*) from agents.{table}") == 0


def test_crons_stand_in_observe(db: Database, gateway: Gateway) -> None:
    cron_id = gateway.cron("*/5 * * * *")
    with as_user(db, gateway.owner):
        row = db.row("select * from public.fn_observe_schedules()")
        assert (row.resource, row.schedule_id, row.status) == ("eu-west", cron_id, "enabled")
        db.execute("select public.fn_gateway_cron_update(%s, p_is_active => false)", [cron_id])
        row = db.row("select * from public.fn_observe_schedules()")
        assert (row.status, row.next_run_at) == ("disabled", None)
