"""Who has slots in a stretch of time, and which: for the pictures of the load and the timeline."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.support.database import Database, Tenant, as_user

START = datetime(2027, 3, 28, tzinfo=UTC)  # Berlin turns its clocks at 01:00
END = START + timedelta(hours=6)
RULES: tuple[dict[str, Any], ...] = (
    {"cron_expr": "*/7 * * * *"},
    {"cron_expr": "30 2 * * *", "timezone": "Europe/Berlin"},
    {"cron_expr": "0 12 * * *"},
    {"interval_ms": 5_400_000},
    {"run_at": "2027-03-28 05:59+00"},
    {"run_at": "2027-03-28 06:00+00"},
    {"cron_expr": "0 * * * *", "start_at": "2027-03-28 02:00+00", "end_at": "2027-03-28 04:00+00"},
)


@pytest.fixture
def bob(tenant: Callable[..., Tenant]) -> Tenant:
    return tenant("bob")


@pytest.fixture
def owner(db: Database, bob: Tenant, tenant: Callable[..., Tenant]) -> Tenant:
    owner = tenant("ann")
    with as_user(db, owner):
        workflow_id = db.value("select id from public.fn_upsert_workflow(p_title => 'Digest')")
        for rule in RULES:
            named = "".join(f", p_{name} => %s" for name in rule)
            db.execute(
                f"select public.fn_upsert_workflow_schedule(%s{named})",
                [workflow_id, *rule.values()],
            )
        gateway_id = db.value("select id from public.fn_upsert_gateway(p_name => 'bridge')")
        db.execute(
            "select public.fn_gateway_cron_add(%s, 'health_probe', '15 1-3 * * *', 'UTC', '{}')",
            [gateway_id],
        )
    return owner


def listed(db: Database) -> dict[Any, list[datetime]]:
    found: dict[Any, list[datetime]] = {}
    for row in db.rows(
        "select g.* from public.fn_get_slots(array("
        "select o.schedule_id from public.fn_observe_schedules() as o), %s, %s) as g "
        "order by g.slot_at",
        [START, END],
    ):
        found.setdefault(row.schedule_id, []).append(row.slot_at)
    return found


def test_the_counts_are_those_of_the_slots_one_by_one(db: Database, owner: Tenant) -> None:
    with as_user(db, owner):
        slots = listed(db)
        due = db.rows("select * from public.fn_schedules_due_between(%s, %s)", [START, END])
    assert {row.schedule_id: (row.slots, row.first_at) for row in due} == {
        key: (len(found), found[0]) for key, found in slots.items()
    }
    assert [row.first_at for row in due] == sorted(row.first_at for row in due)
    assert sorted(map(len, slots.values())) == [1, 1, 3, 3, 4, 9 * 6]
    assert {row.resource_type for row in due} == {"workflow", "gateway"}


def test_what_is_paused_is_not_due_but_has_its_slots(db: Database, owner: Tenant) -> None:
    with as_user(db, owner):
        before = listed(db)
        db.execute(
            "select public.fn_pause_workflow_schedule(o.schedule_id) "
            "from public.fn_observe_schedules() as o where o.resource_type = 'workflow'"
        )
        due = db.column(
            "select resource_type from public.fn_schedules_due_between(%s, %s)", [START, END]
        )
        assert due == ["gateway"]
        assert listed(db) == before


def test_a_single_slot_outside_its_window_is_none(db: Database, owner: Tenant) -> None:
    with as_user(db, owner):
        [key] = [key for key, slots in listed(db).items() if slots == [END - timedelta(minutes=1)]]
    db.execute("update lenses.workflow_schedules set end_at = %s where id = %s", [START, key])
    with as_user(db, owner):
        assert key not in listed(db)
        due = db.column("select schedule_id from public.fn_schedules_due_between(%s, %s)",
                        [START, END])  # fmt: skip
    assert key not in due


def test_a_stranger_sees_nothing(db: Database, owner: Tenant, bob: Tenant) -> None:
    ids = db.column("select id from lenses.workflow_schedules")
    with as_user(db, bob):
        assert db.rows("select * from public.fn_get_slots(%s, %s, %s)", [ids, START, END]) == []
        assert db.rows("select * from public.fn_schedules_due_between(%s, %s)", [START, END]) == []


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("fn_get_slots('{}', '2027-01-01', '2027-01-01')", "the range from"),
        ("fn_get_slots('{}', '2027-01-01', '2027-03-01')", "the range from"),
        ("fn_get_slots('{}', '2027-01-01', null)", "p_until"),
        ("fn_get_slots('{}', '-infinity', '2027-03-01')", "p_from"),
        ("fn_get_slots('{}', '2027-01-01', '2027-01-02', 0)", "limit"),
        ("fn_get_slots(array_fill(gen_random_uuid(), '{101}'), '2027-01-01', '2027-01-02')", "101"),
        ("fn_schedules_due_between('2027-01-02', '2027-01-01')", "the range from"),
        ("fn_schedules_due_between('2027-01-01', '2027-01-02', -1)", "limit"),
    ],
)
def test_what_makes_no_sense_is_refused(db: Database, owner: Tenant, call: str, says: str) -> None:
    with pytest.raises(psycopg.Error, match=says) as error, as_user(db, owner):
        db.execute(f"select * from public.{call}")
    assert error.value.sqlstate == "22023"


def test_a_condition_is_tried_against_what_the_tick_would_see(
    db: Database, owner: Tenant, bob: Tenant
) -> None:
    workflow_id, schedule_id = db.row(
        "select workflow_id, id from lenses.workflow_schedules limit 1"
    )
    ask = "select public.fn_test_schedule_condition(%s, %s, %s)"
    with as_user(db, owner):
        answer = db.value(ask, [workflow_id, '{"/last_24h_stats/total": {"eq": 0}}', schedule_id])
        assert answer["passes"] is True
        assert set(answer["context"]) == {
            "prior_run_result",
            "last_24h_stats",
            "signal_rpc_result",
        }
        answer = db.value(ask, [workflow_id, '{"/last_24h_stats/total": {"gt": 0}}', None])
        assert answer["passes"] is False
    with pytest.raises(psycopg.Error) as error, as_user(db, owner):
        db.execute(ask, [workflow_id, '{"total": 1}', None])
    assert error.value.sqlstate == "22023"
    with pytest.raises(psycopg.Error) as error, as_user(db, bob):
        db.execute(ask, [workflow_id, "{}", schedule_id])
    assert error.value.sqlstate == "42501"
