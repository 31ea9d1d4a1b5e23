"""A try to start a run past its owner: on record, for good, and no flood."""

from __future__ import annotations

import re
from uuid import UUID

import psycopg

from tests.support.database import as_user
from tests.support.run_scenario import RunScenario
from tests.support.server import TestServer

NEEDS = {"approval_policy": {"requiresApproval": True}}
TRY = "update lenses.workflow_runs set status = 'pending' where id = %s"


def attempts(scenario: RunScenario, run: UUID) -> int:
    return scenario.db.value(
        "select coalesce(sum(attempts), 0)::int from agents.approval_attempts where run_id = %s",
        [run],
    )


def rows(scenario: RunScenario, run: UUID) -> tuple[int, int]:
    return (
        scenario.team_events(run).count("approval_bypass_attempt"),
        scenario.db.value(
            "select count(*)::int from agents.action_logs "
            "where action_type = 'approval_bypass_attempt' and payload ->> 'run_id' = %s",
            [str(run)],
        ),
    )


def test_warns_and_records_who_and_what(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    run = scenario.run(schedule, policies=NEEDS)
    inserted = attempts(scenario, run)
    notices: list[tuple[str | None, str | None]] = []
    scenario.db.add_notice_handler(lambda n: notices.append((n.severity, n.message_primary)))
    with as_user(scenario.db, None, "service_role") as conn:
        found = conn.execute(TRY + " returning status", [run]).fetchall()
    assert found == [("pending_approval",)]
    ((severity, message),) = notices
    assert severity == "WARNING"
    assert str(run) in (message or "")
    assert attempts(scenario, run) == inserted + 1
    row = scenario.db.row(
        "select * from agents.action_logs where action_type = 'approval_bypass_attempt' "
        "order by id desc limit 1"
    )
    assert row.schedule_id == schedule
    assert row.lenser_id == scenario.tenant.id
    assert row.payload["role"] == "service_role"
    assert row.payload["attempt"] == "update from pending_approval to pending"


def test_ten_rows_a_minute_and_an_exact_count(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    before, (events, logs) = attempts(scenario, run), rows(scenario, run)
    with as_user(scenario.db, None, "service_role") as conn:
        for _ in range(60):
            conn.execute(TRY, [run])
    assert attempts(scenario, run) == before + 60
    assert rows(scenario, run) == (10, 10)
    assert (events, logs) == (before, before)


def test_a_flood_in_one_statement_counts_each(scenario: RunScenario) -> None:
    runs = [scenario.run(policies=NEEDS) for _ in range(3)]
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute("update lenses.workflow_runs set status = 'pending'")
    assert [attempts(scenario, run) for run in runs] == [2, 2, 2]


def test_the_count_is_exact_under_concurrency(committed: None, scenario: RunScenario) -> None:
    import threading

    run = scenario.run(policies=NEEDS)
    before = attempts(scenario, run)

    def knock() -> None:
        with scenario.db.another() as conn:
            conn.execute("set role service_role")
            for _ in range(50):
                conn.execute(TRY, [run])

    threads = [threading.Thread(target=knock) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert attempts(scenario, run) == before + 200
    minutes = scenario.db.value("select count(*)::int from agents.approval_attempts")
    events, logs = rows(scenario, run)
    assert events == logs <= 10 * minutes


def test_the_record_cannot_be_erased(scenario: RunScenario) -> None:
    run = scenario.run(policies=NEEDS)
    for table in ("agents.agent_run_events", "agents.action_logs", "agents.approval_attempts"):
        for role in ("service_role", "lf_sql_owner", "postgres"):
            for query in (
                f"delete from {table}",
                f"truncate {table}",
                f"update {table} set lenser_id = lenser_id",
            ):
                with scenario.refused("42501"):
                    if role == "postgres":
                        scenario.db.execute(query)
                    else:
                        with as_user(scenario.db, scenario.tenant, role) as conn:
                            conn.execute(query)
    assert attempts(scenario, run) == 1


def test_a_rolled_back_probe_leaves_a_line_in_the_servers_log(
    committed: None, scenario: RunScenario, server: TestServer
) -> None:
    run = scenario.run(policies=NEEDS)
    before = attempts(scenario, run)
    try:
        with scenario.db.transaction():
            scenario.db.execute("set local role service_role")
            scenario.db.execute(TRY, [run])
            raise psycopg.Rollback
    except psycopg.Rollback:
        pass
    assert attempts(scenario, run) == before
    assert (
        re.search(
            rf"approval_bypass_attempt on run {run} by role .service_role.: update",
            server.log,
        )
        is not None
    ), "no line in the log"


def test_the_guards_fire_in_every_replication_mode(scenario: RunScenario) -> None:
    found = scenario.db.rows(
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


def test_without_the_guard_the_attempt_succeeds(scenario: RunScenario) -> None:
    """The attack, against a table that lost its trigger: the tests above would see it."""
    run = scenario.run(policies=NEEDS)
    scenario.db.execute(
        "alter table lenses.workflow_runs disable trigger workflow_runs_guard_other"
    )
    with as_user(scenario.db, None, "service_role") as conn:
        conn.execute(TRY, [run])
    assert scenario.row(run).status == "pending"
    assert scenario.claimed() == [], "a claim asks for the decision itself"
    scenario.db.execute(
        "alter table lenses.workflow_runs enable always trigger workflow_runs_guard_other"
    )
    scenario.db.execute("delete from agents.team_runs where workflow_run_id = %s", [run])
    scenario.db.execute("delete from lenses.workflow_runs where id = %s", [run])
