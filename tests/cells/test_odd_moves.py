"""What others do in the middle of a move: profiles, due rows and deliveries that they make or delete."""

from __future__ import annotations

from uuid import UUID

import psycopg
import pytest

from lf_sql.cells import move, tenant
from tests.cells.fleet import Fleet, Killed, dies_at
from tests.cells.scene import TwoCells, refused
from tests.support import cli
from tests.support.database import as_user
from tests.support.run_scenario import RunScenario
from tests.support.tenants import ALICE, populate

ALICE_ID = UUID(ALICE.lenser)


@pytest.mark.parametrize("how", [(), ("--take-back",)])
def test_a_profile_made_in_the_target_is_no_arrival(fleet: Fleet, how: tuple[str, ...]) -> None:
    user = fleet.place("a", 2)
    fleet.place("b")
    fleet.tick()
    with fleet.directory() as directory, pytest.raises(Killed):
        move.move(directory, user, directory.cell("b"), 0, dies_at("departed"))
    lenser = fleet.databases["a"].value(
        "select id from lensers.profiles where user_id = %s", [user]
    )
    fleet.databases["b"].execute(
        "insert into lensers.profiles (id, user_id) values (%s, %s)", [lenser, user]
    )
    cli.refused(fleet.lf("cells", "resume", *how), "nothing arrived with", "delete that row")
    fleet.databases["b"].execute("delete from lensers.profiles where id = %s", [lenser])
    fleet.did("cells", "resume", *how)
    assert fleet.active(user) == (["a"] if how else ["b"])
    fleet.tick()
    fleet.check()


def test_resume_moves_between_equal_versions_alone(fleet: Fleet) -> None:
    user = fleet.place("a")
    with fleet.directory() as directory, pytest.raises(Killed):
        move.move(directory, user, directory.cell("b"), 0, dies_at("departed"))
    newest = "update lf_sql.installs set product_version = %s where id = (select max(id) from lf_sql.installs)"
    was = fleet.databases["a"].value(
        "select product_version from lf_sql.installs order by id desc limit 1"
    )
    fleet.databases["a"].execute(newest, ["99.0.0"])
    cli.refused(fleet.lf("cells", "resume"), "99.0.0", "cells upgrade")
    fleet.databases["a"].execute(newest, [was])
    fleet.did("cells", "resume")
    assert fleet.active(user) == ["b"]


def test_a_departure_holds_running_runs_too(two_cells: TwoCells, committed: None) -> None:
    """A run whose lease ends meanwhile would wait, and another executor would claim it."""
    one = two_cells.one
    scenario = RunScenario(one.db)
    run = scenario.run()
    assert one.claim() == [run]
    held = "select from lenses.workflow_runs where id = %s for update nowait"
    with one.db.another() as other, other.transaction(force_rollback=True):
        other.execute("select lenses.fn_lock_tenants(%s)", [[scenario.tenant.id]])
        with pytest.raises(psycopg.errors.LockNotAvailable):
            one.db.execute(held, [run])


def test_nothing_is_made_due_of_who_has_left(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    schedule = one.db.value("select id from lenses.workflow_schedules limit 1")
    two_cells.move(ALICE_ID, one, two)
    due = "insert into lenses.schedule_due (schedule_id, lenser_id, due_at) values (%s, %s, now())"
    with refused("42501", "not written by hand"), as_user(one.db, None, "service_role") as conn:
        conn.execute(due, [schedule, ALICE_ID])


def events_of(two_cells: TwoCells, count: int) -> None:
    """So many events of one instant, waiting for a delivery of ALICE's workflow."""
    two_cells.one.db.execute(
        "insert into lenses.outbox (event_id, delivery, lenser_id, event_type, order_key, payload, created_at) "
        "select gen_random_uuid(), (select name from lenses.deliveries limit 1), %s, 'run.failed', %s, "
        "jsonb_build_object('n', n), '2026-01-01Z' from generate_series(1, %s) as n",
        [ALICE_ID, ALICE_ID, count],
    )


def test_events_arrive_in_their_order(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    events_of(two_cells, 12)
    order = "select payload ->> 'n' from lenses.outbox where payload ? 'n' order by id"
    two_cells.move(ALICE_ID, one, two)
    assert two.db.column(order) == [str(n) for n in range(1, 13)]


@pytest.mark.parametrize("goes", [True, False])
def test_a_delivery_deleted_meanwhile_takes_its_events_along(
    two_cells: TwoCells, goes: bool
) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    events_of(two_cells, 2)
    name = one.db.value("select delivery from lenses.outbox where payload ? 'n' limit 1")
    tenant.depart(one.conn, [ALICE_ID], "two")
    with as_user(one.db, None, "service_role") as conn:
        conn.execute("select lenses.fn_delete_delivery(%s)", [name])
    if goes:
        assert tenant.carry(one.conn, two.conn, ALICE_ID)
    else:
        tenant.take_back(one.conn, [ALICE_ID])
    cell = two if goes else one
    assert cell.presence(ALICE_ID) == "here"
    assert cell.db.value("select count(*) from lenses.outbox where delivery = %s", [name]) == 0
