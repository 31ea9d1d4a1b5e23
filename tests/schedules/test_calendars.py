"""Calendars: a tenant's own, and seeds that nobody changes."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import psycopg
import pytest

from tests.support.callers import Caller
from tests.support.database import as_user

US = uuid.UUID("ca1e0da0-2026-4000-8000-000000000001")


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def created(alice: Caller, **arguments: Any) -> Any:
    given = {
        "name": "c",
        "kind": "skip_dates",
        "timezone": "UTC",
        "dates": ["2030-01-01"],
        **arguments,
    }
    return alice.one("fn_create_schedule_calendar", **given)


def test_create(alice: Caller) -> None:
    row = created(
        alice, name=" company ", kind="only_dates", timezone="Europe/Berlin",
        dates=["2030-05-01", "2030-01-01", "2030-05-01"],
    )  # fmt: skip
    assert (row.name, row.kind, row.timezone, row.is_seed) == (
        "company",
        "only_dates",
        "Europe/Berlin",
        False,
    )
    assert row.dates == [day("2030-01-01"), day("2030-05-01")]
    assert row.lenser_id == alice.tenant.id


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"name": None}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"kind": None}, "kind"),
        ({"kind": "skip"}, '"skip_dates"'),
        ({"timezone": "CEST"}, "CEST"),
        ({"dates": None}, "dates"),
        ({"dates": []}, "dates"),
        ({"dates": ["2030-01-01", None]}, "NULL"),
        ({"dates": ["infinity"]}, "infinity"),
        ({"dates": ["2030-01-01"] * 10001}, "10001"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_bad_input(alice: Caller, bad: dict[str, Any], says: str) -> None:
    good = created(alice, name="good")
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        created(alice, **bad)
    assert says in caught.value.diag.message_primary
    assert caught.value.diag.message_hint
    if bad not in ({"name": None}, {"kind": None}, {"dates": None}):
        alice.refused("22023", "fn_update_schedule_calendar", calendar_id=good.id, **bad)
    assert [c.id for c in alice.rows("fn_get_schedule_calendars") if not c.is_seed] == [good.id]


def test_one_name_a_lenser(alice: Caller, bob: Caller) -> None:
    first = created(alice, name="report")
    with pytest.raises(psycopg.errors.UniqueViolation) as caught:
        created(alice, name=" report ")
    assert caught.value.diag.message_primary == 'there is a calendar named "report" already'
    assert caught.value.diag.message_detail is None
    other = created(alice, name="Report")
    created(bob, name="report")
    alice.refused("23505", "fn_update_schedule_calendar", calendar_id=other.id, name="report")
    alice.one("fn_update_schedule_calendar", calendar_id=first.id, name="report")


def test_clone(alice: Caller) -> None:
    seed = next(c for c in alice.rows("fn_get_schedule_calendars") if c.id == US)
    clone = created(alice, name=None, kind=None, timezone=None, dates=None, clone_of=US)
    assert (clone.name, clone.kind, clone.timezone, clone.dates) == seed[2:6]
    assert not clone.is_seed
    again = created(
        alice,
        name="mine",
        kind="only_dates",
        timezone=None,
        dates=["2031-01-01"],
        clone_of=clone.id,
    )
    assert (again.kind, again.timezone, again.dates) == (
        "only_dates",
        seed.timezone,
        [day("2031-01-01")],
    )


def test_clone_of_a_strangers(alice: Caller, bob: Caller) -> None:
    theirs = created(bob)
    given = {"name": "n", "kind": None, "timezone": None, "dates": None}
    found = [
        alice.refused("42501", "fn_create_schedule_calendar", **given, clone_of=key)
        for key in (theirs.id, uuid.uuid4())
    ]
    assert found[0].message_primary == found[1].message_primary


@pytest.mark.usefixtures("committed")
def test_update(alice: Caller) -> None:
    row = created(alice, name="n", kind="skip_dates", timezone="Europe/Paris")
    same = alice.one("fn_update_schedule_calendar", calendar_id=row.id)
    assert same == row
    new = alice.one(
        "fn_update_schedule_calendar",
        calendar_id=row.id,
        dates=["2030-02-02", "2030-01-01"],
        kind="only_dates",
    )
    assert (new.name, new.kind, new.timezone) == ("n", "only_dates", "Europe/Paris")
    assert new.dates == [day("2030-01-01"), day("2030-02-02")]
    assert new.updated_at > row.updated_at


def test_attach_and_detach(alice: Caller, bob: Caller) -> None:
    row, key = created(alice), alice.schedule().id
    assert (
        alice.one("fn_set_schedule_calendar", schedule_id=key, calendar_id=row.id).calendar_id
        == row.id
    )
    assert alice.one("fn_set_schedule_calendar", schedule_id=key, calendar_id=US).calendar_id == US
    for unknown in (created(bob).id, uuid.uuid4()):
        alice.refused("22023", "fn_set_schedule_calendar", schedule_id=key, calendar_id=unknown)
    assert (
        alice.one("fn_set_schedule_calendar", schedule_id=key, calendar_id=None).calendar_id is None
    )


def test_an_attached_one_stays(alice: Caller) -> None:
    row, key = created(alice, name="used"), alice.schedule().id
    alice.one("fn_set_schedule_calendar", schedule_id=key, calendar_id=row.id)
    found = alice.refused("23503", "fn_delete_schedule_calendar", calendar_id=row.id)
    assert '"used"' in found.message_primary
    assert "1" in found.message_detail
    alice.one("fn_set_schedule_calendar", schedule_id=key, calendar_id=None)
    alice.one("fn_delete_schedule_calendar", calendar_id=row.id)
    alice.refused("42501", "fn_delete_schedule_calendar", calendar_id=row.id)


def test_the_list(alice: Caller, bob: Caller) -> None:
    created(bob, name="bobs")
    created(alice, name="zz")
    created(alice, name="aa")
    names = [c.name for c in alice.rows("fn_get_schedule_calendars")]
    assert names == [
        "tr-public-holidays",
        "tr-public-holidays-2026",
        "us-federal-holidays",
        "us-federal-holidays-2026",
        "weekdays",
        "weekends-only",
        "aa",
        "zz",
    ]


def test_seeds_by_rpc(alice: Caller) -> None:
    for function, arguments in (
        ("fn_update_schedule_calendar", {"name": "mine"}),
        ("fn_delete_schedule_calendar", {}),
    ):
        found = alice.refused("42501", function, calendar_id=US, **arguments)
        assert "read-only" in found.message_primary


ATTACKS = {
    "update": "update lenses.schedule_calendars set dates = '{2030-01-01}' where is_seed",
    "rename": "update lenses.schedule_calendars set name = name || '!' where is_seed",
    "take": "update lenses.schedule_calendars set is_seed = false, lenser_id = (select min(id::text)::uuid from lensers.profiles) where is_seed",
    "give": "update lenses.schedule_calendars set is_seed = true, lenser_id = null where not is_seed",
    "delete": "delete from lenses.schedule_calendars where is_seed",
    "truncate": "truncate lenses.schedule_calendars cascade",
    "upsert": "insert into lenses.schedule_calendars (id, name, kind, dates, is_seed) values "
    "('ca1e0da0-2026-4000-8000-000000000001', 'n', 'skip_dates', '{2030-01-01}', true) "
    "on conflict (id) do update set name = excluded.name",
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    "role", ["service_role", "lf_sql_owner", "lf_sql_engine", "postgres", "replica"]
)
def test_seeds_by_anyone(alice: Caller, role: str, attack: str) -> None:
    created(alice)
    facts = "select * from lenses.schedule_calendars order by id"
    before = alice.db.rows(facts)
    refused = False
    with alice.db.transaction(force_rollback=True):
        if role == "replica":
            alice.db.execute("set local session_replication_role = replica")
        else:
            alice.db.execute("select set_config('role', %s, true)", [role])
        try:
            alice.db.execute(ATTACKS[attack])
        except psycopg.errors.InsufficientPrivilege:
            refused = True
            raise psycopg.Rollback from None
        alice.db.execute("reset role")
        assert alice.db.rows(facts) == before, "row security hid them"
    assert refused or role == "lf_sql_owner"
    assert alice.db.rows(facts) == before


def test_a_new_seed(alice: Caller) -> None:
    insert = (
        "insert into lenses.schedule_calendars (name, kind, dates, is_seed) "
        "values ('new', 'skip_dates', '{2030-01-01}', true)"
    )
    with (
        as_user(alice.db, None, "service_role") as conn,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
        conn.transaction(),
    ):
        conn.execute(insert)
    alice.db.execute(insert)


def test_a_seed_written_as_it_is_passes(alice: Caller) -> None:
    alice.db.execute("update lenses.schedule_calendars set name = name where is_seed")


def test_the_row_stays_with_its_lenser(alice: Caller, bob: Caller) -> None:
    row = created(alice)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        alice.db.execute(
            "update lenses.schedule_calendars set lenser_id = %s where id = %s",
            [bob.tenant.id, row.id],
        )
