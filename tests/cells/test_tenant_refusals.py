"""What is refused: runs that are running, what is another's, and whoever writes a tenant that left."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from lf_sql.cells import tenant
from tests.cells.scene import Cell, TwoCells, refused, schedules_of
from tests.support.database import as_user
from tests.support.run_scenario import RunScenario
from tests.support.tenants import ALICE, BOB, populate

ALICE_ID = UUID(ALICE.lenser)


def _copy_rows(source: Cell, target: Cell, lenser_id: UUID, but: Sequence[str] = ()) -> None:
    """What a move copies of a tenant, less some tables."""
    target.conn.execute("select lenses.fn_open_arrival()")
    rows = source.conn.execute(
        "select table_name, row_texts::text from lenses.fn_tenant_rows(p_lenser_id => %s)",
        [lenser_id],
    ).fetchall()
    for row in rows:
        if row["table_name"] not in but:
            target.conn.execute(
                "insert into pg_temp.tenant_rows (table_name, row_texts) values (%s, %s)",
                [row["table_name"], row["row_texts"]],
            )


def test_not_while_runs_are_running(two_cells: TwoCells) -> None:
    one = two_cells.one
    scenario = RunScenario(one.db)
    run = scenario.run()
    assert one.claim() == [run]
    waiting = scenario.run(scenario.make_schedule())
    before = one.rows(scenario.tenant.id)
    with refused("55006", "1 of their runs and 0", "lf-sql runs cancel"):
        tenant.depart(one.conn, [scenario.tenant.id], "two")
    assert one.rows(scenario.tenant.id) == before
    assert one.complete(run)
    assert tenant.depart(one.conn, [scenario.tenant.id], "two") == [scenario.tenant.id]
    assert one.status(run) == "completed"
    assert one.status(waiting) == "cancelled"


def test_not_while_a_gateway_works(two_cells: TwoCells) -> None:
    one = two_cells.one
    populate(one.db, ALICE)
    with as_user(one.db, None, "service_role") as conn:
        conn.execute("select agents.fn_claim_gateway_cron_runs('w', 1, interval '1 hour')")
    with refused("55006", "0 of their runs and 1 of"):
        tenant.depart(one.conn, [ALICE_ID], "two")
    assert one.presence(ALICE_ID) == "here"


@pytest.mark.parametrize("name", ["", "Two", "a b", "x" * 64, None])
def test_names_of_cells(two_cells: TwoCells, name: str | None) -> None:
    populate(two_cells.one.db, ALICE)
    with refused("22023", "the name of a cell"):
        tenant.depart(two_cells.one.conn, [ALICE_ID], name)  # type: ignore[arg-type]


def test_unknown_tenants(two_cells: TwoCells) -> None:
    unknown = uuid4()
    for act in (
        lambda: tenant.depart(two_cells.one.conn, [unknown], "two"),
        lambda: tenant.take_back(two_cells.one.conn, [unknown]),
        lambda: tenant.leave(two_cells.one.conn, [unknown], "two"),
    ):
        with refused("22023", f'there is no tenant "{unknown}"'):
            act()


def test_a_caller_is_told_where(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    scenario.make_schedule()
    two_cells.move(scenario.tenant.id, one, two)
    for call in ("fn_workflow_get_schedules()", "fn_upsert_workflow(p_title => 'x')"):
        with (
            refused("42501", "no tenant is calling", "lives in cell two"),
            as_user(one.db, scenario.tenant) as conn,
        ):
            conn.execute(f"select * from public.{call}")
    with as_user(one.db, scenario.tenant) as conn:
        assert conn.value("select count(*) from lenses.workflow_schedules") == 0
    assert len(schedules_of(two, scenario.tenant)) == 1


def test_nobody_writes_what_stayed_behind(two_cells: TwoCells) -> None:
    one = two_cells.one
    scenario = RunScenario(one.db)
    schedule = scenario.make_schedule()
    run = scenario.run(schedule)
    tenant.depart(one.conn, [scenario.tenant.id], "two")
    writes = [
        ("insert into lenses.workflow_runs (workflow_id) values (%s)", scenario.workflow),
        ("update lenses.workflow_schedules set description = 'x' where id = %s", schedule),
        ("insert into agents.teams (lenser_id) values (%s)", scenario.tenant.id),
        ("select lenses.fn_retry_workflow_run(%s)", run),
        ("update lensers.profiles set handle = 'x' where id = %s", scenario.tenant.id),
        ("update lensers.profiles set departed_at = null, departed_to = null where id = %s",
         scenario.tenant.id),
    ]  # fmt: skip
    for query, value in writes:
        with refused("42501"), as_user(one.db, None, "service_role") as conn:
            conn.execute(query, [value])
    with refused("42501", "not written by hand"):
        one.db.execute(writes[-1][0], [scenario.tenant.id])
    with refused("42501", "not written by hand"), as_user(one.db, None, "service_role") as conn:
        conn.execute(
            "insert into lensers.profiles (user_id, departed_at, departed_to) "
            "values (gen_random_uuid(), now(), 'x')"
        )


def test_ids_of_others(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    populate(two.db, BOB)
    two.db.execute(
        "insert into lenses.workflows (id, lenser_id) values (%s, %s)", [ALICE.workflow, BOB.lenser]
    )
    before = two.rows(BOB.lenser)
    tenant.depart(one.conn, [ALICE_ID], "two")
    with refused("23505", ALICE.workflow, "unique within a cell"):
        tenant.carry(one.conn, two.conn, ALICE_ID)
    assert two.presence(ALICE_ID) == "absent"
    assert two.rows(BOB.lenser) == before
    assert tenant.take_back(one.conn, [ALICE_ID]) == [ALICE_ID]


def test_the_user_is_another_tenant(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    two.db.execute("insert into lensers.profiles (user_id) values (%s)", [ALICE.user])
    tenant.depart(one.conn, [ALICE_ID], "two")
    with refused("23505", ALICE.user, "one tenant in all cells"):
        tenant.carry(one.conn, two.conn, ALICE_ID)


def test_the_id_is_another_user(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    two.db.execute(
        "insert into lensers.profiles (id, user_id) values (%s, %s)", [ALICE_ID, uuid4()]
    )
    tenant.depart(one.conn, [ALICE_ID], "two")
    # No second copy arises: the id is in use there, and the tenant stays departed.
    with refused("23505", "is another user here"):
        with two.conn.transaction():
            _copy_rows(one, two, ALICE_ID)
            two.conn.execute("select lenses.fn_arrive_tenant(%s::uuid)", [ALICE_ID])


def test_the_delivery_is_another_one(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    for cell, workflow in ((one, ALICE.workflow), (two, None)):
        cell.db.execute(
            "insert into lenses.deliveries (name, sends, workflow_id) "
            "values ('mine', '{run.failed}', %s)",
            [workflow],
        )
    tenant.depart(one.conn, [ALICE_ID], "two")
    with refused("23505", '"mine"', "lf-sql delivery delete"):
        tenant.carry(one.conn, two.conn, ALICE_ID)


def test_rows_of_two_tenants(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE, BOB)
    tenant.depart(one.conn, [ALICE_ID], "two")
    with refused("22023", "a row of another tenant"), two.conn.transaction():
        two.conn.execute("select lenses.fn_open_arrival()")
        two.conn.execute(
            "insert into pg_temp.tenant_rows (table_name, row_texts) values "
            "('lensers.profiles', jsonb_build_object('id', %s::text, 'user_id', %s::text, "
            "'created_at', now()::text)), ('lenses.workflows', jsonb_build_object('lenser_id', %s::text))",
            [str(ALICE_ID), ALICE.user, BOB.lenser],
        )
        two.conn.execute("select lenses.fn_arrive_tenant(%s::uuid)", [ALICE_ID])
    with refused("22023", "has not been copied"), two.conn.transaction():
        two.conn.execute("select lenses.fn_open_arrival()")
        two.conn.execute("select lenses.fn_arrive_tenant(%s::uuid)", [ALICE_ID])


def test_a_run_comes_with_its_workflow(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    scenario.run()
    tenant.depart(one.conn, [scenario.tenant.id], "two")
    with (
        refused("23503", "workflow_runs_workflow_id_lenser_id_fkey"),
        two.conn.transaction(),
    ):
        _copy_rows(
            one, two, scenario.tenant.id, but=["lenses.workflows", "lenses.workflow_versions"]
        )
        two.conn.execute("select lenses.fn_arrive_tenant(%s::uuid)", [scenario.tenant.id])
    assert two.presence(scenario.tenant.id) == "absent"
