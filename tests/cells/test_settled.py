"""What is true from the arrival on in the old cell: nothing is booked, kept or taken back there."""

from __future__ import annotations

from base64 import b64encode
from decimal import Decimal
from uuid import UUID

import pytest

from lf_sql.cells import move, tenant
from tests.cells.fleet import Fleet, Killed, dies_at
from tests.cells.scene import TwoCells, refused
from tests.cells.test_tenant_concurrency import in_thread, is_blocked
from tests.support.database import as_user, wait_until
from tests.support.run_scenario import RunScenario
from tests.support.tenants import ALICE, populate

ALICE_ID = UUID(ALICE.lenser)
HERS = "whsec_" + b64encode(b"a" * 32).decode()
ANOTHER = "whsec_" + b64encode(b"b" * 32).decode()
BOOK = "select lenses.fn_book_run_credits(%s, 'w', 1, 2.5)"


def reaped_run(two_cells: TwoCells) -> tuple[RunScenario, UUID]:
    """A run whose first attempt lost its lease, and which waits again."""
    one = two_cells.one
    scenario = RunScenario(one.db)
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 3, "backoffMs": 0}))
    assert one.claim() == [run]
    scenario.let_lease_expire(run)
    scenario.reap()
    return scenario, run


def test_credits_are_not_booked_where_the_tenant_was(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario, run = reaped_run(two_cells)
    two_cells.move(scenario.tenant.id, one, two)
    with (
        refused("42501", "lives in another cell"),
        as_user(one.db, None, "service_role") as conn,
    ):
        conn.execute(BOOK, [run])
    with as_user(two.db, None, "service_role") as conn:
        assert conn.value(BOOK, [run])
    assert two.db.value("select spent_credits from lenses.workflow_runs") == Decimal("2.5")


def test_a_booking_under_way_is_waited_for(two_cells: TwoCells, committed: None) -> None:
    one, two = two_cells.one, two_cells.two
    scenario, run = reaped_run(two_cells)
    tenant.depart(one.conn, [scenario.tenant.id], "two")
    pid = one.conn.info.backend_pid
    with one.db.another() as executor, executor.transaction():
        assert executor.value(BOOK, [run])
        thread, errors = in_thread(lambda: tenant.carry(one.conn, two.conn, scenario.tenant.id))
        wait_until(lambda: is_blocked(one.db, pid))
    thread.join()
    assert errors == []
    assert two.db.value("select spent_credits from lenses.workflow_runs") == Decimal("2.5")


def test_nothing_takes_back_who_has_arrived(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    two_cells.move(ALICE_ID, one, two)
    assert one.departed_rows(ALICE_ID) == 0
    with refused("55000", "is at work in cell two"):
        tenant.take_back(one.conn, [ALICE_ID])
    assert one.presence(ALICE_ID) == "departed"


def test_retention_leaves_a_move_that_was_cut_off(two_cells: TwoCells) -> None:
    """However long it lasts until somebody ends it: all may come back."""
    one = two_cells.one
    populate(one.db, ALICE)
    before = one.rows(ALICE_ID)
    tenant.depart(one.conn, [ALICE_ID], "two")
    kept = one.departed_rows(ALICE_ID)
    one.db.execute("select lenses.fn_purge_departed(now() + interval '100 years', 1000)")
    assert one.departed_rows(ALICE_ID) == kept > 0
    tenant.take_back(one.conn, [ALICE_ID])
    assert one.rows(ALICE_ID)["lenses.workflow_schedules"] == before["lenses.workflow_schedules"]


@pytest.mark.parametrize("step", move.STEPS)
def test_a_move_that_was_killed_is_settled_in_the_end(fleet: Fleet, step: str) -> None:
    user = fleet.place("a", 2)
    fleet.place("b")
    with fleet.directory() as directory, pytest.raises(Killed):
        move.move(directory, user, directory.cell("b"), 0, dies_at(step))
    fleet.did("cells", "resume")
    settled = "select departure_settled_at is not null from lensers.profiles where user_id = %s"
    assert fleet.databases["a"].value(settled, [user])
    assert fleet.databases["a"].value("select count(*) from lenses.departed_rows") == 0
    fleet.check()


def delivery_of(two_cells: TwoCells, cell: str, name: str, secret: str) -> None:
    """A delivery of ALICE's workflow in this cell, or one of the operator's in the other."""
    db = getattr(two_cells, cell).db
    with as_user(db, None, "service_role") as conn:
        conn.execute(
            "select lenses.fn_set_delivery(jsonb_build_object('name', %s::text, "
            "'secret_name', 'signing', 'sends', '[\"run.failed\"]'::jsonb, 'workflow_id', "
            "(select id from lenses.workflows limit 1)))",
            [name],
        )
        conn.execute("select lenses.fn_set_delivery_secret('signing', %s)", [secret])


def test_a_delivery_deleted_in_the_new_cell_is_gone_in_the_old_one_too(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    delivery_of(two_cells, "one", "hers", HERS)
    two_cells.move(ALICE_ID, one, two)
    with as_user(two.db, None, "service_role") as conn:
        conn.execute("select lenses.fn_delete_delivery('hers')")
    two_cells.move(ALICE_ID, two, one)
    assert one.db.value("select count(*) from lenses.deliveries where name = 'hers'") == 0


def test_secrets_of_one_name_do_not_meet(two_cells: TwoCells) -> None:
    """She would sign with the secret of somebody else, whose receiver would believe her."""
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    delivery_of(two_cells, "one", "hers", HERS)
    delivery_of(two_cells, "two", "the operator's", ANOTHER)
    tenant.depart(one.conn, [ALICE_ID], "two")
    with refused("23505", 'the secret "signing"'):
        tenant.carry(one.conn, two.conn, ALICE_ID)
    with as_user(two.db, None, "service_role") as conn:
        conn.execute("select lenses.fn_set_delivery_secret('signing', %s)", [HERS])
    assert tenant.carry(one.conn, two.conn, ALICE_ID)
