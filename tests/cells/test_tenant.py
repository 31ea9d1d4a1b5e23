"""A tenant that moves takes all along; a departure that is taken back was none."""

from __future__ import annotations

from uuid import UUID

from lf_sql.cells import tenant
from tests.cells.scene import TwoCells, refused, schedules_of, without_moves
from tests.support.run_scenario import RunScenario
from tests.support.scenario import MONDAY
from tests.support.tenants import ALICE, BOB, populate

LIST = {
    # What follows from the others, or is a cell's own: no tenant takes it along.
    "lenses.departed_rows",
    "lenses.lenser_usage",
    "lenses.run_counts",
    "lenses.schedule_due",
}
ALICE_ID, BOB_ID = UUID(ALICE.lenser), UUID(BOB.lenser)


def test_every_table_of_a_tenant_is_in_a_list(two_cells: TwoCells) -> None:
    """A new table must go along, or be named above."""
    db = two_cells.one.db
    of_tenants = db.column(
        """
        with recursive ours as (
          select c.oid from pg_class as c
          where c.relkind in ('r', 'p') and not c.relispartition
            and c.relnamespace::regnamespace::text in ('lensers', 'lenses', 'agents', 'automation')
        ),

        found as (
          select 'lensers.profiles'::regclass::oid as oid
          union
          select a.attrelid from pg_attribute as a
          where a.attname = 'lenser_id' and a.attrelid in (select o.oid from ours as o)
          union
          select k.conrelid from found as f
          inner join pg_constraint as k on k.contype = 'f' and k.confrelid = f.oid
          where k.conrelid in (select o.oid from ours as o)
        )

        select oid::regclass::text from found
        """
    )
    carried = set(db.column("select table_name from lenses.fn_tenant_tables()"))
    # Secrets are known by the name that a delivery gives; requests are pg_net's of this database.
    by_name = {"lenses.delivery_secrets"}
    assert set(of_tenants) - {"lenses.delivery_requests"} == (carried - by_name) | LIST


def test_all_goes_along_and_comes_back(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE, BOB)
    before, bob = one.rows(ALICE_ID), one.rows(BOB_ID)
    assert all(rows for rows in before.values()), "the scene has a row in every table"
    two_cells.move(ALICE_ID, one, two)
    assert without_moves(two.rows(ALICE_ID)) == before
    assert one.rows(BOB_ID) == bob
    assert two_cells.violations() == []
    two_cells.move(ALICE_ID, two, one)
    assert without_moves(one.rows(ALICE_ID)) == before
    assert one.events(UUID(ALICE.run)) == [
        "run.created", "run.departed", "run.arrived", "run.departed", "run.arrived",
    ]  # fmt: skip


def test_presence_and_a_second_time(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE, BOB)
    assert (one.presence(ALICE_ID), two.presence(ALICE_ID)) == ("here", "absent")
    for _ in range(2):
        assert tenant.depart(one.conn, [ALICE_ID], "two") == [ALICE_ID]
    assert (one.presence(ALICE_ID), two.presence(ALICE_ID)) == ("departed", "absent")
    assert tenant.depart(one.conn, [ALICE_ID], "three") == []
    assert tenant.carry(one.conn, two.conn, ALICE_ID)
    before = two.rows(ALICE_ID)
    assert not tenant.carry(one.conn, two.conn, ALICE_ID)
    assert two.rows(ALICE_ID) == before
    assert (one.presence(ALICE_ID), two.presence(ALICE_ID)) == ("departed", "here")
    assert tenant.depart(one.conn, [BOB_ID, ALICE_ID], "two") == [ALICE_ID, BOB_ID]


def test_a_departure_is_taken_back(two_cells: TwoCells) -> None:
    one = two_cells.one
    populate(one.db, ALICE, BOB)
    before = one.rows(ALICE_ID)
    ids = one.db.column("select id from lenses.outbox order by id")
    tenant.depart(one.conn, [ALICE_ID], "two")
    assert one.rows(ALICE_ID) != before
    assert one.violations() == []
    assert tenant.take_back(one.conn, [ALICE_ID, BOB_ID]) == [ALICE_ID, BOB_ID]
    assert without_moves(one.rows(ALICE_ID)) == before
    assert one.db.column("select id from lenses.outbox order by id") == ids
    assert one.departed_rows(ALICE_ID) == 0
    assert tenant.take_back(one.conn, [ALICE_ID]) == [ALICE_ID]
    assert without_moves(one.rows(ALICE_ID)) == before


def test_who_is_here_is_not_carried(two_cells: TwoCells) -> None:
    populate(two_cells.one.db, ALICE)
    with refused("55000", "has not departed"):
        tenant.carry(two_cells.one.conn, two_cells.two.conn, ALICE_ID)
    assert two_cells.two.presence(ALICE_ID) == "absent"


def test_what_changed_elsewhere_counts_at_the_return(two_cells: TwoCells) -> None:
    """Names swapped, a schedule and an agent gone, a new definition: as the other cell has it."""
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    owner = scenario.tenant
    first, second, third = (
        scenario.make_schedule("*/5 * * * *", name=name) for name in ("a", "b", "c")
    )
    agent = scenario.make_agent()
    run = scenario.run(first)
    one.tick(MONDAY)
    two_cells.move(owner.id, one, two)
    two.db.execute("update lenses.workflow_schedules set name = 'x' where id = %s", [first])
    two.db.execute("update lenses.workflow_schedules set name = 'a' where id = %s", [second])
    two.db.execute("update lenses.workflow_schedules set name = 'b' where id = %s", [first])
    two.db.execute("delete from lenses.workflow_schedules where id = %s", [third])
    two.db.execute("delete from agents.ai_lensers where id = %s", [agent])
    two.db.execute(
        """update lenses.workflows set definition = '{"nodes": [{"id": "a"}], "edges": []}'"""
    )
    claimed = two.claim()
    assert run in claimed
    assert all(two.complete(one_of) for one_of in claimed)
    there = two.rows(owner.id)
    two_cells.move(owner.id, two, one)
    assert without_moves(one.rows(owner.id)) == without_moves(there)
    assert one.status(run) == "completed"
    assert {row.name for row in schedules_of(one, owner)} == {"a", "b"}


def test_limits_follow_the_settings_of_the_cell(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    schedule = scenario.make_schedule("* * * * *")
    two.db.execute("update lenses.dispatch_settings set default_queue_mode = 'serial'")
    limit = "select max_in_flight from lenses.workflow_schedules where id = %s"
    assert one.db.value(limit, [schedule]) is None
    two_cells.move(scenario.tenant.id, one, two)
    assert two.db.value(limit, [schedule]) == 1
    assert two.db.value("select due_at from lenses.workflow_schedules") == MONDAY


def test_settings_of_a_cell_refuse_no_arrival(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    for _ in range(3):
        scenario.make_schedule()
    two.db.execute("update lenses.dispatch_settings set max_schedules_per_lenser = 2")
    two_cells.move(scenario.tenant.id, one, two)
    with refused("53400", "at most 2 schedules"):
        two.db.execute(
            "insert into lenses.workflow_schedules (workflow_id, cron_expr) values (%s, '0 9 * * *')",
            [scenario.workflow],
        )
