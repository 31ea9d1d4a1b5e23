"""What conditions see: the newest run's result and the counts of 24 hours, exact and bounded."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.support.database import Database, wait_until
from tests.support.scenario import MONDAY, NO_APPROVAL, Scenario, at

DAY = timedelta(hours=24)
INSTANT = timedelta(microseconds=1)
SEED = {"/prior_run_result/status": {"eq": "completed"}, "/last_24h_stats/failed": {"lt": 3}}
ENDS = ("completed", "failed", "timed_out", "cancelled", "pending")


def context(scenario: Scenario, schedule: UUID, now: datetime) -> dict[str, Any]:
    return scenario.db.value(
        "select lenses.fn_build_schedule_condition_context(%s, %s)", [schedule, now]
    )


def add(scenario: Scenario, when: datetime, status: str = "pending", **columns: Any) -> UUID:
    """A run by hand that is created at `when`; what it was is never judged, only counted."""
    columns = {
        "workflow_id": scenario.workflow, "created_at": when, "status": status,
        "policies": {"approval_policy": NO_APPROVAL}, **columns,
    }  # fmt: skip
    return scenario._insert("lenses.workflow_runs", columns)


def expected(scenario: Scenario, now: datetime) -> dict[str, int]:
    """By the definition, from the runs themselves."""
    rows = scenario.db.rows(
        "select status from lenses.workflow_runs "
        "where workflow_id = %s and created_at > %s and created_at <= %s",
        [scenario.workflow, now - DAY, now],
    )
    found = [row.status for row in rows]
    return {
        "succeeded": found.count("completed"),
        "failed": found.count("failed") + found.count("timed_out"),
        "total": len(found),
    }


@pytest.mark.parametrize(
    ("now", "is_near"), [(MONDAY, False), (datetime.now(UTC), True), (datetime(2025, 5, 5, tzinfo=UTC), False)],
    ids=["played ahead", "now", "played behind"],
)  # fmt: skip
def test_counts_are_exact_at_both_edges(scenario: Scenario, now: datetime, is_near: bool) -> None:
    schedule = scenario.make_schedule()
    inside = [now, now - INSTANT, now - DAY + INSTANT, now - timedelta(hours=3)]
    outside = [now - DAY, now - DAY - INSTANT, now + INSTANT]
    for when in (*inside, *outside):
        add(scenario, when)
    for when, status in zip(inside, ENDS, strict=False):
        add(scenario, when, status)
    stats = {"succeeded": 1, "failed": 2, "total": 8}
    assert context(scenario, schedule, now)["last_24h_stats"] == stats
    scenario.db.execute("select lenses.fn_recount()")
    assert context(scenario, schedule, now)["last_24h_stats"] == stats


def test_counts_follow_whatever_happens_to_runs(scenario: Scenario) -> None:
    """Ends, fresh starts, edits by hand, deletes, folds in between, at any instant of two days."""
    rng = random.Random(7)
    schedule = scenario.make_schedule()
    start = datetime.now(UTC) - DAY
    runs = [add(scenario, start + timedelta(seconds=rng.uniform(0, 86400))) for _ in range(60)]
    same = start + timedelta(hours=5)
    runs += [add(scenario, same) for _ in range(20)]
    for round_ in range(4):
        for run in rng.sample(runs, 40):
            scenario.end(run, rng.choice(ENDS[:3]))
        gone = rng.sample(runs, 5)
        runs = [run for run in runs if run not in gone]
        scenario.db.execute("delete from lenses.workflow_runs where id = any (%s)", [gone])
        with scenario.db.transaction():
            # as the function for a fresh start does
            scenario.db.execute("set local role lf_sql_engine")
            scenario.db.execute(
                "update lenses.workflow_runs set status = 'pending', "
                "last_event_seq = last_event_seq + 1 where id = any (%s) "
                "and status in ('failed', 'timed_out')",
                [rng.sample(runs, 10)],
            )
            scenario.db.execute(
                "insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type) "
                "select r.lenser_id, r.id, r.last_event_seq, 'run.retried' "
                "from lenses.workflow_runs as r where not exists (select "
                "from lenses.workflow_run_events as e "
                "where e.run_id = r.id and e.seq = r.last_event_seq)"
            )
        if round_ % 2:
            scenario.db.execute(
                "select lenses.fn_fold_run_counts(%s, %s, 1)",
                [scenario.tenant.id, scenario.workflow],
            )
        for now in [datetime.now(UTC), same, same + DAY, same + DAY - INSTANT, MONDAY]:
            found = context(scenario, schedule, now)["last_24h_stats"]
            assert found == expected(scenario, now), f"round {round_}, at {now}"
    assert scenario.violations() == []


def test_a_fold_keeps_the_sums_and_makes_the_rows_few(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    now = datetime.now(UTC)
    when = [now - timedelta(hours=2, milliseconds=n % 500) for n in range(3000)]
    for part in (when[:1500], when[1500:]):
        for instant in part:
            scenario.db.execute(
                "insert into lenses.workflow_runs (workflow_id, created_at, status, policies) "
                "values (%s, %s, 'completed', %s)",
                [scenario.workflow, instant, Jsonb({"approval_policy": NO_APPROVAL})],
            )
    assert context(scenario, schedule, now)["last_24h_stats"]["succeeded"] == 3000
    many = [now - timedelta(hours=3, milliseconds=n) for n in range(3000)]
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, created_at, policies) "
        "select %s, t.instant, %s from unnest(%s) as t (instant)",
        [scenario.workflow, Jsonb({"approval_policy": NO_APPROVAL}), many],
    )
    assert context(scenario, schedule, now)["last_24h_stats"]["total"] == 6000
    piled = scenario.db.value("select count(*) from lenses.run_counts where grain = 0")
    assert piled <= 1000 + 128, "writers fold"
    for _ in range(2):
        scenario.db.execute(
            "select lenses.fn_fold_run_counts(%s, %s, 1)", [scenario.tenant.id, scenario.workflow]
        )
    rows = scenario.db.rows(
        "select grain, count(*) as n, count(distinct instant) as places, sum(total)::int as runs "
        "from lenses.run_counts group by grain order by grain"
    )
    assert [(row.grain, row.runs) for row in rows] == [(grain, 6000) for grain in (1, 2, 3, 4)]
    assert all(row.n == row.places for row in rows)
    assert context(scenario, schedule, now)["last_24h_stats"] == expected(scenario, now)


def test_runs_of_one_workflow_wait_for_each_other_nowhere(
    scenario: Scenario, committed: None
) -> None:
    """Nor does a fold wait for those who are at it."""
    runs = [add(scenario, datetime.now(UTC)) for _ in range(2)]
    for run in runs:
        scenario.db.execute(
            "update lenses.workflow_runs set status = 'running', worker_id = 'w', "
            "lease_expires_at = now() + interval '1 hour' where id = %s",
            [run],
        )
    complete = "select lenses.fn_complete_workflow_run(%s, 'w', '{}')"
    fold = "select lenses.fn_fold_run_counts(%s, %s, 1)"
    with scenario.db.another() as other:
        other.execute("set lock_timeout = '5s'")
        with scenario.db.transaction():
            scenario.db.execute(complete, [runs[0]])
            scenario.db.execute(fold, [scenario.tenant.id, scenario.workflow])
            assert other.value(complete, [runs[1]])
            other.execute(fold, [scenario.tenant.id, scenario.workflow])
    assert expected(scenario, datetime.now(UTC))["succeeded"] == 2


def test_a_completion_under_repeatable_read_is_no_conflict_of_counts(
    scenario: Scenario, committed: None
) -> None:
    first, second = (add(scenario, datetime.now(UTC)) for _ in range(2))
    scenario.end(first)
    with scenario.db.another() as other:
        other.execute("begin isolation level repeatable read")
        other.execute("select from lenses.workflow_runs")
        scenario.db.execute(
            "select lenses.fn_fold_run_counts(%s, %s, 1)", [scenario.tenant.id, scenario.workflow]
        )
        other.execute(
            "select lenses.fn_fold_run_counts(%s, %s, 1)", [scenario.tenant.id, scenario.workflow]
        )
        other.execute(
            "update lenses.workflow_runs set status = 'cancelled' where id = %s", [second]
        )
        other.execute("commit")


def test_what_silent_triggers_left_wrong_is_found_and_mended(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    runs = [add(scenario, datetime.now(UTC), "completed") for _ in range(3)]
    with scenario.db.transaction():
        scenario.db.execute("set local session_replication_role = replica")
        scenario.db.execute("delete from lenses.workflow_runs where id = %s", [runs[0]])
    assert {row.invariant for row in scenario.violations()} == {"run_counts"}
    scenario.db.execute("select lenses.fn_recount()")
    assert scenario.violations() == []
    now = datetime.now(UTC)
    assert context(scenario, schedule, now)["last_24h_stats"]["total"] == 2


def test_a_recount_beside_runs_that_come_loses_none(scenario: Scenario, committed: None) -> None:
    """What commits after the recount has looked adds itself."""
    schedule = scenario.make_schedule()
    add(scenario, datetime.now(UTC))
    with scenario.db.another() as other:
        other.execute("begin")
        other.execute(
            "insert into lenses.workflow_runs (workflow_id, policies) values (%s, %s)",
            [scenario.workflow, Jsonb({"approval_policy": NO_APPROVAL})],
        )
        scenario.db.execute("select lenses.fn_recount()")
        other.execute("commit")
    now = datetime.now(UTC)
    assert context(scenario, schedule, now)["last_24h_stats"]["total"] == 2


def test_counts_of_what_is_older_than_two_days_go(scenario: Scenario, committed: None) -> None:
    add(scenario, datetime.now(UTC) - timedelta(hours=47))
    scenario.db.execute(
        "insert into lenses.run_counts (lenser_id, workflow_id, instant, total) "
        "values (%s, %s, now() - interval '49 hours', 1)",
        [scenario.tenant.id, scenario.workflow],
    )
    scenario.db.execute("call lenses.sp_purge_history()")
    assert scenario.db.value("select count(*) from lenses.run_counts") == 1


@pytest.fixture
def crowd(scenario: Scenario) -> Scenario:
    """60,000 runs of the workflow within the last day, most of them at one instant."""
    with scenario.db.transaction():
        scenario.db.execute("set local role lf_sql_engine")
        scenario.db.execute(
            "insert into lenses.workflow_runs (lenser_id, workflow_id, workflow_version, "
            "idempotency_key, created_at, status, completed_at) "
            "select %s, %s, 1, 'crowd ' || n, now() - interval '1 hour' - case when n %% 6 = 0 "
            "then n * interval '50 ms' else '0' end, 'completed', now() "
            "from generate_series(1, 60000) as n",
            [scenario.tenant.id, scenario.workflow],
        )
    scenario.db.execute("vacuum analyze lenses.workflow_runs")
    for _ in range(12):
        scenario.db.execute(
            "select lenses.fn_fold_run_counts(%s, %s, 1)", [scenario.tenant.id, scenario.workflow]
        )
    scenario.db.execute("vacuum analyze lenses.run_counts")
    return scenario


def touched(db: Database, relation: str) -> int:
    """Rows of a table that this session has read, by index or not."""
    db.execute("select pg_stat_force_next_flush()")
    return db.value(
        "select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) from pg_stat_user_tables "
        "where relid = %s::regclass",
        [relation],
    )


def test_a_context_reads_a_bounded_number_of_rows(crowd: Scenario, committed: None) -> None:
    """Not one of the 60,000 runs but the newest, and at most some hundreds of counts."""
    db, schedule = crowd.db, crowd.make_schedule()
    now = datetime.now(UTC)
    assert context(crowd, schedule, now)["last_24h_stats"]["total"] == 60000
    for when in (now, db.value("select max(created_at) from lenses.workflow_runs")):
        before = {t: touched(db, t) for t in ("lenses.workflow_runs", "lenses.run_counts")}
        context(crowd, schedule, when)
        after = {t: touched(db, t) for t in before}
        assert after["lenses.workflow_runs"] - before["lenses.workflow_runs"] <= 2
        assert after["lenses.run_counts"] - before["lenses.run_counts"] <= 3000


def test_the_context_is_built_once_a_workflow_and_the_signal_once_a_schedule(
    scenario: Scenario,
    committed: None,
) -> None:
    scenario.db.execute(
        "create sequence public.signals; grant all on sequence public.signals to public"
    )
    scenario.db.execute(
        "create or replace function lenses.fn_condition_signal(p_schedule_id uuid) returns jsonb "
        "language sql volatile as $$ select to_jsonb(nextval('public.signals')) $$"
    )
    condition = {"/last_24h_stats/total": {"lt": 1e9}}
    for _ in range(7):
        scenario.make_schedule("0 9 * * *", pre_dispatch_condition=condition)
    add(scenario, MONDAY - timedelta(hours=1), "completed")
    scenario.db.execute("set track_functions = 'all'")

    def calls(name: str) -> int:
        scenario.db.execute("select pg_stat_force_next_flush()")
        return scenario.db.value(
            "select coalesce(sum(calls), 0) from pg_stat_user_functions where funcname = %s", [name]
        )

    before = calls("fn_condition_context")
    assert scenario.tick(MONDAY) == 7
    assert wait_until(lambda: calls("fn_condition_context") - before) == 1
    assert scenario.db.value("select last_value from public.signals") == 7


@pytest.mark.parametrize(
    ("result", "seen"),
    [
        ({"ok": 1}, {"ok": 1, "status": "completed"}),
        ({"status": "good"}, {"status": "good"}),
        ({"status": None}, {"status": None}),
        ({}, {"status": "completed"}),
        (None, {"status": "completed", "value": None}),
        ([1, 2], {"status": "completed", "value": [1, 2]}),
        ("done", {"status": "completed", "value": "done"}),
        (7, {"status": "completed", "value": 7}),
        (False, {"status": "completed", "value": False}),
    ],
    ids=str,
)
def test_a_completed_result_has_a_status(scenario: Scenario, result: Any, seen: Any) -> None:
    schedule = scenario.make_schedule("0 9 * * *", pre_dispatch_condition=SEED)
    run = add(scenario, datetime.now(UTC))
    scenario.db.execute(
        "update lenses.workflow_runs set status = 'running', worker_id = 'w', "
        "lease_expires_at = now() + interval '1 hour' where id = %s",
        [run],
    )
    scenario.db.execute("select lenses.fn_complete_workflow_run(%s, 'w', %s)", [run, Jsonb(result)])
    assert context(scenario, schedule, datetime.now(UTC))["prior_run_result"] == seen
    assert scenario.tick(MONDAY) == (seen["status"] == "completed")


@pytest.mark.parametrize("status", ["failed", "timed_out", "cancelled"])
def test_other_ends_have_status_cause_and_error(scenario: Scenario, status: str) -> None:
    schedule = scenario.make_schedule("0 9 * * *", pre_dispatch_condition=SEED)
    run = add(scenario, datetime.now(UTC))
    if status == "cancelled":
        scenario.db.execute(
            "update lenses.workflow_runs set status = %s where id = %s", [status, run]
        )
    else:
        scenario.end(run, status)
    prior = context(scenario, schedule, datetime.now(UTC))["prior_run_result"]
    assert set(prior) == {"status", "cause", "error"}
    assert prior["status"] == status
    assert scenario.tick(MONDAY) == 0
    assert scenario.skips(schedule) == [("condition_failed", MONDAY)]


def test_the_example_of_the_contract_dispatches_after_a_run_that_succeeded(
    scenario: Scenario,
) -> None:
    schedule = scenario.make_schedule("*/5 * * * *", pre_dispatch_condition=SEED)
    assert scenario.tick(at(0)) == 0, "there is no run before"
    first = add(scenario, at(1))
    scenario.end(first)
    assert scenario.tick(at(5)) == 1
    newest = scenario.runs(schedule)[-1].id
    scenario.end(newest, "failed", at(6))
    assert scenario.tick(at(10)) == 0, "the prior run failed"


def test_timed_out_counts_as_failed(scenario: Scenario) -> None:
    schedule = scenario.make_schedule()
    scenario.end(add(scenario, datetime.now(UTC)), "timed_out")
    now = datetime.now(UTC)
    assert context(scenario, schedule, now)["last_24h_stats"] == {
        "succeeded": 0, "failed": 1, "total": 1,
    }  # fmt: skip


def test_no_run_is_no_result(scenario: Scenario) -> None:
    found = context(scenario, scenario.make_schedule(), MONDAY)
    assert found["prior_run_result"] is None
    assert found["last_24h_stats"] == {"succeeded": 0, "failed": 0, "total": 0}


def test_an_install_counts_what_was_there_before(scenario: Scenario) -> None:
    """Once: what is counted already is left alone."""
    scenario.make_schedule(inputs_template={"a": 1})
    for hours in (1, 30, 47):
        add(scenario, datetime.now(UTC) - timedelta(hours=hours), "completed")
    scenario.db.execute("delete from lenses.run_counts")
    scenario.db.execute("delete from lenses.lenser_usage")
    assert {row.invariant for row in scenario.violations()} == {"run_counts", "lenser_usage"}
    scenario.db.execute("select lenses.fn_recount(true)")
    assert scenario.violations() == []
    before = scenario.db.rows("select id from lenses.run_counts order by id")
    scenario.db.execute("select lenses.fn_recount(true)")
    assert scenario.db.rows("select id from lenses.run_counts order by id") == before
