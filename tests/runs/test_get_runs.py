"""The owner's list of runs, and one run with its story."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.support.callers import Caller
from tests.support.database import as_user, make_tenant
from tests.support.run_scenario import FREE, RunScenario

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def owner(scenario: RunScenario) -> Caller:
    return Caller(scenario.db, scenario.tenant)


def ids(owner: Caller, filter: dict[str, Any] | None = None, **more: Any) -> list[UUID]:
    return [row.id for row in owner.rows("fn_get_runs", filter=filter or {}, **more)]


def test_newest_first_and_only_ones_own(scenario: RunScenario, owner: Caller) -> None:
    runs = [scenario.run(created_at=START + n * HOUR) for n in range(4)]
    stranger = make_tenant(scenario.db)
    scenario._insert(
        "lenses.workflow_runs",
        {"workflow_id": scenario.make_workflow(stranger), "policies": FREE},
    )
    assert ids(owner) == runs[::-1]
    assert ids(owner, limit=2) == [runs[3], runs[2]]
    assert ids(owner, before=START + 2 * HOUR) == [runs[1], runs[0]]
    assert ids(owner, limit=0) == []
    assert len(ids(Caller(scenario.db, stranger))) == 1


def test_pages_through_runs_of_one_instant(scenario: RunScenario, owner: Caller) -> None:
    """A tick makes thousands of runs at one instant: `before_run` goes on where a page ended."""
    runs = {scenario.run(created_at=START) for _ in range(7)}
    seen: list[UUID] = []
    while page := ids(owner, {"before_run": str(seen[-1])} if seen else {}, limit=3):
        seen += page
    assert len(seen) == 7
    assert set(seen) == runs


def test_each_filter(scenario: RunScenario, owner: Caller) -> None:
    schedule, other = scenario.make_schedule(name="morning"), scenario.make_schedule()
    second = scenario.make_workflow()
    by_schedule = scenario.run(schedule, trigger_mode="schedule", created_at=START)
    backfilled = scenario.run(other, trigger_mode="backfill", created_at=START + HOUR)
    elsewhere = scenario.run(workflow_id=second, created_at=START + 2 * HOUR)
    scenario.db.execute("update lenses.workflow_runs set priority = 9 where id = %s", [backfilled])
    assert scenario.claimed() == [backfilled]
    scenario.complete(backfilled)
    scenario.cancel(elsewhere)
    for filter, expected in (
        ({"status": "completed"}, [backfilled]),
        ({"status": ["pending", "cancelled"]}, [elsewhere, by_schedule]),
        ({"status": []}, [elsewhere, backfilled, by_schedule]),
        ({"schedule": str(schedule)}, [by_schedule]),
        ({"workflow": str(second)}, [elsewhere]),
        ({"trigger": "manual"}, [elsewhere]),
        ({"trigger": ["backfill", "schedule", "backfill"]}, [backfilled, by_schedule]),
        ({"since": "2026-03-02T10:00:00Z"}, [elsewhere, backfilled]),
        ({"until": "2026-03-02T10:00:00Z"}, [backfilled, by_schedule]),
        ({"since": "2026-03-02T12:00:00+02:00", "until": "2026-03-02 10:30"}, [backfilled]),
        ({"workflow": str(scenario.workflow), "status": "pending", "trigger": "schedule"},
         [by_schedule]),
        ({"status": None}, [elsewhere, backfilled, by_schedule]),
    ):  # fmt: skip
        assert ids(owner, filter) == expected, filter
    row = owner.rows("fn_get_runs", filter={"schedule": str(schedule)})[0]
    assert (row.workflow, row.schedule, row.approval_status) == (
        "report", "morning", "not_required",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        ({"stauts": "failed"}, 'unknown key "stauts"; the nearest is "status"'),
        ({"status": "faild"}, 'bad entry "faild"; the nearest is "failed"'),
        ({"trigger": ["manuel"]}, 'bad entry "manuel"; the nearest is "manual"'),
        ({"schedule": "morning"}, 'p_filter.schedule is no uuid: "morning"'),
        ({"since": "yesterday"}, 'p_filter.since is no instant: "yesterday"'),
        ({"until": 5}, "p_filter.until must be a string"),
        ({"until": "0044-03-15"}, "p_filter.until must be an instant of the years 1970 to 9999"),
        ([1], "p_filter must be a JSON object"),
        ("failed", "p_filter must be a JSON object"),
    ],
)
def test_a_filter_that_makes_no_sense(owner: Caller, filter: Any, said: str) -> None:
    assert said in str(owner.refused("22023", "fn_get_runs", filter=Jsonb(filter)).message_primary)


def test_ids_of_others(scenario: RunScenario, owner: Caller) -> None:
    stranger = make_tenant(scenario.db)
    workflow = scenario.make_workflow(stranger)
    theirs = {
        "schedule": scenario.make_schedule(workflow_id=workflow),
        "workflow": workflow,
        "before_run": scenario._insert(
            "lenses.workflow_runs", {"workflow_id": workflow, "policies": FREE}
        ),
    }
    for key, value in theirs.items():
        told = [
            owner.refused("42501", "fn_get_runs", filter={key: str(one)}).message_primary
            for one in (value, uuid4())
        ]
        assert told[0] == told[1]
    told = [
        owner.refused("42501", "fn_get_run", run_id=one).message_primary
        for one in (theirs["before_run"], uuid4())
    ]
    assert told[0] == told[1]
    assert "-1" in str(owner.refused("22023", "fn_get_runs", limit=-1).message_primary)


def test_one_run_tells_its_story(scenario: RunScenario, owner: Caller) -> None:
    agent = scenario.make_agent()
    scenario.db.execute("update agents.ai_lensers set name = 'writer' where id = %s", [agent])
    schedule = scenario.make_schedule(name="morning")
    run = scenario.run(
        schedule,
        ai_lenser_id=agent,
        context_inputs={"day": 1},
        policies=scenario.policies(retry={"maxRetries": 1, "backoffMs": 3_600_000}),
    )
    scenario.claim("first")
    scenario.fail(run, "first", cause="rate_limit", error="slow down")
    told = owner.value("fn_get_run", run_id=run)
    assert (told["status"], told["cause"], told["error"]) == ("pending", "rate_limit", "slow down")
    assert datetime.fromisoformat(told["next_try_at"]) == scenario.row(run).available_at
    assert told["result"] is None
    scenario.make_available(run)
    scenario.claim("second")
    scenario.append(run, "node.done", {"node": "a"}, worker="second")
    assert owner.value("fn_get_run", run_id=run)["attempts"][-1]["outcome"] is None
    scenario.complete(run, "second", result={"pages": 3})
    told = owner.value("fn_get_run", run_id=run)
    assert {key: told[key] for key in (
        "id", "workflow", "workflow_version", "newest_version", "schedule", "assignee", "inputs",
        "result", "next_try_at", "attempt", "event_count", "approval",
    )} == {
        "id": str(run), "workflow": "report", "workflow_version": 1, "newest_version": 1,
        "schedule": "morning", "assignee": "writer", "inputs": {"day": 1},
        "result": {"pages": 3}, "next_try_at": None, "attempt": 2, "event_count": 6,
        "approval": None,
    }  # fmt: skip
    assert [(a["attempt"], a["worker_id"], a["outcome"], a["cause"]) for a in told["attempts"]] == [
        (1, "first", "failed", "rate_limit"),
        (2, "second", "completed", None),
    ]
    assert [event["event"] for event in told["events"]] == [
        name for _, name in scenario.events(run)
    ]


def test_approval_stands_in_it(scenario: RunScenario, owner: Caller) -> None:
    run = scenario.run(
        policies={"approval_policy": {"requiresApproval": True}}, status="pending_approval"
    )
    scenario.decide(run, note="looks right")
    told = owner.value("fn_get_run", run_id=run)
    assert (told["approval"]["approval_status"], told["approval"]["note"]) == (
        "approved", "looks right",
    )  # fmt: skip


FILTERS = [
    {}, {"status": "failed"}, {"status": ["failed", "timed_out"]}, {"status": "pending"},
    {"status": "running"}, {"trigger": "manual"}, {"trigger": ["backfill", "manual"]}, {"schedule": "rare"},
    {"workflow": "rare"}, {"status": "completed", "schedule": "rare"},
]  # fmt: skip
MANY = 5_000


@pytest.fixture
def crowd(scenario: RunScenario) -> UUID:
    """Many completed runs and, older than all of them, a few of rare kinds, whose schedule it gives."""
    db = scenario.db
    schedule, rare = scenario.make_schedule(), scenario.make_schedule()
    policies = json.dumps(FREE)
    with as_user(db, None, "lf_sql_engine") as conn:
        conn.execute(
            "insert into lenses.workflow_runs (lenser_id, workflow_id, workflow_version, schedule_id, "
            "trigger_mode, status, policies, idempotency_key, created_at) "
            "select %s, %s, 1, %s, 'schedule', 'completed', %s, 'x' || n, "
            "now() - n * interval '1 second' from generate_series(1, %s) as n",
            [scenario.tenant.id, scenario.workflow, schedule, policies, MANY],
        )
        conn.execute(
            "insert into lenses.workflow_runs (lenser_id, workflow_id, workflow_version, schedule_id, "
            "trigger_mode, status, policies, idempotency_key, created_at, worker_id, lease_expires_at) "
            "select %s, %s, 1, %s, t, s, %s, 'rare' || t || s, now() - interval '1 month', 'w', "
            "now() + interval '1 hour' "
            "from unnest('{failed,timed_out,running,pending}'::text[]) as s, "
            "unnest('{manual,backfill}'::text[]) as t",
            [scenario.tenant.id, scenario.workflow, rare, policies],
        )
    db.execute("analyze lenses.workflow_runs")
    return rare


def test_a_page_reads_no_more_than_a_page(scenario: RunScenario, crowd: UUID) -> None:
    workflow = scenario.make_workflow()
    scenario.run(workflow_id=workflow, created_at=START)
    for filter in FILTERS:
        wanted = {**filter}
        if "schedule" in wanted:
            wanted["schedule"] = str(crowd)
        if "workflow" in wanted:
            wanted["workflow"] = str(workflow)
        with as_user(scenario.db, scenario.tenant, "authenticated") as conn:
            conn.execute("select pg_stat_get_xact_tuples_returned(0)")
            before = reads(scenario)
            conn.execute("select * from public.fn_get_runs(%s, 20)", [Jsonb(wanted)])
            assert reads(scenario) - before < MANY / 4, filter


def reads(scenario: RunScenario) -> int:
    """Rows of the run table and its indexes that this transaction has read so far."""
    return scenario.db.value(
        "select (seq_tup_read + idx_tup_fetch + "
        "(select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index "
        "where indrelid = relid))::bigint "
        "from pg_stat_xact_user_tables where relid = 'lenses.workflow_runs'::regclass"
    )
