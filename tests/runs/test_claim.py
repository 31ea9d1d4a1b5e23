"""Who gets which run, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.database import PATIENCE
from tests.support.run_scenario import RunScenario
from tests.support.scenario import MONDAY, NO_APPROVAL


def test_by_priority_then_age_then_slot(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    old = scenario.run(created_at=MONDAY - timedelta(days=500))
    young = scenario.run(created_at=MONDAY - timedelta(days=400))
    second = scenario.run(
        schedule, created_at=MONDAY - timedelta(days=450), scheduled_for="2026-01-02Z"
    )
    first = scenario.run(
        schedule, created_at=MONDAY - timedelta(days=450), scheduled_for="2026-01-01Z"
    )
    urgent = scenario.run(priority=7)
    by_policy = scenario.run(policies=scenario.policies(queue={"priority": 8}))
    assert scenario.claimed(limit=10) == [by_policy, urgent, old, first, second, young]


def test_takes_no_more_than_asked(scenario: RunScenario) -> None:
    runs = [scenario.run() for _ in range(3)]
    assert [len(scenario.claimed(limit=2)), len(scenario.claimed(limit=2))] == [2, 1]
    assert {scenario.row(run).status for run in runs} == {"running"}
    assert scenario.claimed(limit=2) == []


def test_gives_the_run_and_the_definition_of_its_version(scenario: RunScenario) -> None:
    definition = {"nodes": [{"id": "a"}], "edges": []}
    workflow = scenario.make_workflow(definition=definition)
    run = scenario.run(workflow_id=workflow, context_inputs={"audience": "all"})
    scenario.db.execute(
        'update lenses.workflows set definition = \'{"nodes": [], "edges": []}\' where id = %s',
        [workflow],
    )
    (claimed,) = scenario.claim("me", lease=timedelta(minutes=7))
    assert claimed.id == run
    assert claimed.definition == definition
    assert claimed.workflow_version == 1
    assert claimed.context_inputs == {"audience": "all"}
    assert (claimed.status, claimed.worker_id, claimed.attempt) == ("running", "me", 1)
    assert claimed.lease_expires_at - claimed.started_at == timedelta(minutes=7)
    assert claimed._fields[-1] == "definition"
    assert scenario.row(run) == claimed[:-1]


def test_the_columns_are_those_of_the_table(scenario: RunScenario) -> None:
    """A column that a migration adds must be added to the claim as well."""
    table = scenario.db.column(
        "select attname::text from pg_attribute where attrelid = 'lenses.workflow_runs'::regclass "
        "and attnum > 0 and not attisdropped order by attnum"
    )
    for schema in ("lenses", "public"):
        query = f"select * from {schema}.fn_claim_workflow_runs('w', 0)"
        found = [column.name for column in scenario.db.execute(query).description or []]
        assert found == [*table, "definition"]


def test_waits_for_available_at(scenario: RunScenario) -> None:
    run = scenario.run(available_at=MONDAY)
    past = scenario.run(available_at="2026-01-01Z")
    assert scenario.claimed(limit=5) == [past]
    scenario.make_available(run)
    assert scenario.claimed(limit=5) == [run]


def test_a_run_that_waits_for_approval_is_nobodys(scenario: RunScenario) -> None:
    run = scenario.run(policies={})
    assert scenario.row(run).status == "pending_approval"
    assert scenario.claimed() == []
    scenario.decide(run)
    assert scenario.claimed() == [run]


def test_passes_over_what_another_transaction_holds(committed: None, scenario: RunScenario) -> None:
    held, free = scenario.run(priority=1), scenario.run()
    with scenario.db.another() as other, other.transaction():
        assert [run.id for run in scenario.claim("other", db=other)] == [held]
        assert scenario.claimed() == [free]
        assert scenario.claimed() == []


@pytest.mark.parametrize(
    ("queue", "limit"),
    [({"mode": "serial"}, 1), ({"mode": "parallel", "maxConcurrency": 3}, 3)],
)
def test_no_claim_goes_beyond_the_schedules_limit(
    scenario: RunScenario, queue: dict[str, object], limit: int
) -> None:
    schedule = scenario.make_schedule(queue_policy=queue)
    runs = [scenario.run(schedule, scheduled_for=f"2026-01-0{day}Z") for day in range(1, 7)]
    other = scenario.run(created_at=MONDAY)
    assert scenario.claimed(limit=10) == [*runs[:limit], other]
    assert scenario.claimed(limit=10) == []
    scenario.complete(runs[0])
    assert scenario.claimed(limit=10) == [runs[limit]]


def test_a_limit_counts_running_runs_whatever_started_them(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    by_hand = scenario.run(schedule, trigger_mode="manual", priority=1)
    slot = scenario.run(schedule, scheduled_for="2026-01-01Z")
    assert scenario.claimed(limit=5) == [by_hand]
    scenario.complete(by_hand)
    assert scenario.claimed(limit=5) == [slot]


def test_the_limit_is_the_schedules_present_one(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    runs = [scenario.run(schedule) for _ in range(3)]
    assert len(scenario.claimed(limit=5)) == 1
    scenario.set(schedule, queue_policy={"mode": "parallel", "maxConcurrency": 2})
    assert len(scenario.claimed(limit=5)) == 1
    scenario.set(schedule, queue_policy={"mode": "parallel"})
    assert len(scenario.claimed(limit=5)) == 1
    assert {scenario.row(run).status for run in runs} == {"running"}


def test_many_full_schedules_hide_nothing_behind_them(scenario: RunScenario) -> None:
    for _ in range(40):
        schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
        scenario.run(schedule, created_at="2026-01-01Z")
        scenario.run(schedule, created_at="2026-01-02Z")
    last = scenario.run(created_at="2026-01-03Z")
    assert len(scenario.claimed(limit=40)) == 40
    assert scenario.claimed(limit=5) == [last]


def test_an_expired_lease_does_not_count_and_the_run_comes_back(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    dead = scenario.run(schedule)
    waiting = scenario.run(schedule)
    assert scenario.claimed("dead") == [dead]
    assert scenario.claimed("alive") == []
    scenario.let_lease_expire(dead)
    assert scenario.claimed("alive", limit=5) == [dead]
    assert scenario.row(dead).attempt == 2
    scenario.complete(dead, "alive")
    assert scenario.claimed("alive", limit=5) == [waiting]


@pytest.mark.parametrize(
    ("worker", "limit", "lease", "named"),
    [
        ("", 1, "5 minutes", "p_worker_id"),
        (None, 1, "5 minutes", "p_worker_id"),
        ("w" * 201, 1, "5 minutes", "p_worker_id"),
        ("w", -1, "5 minutes", "p_limit"),
        ("w", 1, "0", "p_lease"),
        ("w", 1, "-1 minute", "p_lease"),
        ("w", 1, "25 hours", "p_lease"),
        ("w", 1, "120 months -3599 days", "p_lease"),
        ("w", 1, "-12 months 360 days 1 second", "p_lease"),
        ("w", 1, "178000000 years", "p_lease"),
    ],
)
def test_refuses_nonsense(
    scenario: RunScenario, worker: str | None, limit: int, lease: str, named: str
) -> None:
    run = scenario.run()
    with scenario.refused("22023", named):
        scenario.db.execute(
            "select lenses.fn_claim_workflow_runs(%s, %s, %s::interval)", [worker, limit, lease]
        )
    assert scenario.row(run).status == "pending"


def test_a_page_is_five_hundred_at_most(scenario: RunScenario) -> None:
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, policies) "
        'select %s, \'{"approval_policy": {"requiresApproval": false}}\' '
        "from generate_series(1, 501)",
        [scenario.workflow],
    )
    assert len(scenario.claim(limit=2147483647)) == 500


def test_one_notice_an_insert_and_none_of_a_tenant(committed: None, scenario: RunScenario) -> None:
    listener = scenario.db.another()
    listener.execute("listen lf_workflow_runs")
    for _ in range(3):
        scenario.make_schedule(approval_policy=NO_APPROVAL)
    assert scenario.tick(MONDAY) == 3
    notices = list(listener.notifies(timeout=PATIENCE, stop_after=1))
    notices += listener.notifies(timeout=0.2)
    assert [(n.channel, n.payload) for n in notices] == [("lf_workflow_runs", "")]
    listener.close()
