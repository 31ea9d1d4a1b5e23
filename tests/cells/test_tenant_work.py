"""Runs that wait, approvals, events and history go on in the new cell, and in that one alone."""

from __future__ import annotations

from uuid import UUID

from lf_sql import bundle, verify
from lf_sql.cells import tenant
from tests.cells.scene import TwoCells, refused, without_moves
from tests.support.database import as_user
from tests.support.run_scenario import RunScenario
from tests.support.scenario import MONDAY, at
from tests.support.tenants import ALICE, populate

ALICE_ID = UUID(ALICE.lenser)


def test_waiting_runs_go_on(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    schedule = scenario.make_schedule("*/5 * * * *")
    one.tick(MONDAY)
    [run] = scenario.runs(schedule)
    before = scenario.schedule(schedule)
    two_cells.move(scenario.tenant.id, one, two)
    assert one.claim() == []
    assert (one.status(run.id), two.status(run.id)) == ("cancelled", "pending")
    # The schedule in the source was told nothing.
    after = scenario.schedule(schedule)
    assert (after.last_result, after.last_completed_at, after.next_run_at, after.due_at) == (
        before.last_result, before.last_completed_at, before.next_run_at, before.due_at,
    )  # fmt: skip
    assert two.claim() == [run.id]
    assert two.complete(run.id)
    assert two.events(run.id) == [
        "run.created", "run.departed", "run.arrived", "run.started", "run.completed",
    ]  # fmt: skip
    assert two.db.value("select last_completed_at from lenses.workflow_schedules") is not None


def test_an_approval_is_decided_in_the_new_cell(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    schedule = scenario.make_schedule(approval_policy={"requiresApproval": True})
    one.tick(MONDAY)
    [run] = scenario.runs(schedule)
    assert run.status == "pending_approval"
    two_cells.move(scenario.tenant.id, one, two)
    decide = "select status from public.fn_decide_workflow_run(%s, 'approved')"
    with refused("42501"), as_user(one.db, scenario.tenant) as conn:
        conn.execute(decide, [run.id])
    with as_user(two.db, scenario.tenant) as conn:
        assert conn.value(decide, [run.id]) == "pending"
    assert two.claim() == [run.id]
    # Back with the decision: it counts there too.
    assert two.complete(run.id)
    two_cells.move(scenario.tenant.id, two, one)
    assert one.db.value("select approval_status from agents.team_runs") == "approved"


def test_events_are_delivered_in_the_new_cell(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    one.db.execute("update lenses.deliveries set is_active = true, secret_name = 'key'")
    one.db.execute("insert into lenses.delivery_secrets (name, secret) values ('key', 'whsec_x')")
    one.db.execute("update lenses.outbox set worker_id = 'w', lease_expires_at = now() + '1 day'")
    one.db.execute(
        "insert into lenses.deliveries (name, sends, workflow_id) values ('own', '{run.failed}', %s)",
        [ALICE.workflow],
    )
    claim = "select event_id from lenses.fn_claim_events('asleep', 'mailer')"
    tenant.depart(one.conn, [ALICE_ID], "two")
    with as_user(one.db, None, "service_role") as conn:
        assert conn.column(claim) == []
    tenant.carry(one.conn, two.conn, ALICE_ID)
    with as_user(two.db, None, "service_role") as conn:
        assert conn.column(claim) == [UUID(ALICE.run)]
    assert two.db.column("select name from lenses.deliveries order by 1") == ["asleep", "own"]
    assert two.db.value("select secret from lenses.delivery_secrets") == "whsec_x"


def test_what_the_operator_has_set_stays(two_cells: TwoCells) -> None:
    """A delivery of the same name that is no tenant's, and its secret, are this cell's own."""
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    one.db.execute("update lenses.deliveries set secret_name = 'key', max_attempts = 3")
    for cell, secret in ((one, "whsec_a"), (two, "whsec_b")):
        cell.db.execute("insert into lenses.delivery_secrets values ('key', %s)", [secret])
    two.db.execute(
        "insert into lenses.deliveries (name, sends, secret_name, max_attempts) "
        "values ('asleep', '{run.failed}', 'key', 7)"
    )
    two_cells.move(ALICE_ID, one, two)
    assert two.db.value("select secret from lenses.delivery_secrets") == "whsec_b"
    assert two.db.value("select max_attempts from lenses.deliveries") == 7


def test_conditions_see_the_newest_finished_run(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    done = scenario.run()
    assert one.claim() == [done]
    assert one.complete(done)
    schedule = scenario.make_schedule(
        "* * * * *",
        pre_dispatch_condition={"/prior_run_result/status": {"eq": "completed"}},
    )
    counted = "select sum(total)::int as runs, sum(succeeded)::int as good from lenses.run_counts where grain = 0"
    before = one.db.row(counted)
    two_cells.move(scenario.tenant.id, one, two)
    assert two.db.row(counted) == before
    two.tick(at(0))
    assert two.live_slots(schedule) == [at(0)]


def test_a_copy_is_left_to_the_old_cell(two_cells: TwoCells) -> None:
    """A split: the copy has everybody; who stays at the old cell is quiet in it, even what runs."""
    copy = two_cells.two
    scenario = RunScenario(copy.db)
    schedule = scenario.make_schedule("* * * * *")
    copy.tick(at(0))
    copy.tick(at(1))
    [running] = copy.claim(1)
    populate(copy.db, ALICE)
    trail = copy.events(running)
    for _ in range(2):
        assert tenant.leave(copy.conn, [scenario.tenant.id], "one") == [scenario.tenant.id]
    assert copy.presence(scenario.tenant.id) == "departed"
    assert copy.status(running) == "cancelled"
    assert copy.events(running) == trail
    assert scenario.schedule(schedule).last_completed_at is None
    assert copy.departed_rows(scenario.tenant.id) == 0
    copy.tick(at(2))
    assert copy.live_slots(schedule) == []
    assert copy.claim() == []


def test_what_stays_behind_goes_by_retention(two_cells: TwoCells) -> None:
    """But the profile, which says where the tenant lives; and it may still come back."""
    one, two = two_cells.one, two_cells.two
    populate(one.db, ALICE)
    before = one.rows(ALICE_ID)
    two_cells.move(ALICE_ID, one, two)
    purge = "select lenses.fn_purge_history_batch(now() + %s::interval, 100)"
    one.db.execute(purge, ["80 days"])
    assert one.db.value("select count(*) from lenses.workflow_schedules") == 1
    while one.db.value(purge, ["100 days"]):
        pass
    left = one.rows(ALICE_ID)
    assert left["lenses.workflow_schedules"] == left["lenses.workflows"] == []
    assert left["lenses.schedule_calendars"] == left["agents.gateway_crons"] == []
    assert one.departed_rows(ALICE_ID) == 0
    assert one.presence(ALICE_ID) == "departed"
    two_cells.move(ALICE_ID, two, one)
    assert without_moves(one.rows(ALICE_ID)) == before


def test_health_and_verify_say_nothing_of_who_left(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    scenario.make_schedule("* * * * *", next_run_at="2026-01-01T00:00:00Z")
    two_cells.move(scenario.tenant.id, one, two)
    about = "select count(*) from lenses.fn_health_schedules(null)"
    assert one.db.value(about) == 0
    assert two.db.value(about) > 0
    for cell in (one, two):
        assert verify.verify(cell.conn, bundle.load()).findings == []


def test_views_for_the_directory(two_cells: TwoCells) -> None:
    one, two = two_cells.one, two_cells.two
    scenario = RunScenario(one.db)
    scenario.make_schedule("* * * * *")
    one.tick(at(0))
    two_cells.move(scenario.tenant.id, one, two)
    counts = {}
    for cell in (one, two):
        with as_user(cell.db, None, "service_role") as conn:
            counts[cell.name] = [
                conn.value(f"select count(*) from lenses.{view}")
                for view in ("cell_tenants", "cell_schedules", "cell_runs", "cell_health")
            ]
            health = conn.row("select * from lenses.cell_health")
        there = (health.tenants, health.departed_tenants, health.active_schedules)
        assert (*there, health.waiting_runs) == ((0, 1, 0, 0) if cell is one else (1, 0, 1, 1))
    assert counts == {"one": [1, 0, 0, 1], "two": [1, 1, 1, 1]}
    with refused("42501"), as_user(two.db, scenario.tenant) as conn:
        conn.execute("select * from lenses.cell_tenants")
