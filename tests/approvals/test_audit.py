"""A try to start a run past its owner: on record, for good, and no flood."""

from __future__ import annotations

import re
from uuid import UUID

import psycopg

from tests.rpc.callers import acting
from tests.runs.world import World
from tests.support.server import TestServer

NEEDS = {"approval_policy": {"requiresApproval": True}}
TRY = "update lenses.workflow_runs set status = 'pending' where id = %s"


def attempts(world: World, run: UUID) -> int:
    return world.db.value(
        "select coalesce(sum(attempts), 0)::int from agents.approval_attempts where run_id = %s",
        [run],
    )


def rows(world: World, run: UUID) -> tuple[int, int]:
    return (
        world.team_events(run).count("approval_bypass_attempt"),
        world.db.value(
            "select count(*)::int from agents.action_logs "
            "where action_type = 'approval_bypass_attempt' and payload ->> 'run_id' = %s",
            [str(run)],
        ),
    )


def test_warns_and_records_who_and_what(world: World) -> None:
    schedule = world.make_schedule()
    run = world.run(schedule, policies=NEEDS)
    inserted = attempts(world, run)
    notices: list[tuple[str | None, str | None]] = []
    world.db.add_notice_handler(lambda n: notices.append((n.severity, n.message_primary)))
    with acting(world.db, None, "service_role") as conn:
        found = conn.execute(TRY + " returning status", [run]).fetchall()
    assert found == [("pending_approval",)]
    ((severity, message),) = notices
    assert severity == "WARNING"
    assert str(run) in (message or "")
    assert attempts(world, run) == inserted + 1
    row = world.db.row(
        "select * from agents.action_logs where action_type = 'approval_bypass_attempt' "
        "order by id desc limit 1"
    )
    assert row.schedule_id == schedule
    assert row.lenser_id == world.tenant.id
    assert row.payload["role"] == "service_role"
    assert row.payload["attempt"] == "update from pending_approval to pending"


def test_ten_rows_a_minute_and_an_exact_count(world: World) -> None:
    run = world.run(policies=NEEDS)
    before, (events, logs) = attempts(world, run), rows(world, run)
    with acting(world.db, None, "service_role") as conn:
        for _ in range(60):
            conn.execute(TRY, [run])
    assert attempts(world, run) == before + 60
    assert rows(world, run) == (10, 10)
    assert (events, logs) == (before, before)


def test_a_flood_in_one_statement_counts_each(world: World) -> None:
    runs = [world.run(policies=NEEDS) for _ in range(3)]
    with acting(world.db, None, "service_role") as conn:
        conn.execute("update lenses.workflow_runs set status = 'pending'")
    assert [attempts(world, run) for run in runs] == [2, 2, 2]


def test_the_count_is_exact_under_concurrency(committed: None, world: World) -> None:
    import threading

    run = world.run(policies=NEEDS)
    before = attempts(world, run)

    def knock() -> None:
        with world.db.another() as conn:
            conn.execute("set role service_role")
            for _ in range(50):
                conn.execute(TRY, [run])

    threads = [threading.Thread(target=knock) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert attempts(world, run) == before + 200
    minutes = world.db.value("select count(*)::int from agents.approval_attempts")
    events, logs = rows(world, run)
    assert events == logs <= 10 * minutes


def test_the_record_cannot_be_erased(world: World) -> None:
    run = world.run(policies=NEEDS)
    for table in ("agents.agent_run_events", "agents.action_logs", "agents.approval_attempts"):
        for role in ("service_role", "lf_sql_owner", "postgres"):
            for query in (
                f"delete from {table}",
                f"truncate {table}",
                f"update {table} set lenser_id = lenser_id",
            ):
                with world.refused("42501"):
                    if role == "postgres":
                        world.db.execute(query)
                    else:
                        with acting(world.db, world.tenant, role) as conn:
                            conn.execute(query)
    assert attempts(world, run) == 1


def test_a_rolled_back_probe_leaves_a_line_in_the_servers_log(
    committed: None, world: World, server: TestServer
) -> None:
    run = world.run(policies=NEEDS)
    before = attempts(world, run)
    try:
        with world.db.transaction():
            world.db.execute("set local role service_role")
            world.db.execute(TRY, [run])
            raise psycopg.Rollback
    except psycopg.Rollback:
        pass
    assert attempts(world, run) == before
    assert (
        re.search(
            rf"approval_bypass_attempt on run {run} by role .service_role.: update",
            server.log,
        )
        is not None
    ), "no line in the log"


def test_the_guards_fire_in_every_replication_mode(world: World) -> None:
    found = world.db.rows(
        "select tgname::text, tgenabled from pg_trigger where not tgisinternal and tgrelid in "
        "('lenses.workflow_runs'::regclass, 'agents.team_runs'::regclass)"
    )
    assert {row.tgname for row in found} >= {
        "workflow_runs_admit", "workflow_runs_record", "workflow_runs_guard_engine",
        "workflow_runs_guard_other", "team_runs_guard_insert", "team_runs_guard_update",
    }  # fmt: skip
    # all but those that count: a restore or a subscriber brings the counts along
    counts = {row.tgname for row in found if row.tgname.startswith("workflow_runs_count_")}
    assert {row.tgname for row in found if row.tgenabled != "A"} == counts


def test_without_the_guard_the_attempt_succeeds(world: World) -> None:
    """The attack, against a table that lost its trigger: the tests above would see it."""
    run = world.run(policies=NEEDS)
    world.db.execute("alter table lenses.workflow_runs disable trigger workflow_runs_guard_other")
    with acting(world.db, None, "service_role") as conn:
        conn.execute(TRY, [run])
    assert world.row(run).status == "pending"
    assert world.claimed() == [], "a claim asks for the decision itself"
    world.db.execute(
        "alter table lenses.workflow_runs enable always trigger workflow_runs_guard_other"
    )
    world.db.execute("delete from agents.team_runs where workflow_run_id = %s", [run])
    world.db.execute("delete from lenses.workflow_runs where id = %s", [run])
