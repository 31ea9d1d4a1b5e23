"""What is true in the old cell from the departure on, and from the arrival on; by whom it may be changed."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

import pytest

from lf_sql.cells import move, tenant
from tests.cells.fleet import Fleet, Killed, dies_at
from tests.cells.scene import TwoCells, refused
from tests.cells.test_tenant_concurrency import in_thread, is_blocked
from tests.support import cli
from tests.support.database import as_user, wait_until
from tests.support.run_scenario import RunScenario
from tests.support.tenants import ALICE, populate

ALICE_ID = UUID(ALICE.lenser)
BOOK = "select lenses.fn_book_run_credits(%s, 'w', 1, 2.5)"
FREE_RUN = (
    "insert into lenses.workflow_runs (lenser_id, workflow_id, workflow_version, idempotency_key, "
    "trigger_mode, policies) select lenser_id, id, 1, 'by hand', 'manual', "
    """'{"approval_policy": {"requiresApproval": false}}' from lenses.workflows"""
)


@pytest.mark.parametrize("has_arrived", [False, True])
def test_credits_are_booked_where_the_tenant_will_be(
    two_cells: TwoCells, has_arrived: bool
) -> None:
    """Between the departure and the arrival too, since the rows may have been read already."""
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    run = scenario.run(policies=scenario.policies(retry={"maxRetries": 3, "backoffMs": 0}))
    assert one.claim() == [run]
    scenario.let_lease_expire(run)
    scenario.reap()
    tenant.depart(one.conn, [scenario.tenant.id], "two")
    if has_arrived:
        tenant.carry(one.conn, two.conn, scenario.tenant.id)
    with (
        refused("42501", "lives in another cell"),
        as_user(one.db, None, "service_role") as conn,
    ):
        conn.execute(BOOK, [run])
    if not has_arrived:
        tenant.carry(one.conn, two.conn, scenario.tenant.id)
    with as_user(two.db, None, "service_role") as conn:
        assert conn.value(BOOK, [run])
    assert two.db.value("select spent_credits from lenses.workflow_runs") == Decimal("2.5")


def test_nothing_takes_back_who_has_arrived(two_cells: TwoCells) -> None:
    """But an arrival that the new cell has lost in a failover; then everything is as before."""
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    two_cells.move(ALICE_ID, one, two)
    with refused("55000", "is at work in cell two"):
        tenant.take_back(one.conn, [ALICE_ID])
    assert one.presence(ALICE_ID) == "departed"
    waiting = one.departed_rows(ALICE_ID)
    one.conn.execute("select lenses.fn_return_tenants(%s::uuid[], true)", [[ALICE_ID]])
    assert one.presence(ALICE_ID) == "here"
    live = (
        "select count(*) from lenses.workflow_runs where status in ('pending', 'pending_approval')"
    )
    assert waiting > 0 and one.db.value(live) == 1


def test_what_did_not_arrive_is_not_settled(two_cells: TwoCells, committed: None) -> None:
    """Something else makes the profile in the target while the tenant is carried."""
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    run, lenser = scenario.run(), scenario.tenant
    tenant.depart(one.conn, [lenser.id], "two")
    pid = two.conn.info.backend_pid
    arrived: list[bool] = []
    with two.db.another() as app, app.transaction():
        app.execute(
            "insert into lensers.profiles (id, user_id) values (%s, %s)",
            [lenser.id, lenser.user_id],
        )
        thread, errors = in_thread(
            lambda: arrived.append(tenant.carry(one.conn, two.conn, lenser.id))
        )
        wait_until(lambda: is_blocked(two.db, pid))
    thread.join()
    assert (errors, arrived) == ([], [False])
    two.db.execute("delete from lensers.profiles where id = %s", [lenser.id])
    assert tenant.carry(one.conn, two.conn, lenser.id)
    assert two.status(run) == "pending"


def test_retention_leaves_a_move_that_was_cut_off(two_cells: TwoCells) -> None:
    """However long it lasts until somebody ends it: all may come back."""
    one = two_cells.one
    populate(one.db, ALICE)
    tables = (
        "lenses.workflow_runs",
        "agents.team_runs",
        "agents.gateway_cron_runs",
        "lenses.outbox",
    )
    before = {table: one.rows(ALICE_ID)[table] for table in tables}
    tenant.depart(one.conn, [ALICE_ID], "two")
    for _ in range(3):
        one.db.execute("select lenses.fn_purge_history_batch(now() + interval '1 year', 1000)")
    tenant.take_back(one.conn, [ALICE_ID])
    assert {table: one.rows(ALICE_ID)[table] for table in tables} == before


@pytest.mark.parametrize("step", move.STEPS)
def test_a_move_that_was_killed_is_settled_in_the_end(fleet: Fleet, step: str) -> None:
    user = fleet.place("a", 2)
    fleet.place("b")
    with fleet.directory() as directory, pytest.raises(Killed):
        move.move(directory, user, directory.cell("b"), 0, dies_at(step))
    fleet.did("cells", "resume")
    settled = "select departure_settled_at is not null from lensers.profiles where user_id = %s"
    assert fleet.databases["a"].value(settled, [user])
    fleet.check()


def test_an_arrival_may_take_longer_than_the_source_lets_a_transaction_idle(fleet: Fleet) -> None:
    user = fleet.place("a")
    a, b = fleet.databases["a"], fleet.databases["b"]
    a.execute(
        f"alter database {a.dbname} set idle_in_transaction_session_timeout = '100ms'".encode()
    )
    b.execute(
        "create function public.slow() returns trigger language plpgsql as "
        "$$ begin perform pg_sleep(0.4); return new; end $$;"
        "create trigger slow before insert on lenses.workflows "
        "for each row execute function public.slow()"
    )
    fleet.did("cells", "move", user, "--to", "b")
    assert fleet.active(user) == ["b"]


def test_a_call_that_does_not_end_is_not_waited_for(
    two_cells: TwoCells, committed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tenant's other calls would wait behind the departure."""
    monkeypatch.setattr(tenant, "BUSY", 100)
    one = two_cells.one
    scenario = RunScenario(one.db)
    with one.db.another() as idle, as_user(idle, scenario.tenant) as call:
        call.execute("select public.fn_upsert_workflow(p_title => 'late')")
        with refused("55P03"):
            tenant.depart(one.conn, [scenario.tenant.id], "two")
    assert one.presence(scenario.tenant.id) == "here"


def test_move_waits_for_a_call_as_long_as_it_is_told(fleet: Fleet) -> None:
    user = fleet.place("a")
    with fleet.databases["a"].another() as idle, as_user(idle, user) as call:
        call.execute("select public.fn_upsert_workflow(p_title => 'late')")
        cli.refused(
            fleet.lf("cells", "move", user, "--to", "b", "--wait", "0"), "does not end", "--wait"
        )
    assert fleet.active(user) == ["a"]
    assert fleet.databases["a"].value("select count(*) from lenses.workflows") == 2


LIVE = {
    "lenses.workflow_runs": FREE_RUN,
    "agents.gateway_crons": "update agents.gateway_crons set is_active = true",
    "lenses.outbox": "insert into lenses.outbox (event_id, delivery, lenser_id, event_type, order_key, "
    f"payload) select gen_random_uuid(), name, '{ALICE_ID}', 'run.failed', '{ALICE_ID}', '{{}}' "
    "from lenses.deliveries limit 1",
}


@pytest.mark.parametrize("table", LIVE)
def test_the_owner_makes_nothing_live_of_who_has_left(two_cells: TwoCells, table: str) -> None:
    """A restore passes: what it brings of such a tenant is quiet."""
    one = two_cells.one
    populate(one.db, ALICE)
    tenant.depart(one.conn, [ALICE_ID], "two")
    with refused("42501", "lives in another cell"):
        one.db.execute(LIVE[table])
    assert one.violations() == []


def test_the_owner_who_comes_second_waits_and_is_refused(
    two_cells: TwoCells, committed: None
) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    with one.db.another() as owner:
        with one.conn.transaction():
            one.conn.execute(
                "select lenses.fn_depart_tenants(%s::uuid[], 'two')", [[scenario.tenant.id]]
            )
            thread, errors = in_thread(lambda: owner.execute(FREE_RUN))
            wait_until(lambda: is_blocked(one.db, owner.info.backend_pid))
        thread.join()
    assert "lives in another cell" in str(errors[0])
    assert tenant.carry(one.conn, two.conn, scenario.tenant.id)
    assert one.claim() == two.claim() == []
