"""Who gets which run, and when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.dispatch.conftest import MONDAY, NO_APPROVAL
from tests.runs.world import World


def test_by_priority_then_age_then_slot(world: World) -> None:
    schedule = world.make_schedule()
    old = world.run(created_at=MONDAY - timedelta(days=500))
    young = world.run(created_at=MONDAY - timedelta(days=400))
    second = world.run(
        schedule, created_at=MONDAY - timedelta(days=450), scheduled_for="2026-01-02Z"
    )
    first = world.run(
        schedule, created_at=MONDAY - timedelta(days=450), scheduled_for="2026-01-01Z"
    )
    urgent = world.run(priority=7)
    by_policy = world.run(policies=world.policies(queue={"priority": 8}))
    assert world.claimed(limit=10) == [by_policy, urgent, old, first, second, young]


def test_takes_no_more_than_asked(world: World) -> None:
    runs = [world.run() for _ in range(3)]
    assert [len(world.claimed(limit=2)), len(world.claimed(limit=2))] == [2, 1]
    assert {world.row(run).status for run in runs} == {"running"}
    assert world.claimed(limit=2) == []


def test_gives_the_run_and_the_definition_of_its_version(world: World) -> None:
    definition = {"nodes": [{"id": "a"}], "edges": []}
    workflow = world.make_workflow(definition=definition)
    run = world.run(workflow_id=workflow, context_inputs={"audience": "all"})
    world.db.execute(
        'update lenses.workflows set definition = \'{"nodes": [], "edges": []}\' where id = %s',
        [workflow],
    )
    (claimed,) = world.claim("me", lease=timedelta(minutes=7))
    assert claimed.id == run
    assert claimed.definition == definition
    assert claimed.workflow_version == 1
    assert claimed.context_inputs == {"audience": "all"}
    assert (claimed.status, claimed.worker_id, claimed.attempt) == ("running", "me", 1)
    assert claimed.lease_expires_at - claimed.started_at == timedelta(minutes=7)
    assert claimed._fields[-1] == "definition"
    assert world.row(run) == claimed[:-1]


def test_the_columns_are_those_of_the_table(world: World) -> None:
    """A column that a migration adds must be added to the claim as well."""
    table = world.db.column(
        "select attname::text from pg_attribute where attrelid = 'lenses.workflow_runs'::regclass "
        "and attnum > 0 and not attisdropped order by attnum"
    )
    for schema in ("lenses", "public"):
        query = f"select * from {schema}.fn_claim_workflow_runs('w', 0)"
        found = [column.name for column in world.db.execute(query).description or []]
        assert found == [*table, "definition"]


def test_waits_for_available_at(world: World) -> None:
    run = world.run(available_at=MONDAY)
    past = world.run(available_at="2026-01-01Z")
    assert world.claimed(limit=5) == [past]
    world.make_available(run)
    assert world.claimed(limit=5) == [run]


def test_a_run_that_waits_for_approval_is_nobodys(world: World) -> None:
    run = world.run(policies={})
    assert world.row(run).status == "pending_approval"
    assert world.claimed() == []
    world.decide(run)
    assert world.claimed() == [run]


def test_passes_over_what_another_transaction_holds(committed: None, world: World) -> None:
    held, free = world.run(priority=1), world.run()
    with world.db.another() as other, other.transaction():
        assert [run.id for run in world.claim("other", db=other)] == [held]
        assert world.claimed() == [free]
        assert world.claimed() == []


@pytest.mark.parametrize(
    ("queue", "limit"),
    [({"mode": "serial"}, 1), ({"mode": "parallel", "maxConcurrency": 3}, 3)],
)
def test_no_claim_goes_beyond_the_schedules_limit(
    world: World, queue: dict[str, object], limit: int
) -> None:
    schedule = world.make_schedule(queue_policy=queue)
    runs = [world.run(schedule, scheduled_for=f"2026-01-0{day}Z") for day in range(1, 7)]
    other = world.run(created_at=MONDAY)
    assert world.claimed(limit=10) == [*runs[:limit], other]
    assert world.claimed(limit=10) == []
    world.complete(runs[0])
    assert world.claimed(limit=10) == [runs[limit]]


def test_a_limit_counts_running_runs_whatever_started_them(world: World) -> None:
    schedule = world.make_schedule(queue_policy={"mode": "serial"})
    by_hand = world.run(schedule, trigger_mode="manual", priority=1)
    slot = world.run(schedule, scheduled_for="2026-01-01Z")
    assert world.claimed(limit=5) == [by_hand]
    world.complete(by_hand)
    assert world.claimed(limit=5) == [slot]


def test_the_limit_is_the_schedules_present_one(world: World) -> None:
    schedule = world.make_schedule(queue_policy={"mode": "serial"})
    runs = [world.run(schedule) for _ in range(3)]
    assert len(world.claimed(limit=5)) == 1
    world.set(schedule, queue_policy={"mode": "parallel", "maxConcurrency": 2})
    assert len(world.claimed(limit=5)) == 1
    world.set(schedule, queue_policy={"mode": "parallel"})
    assert len(world.claimed(limit=5)) == 1
    assert {world.row(run).status for run in runs} == {"running"}


def test_many_full_schedules_hide_nothing_behind_them(world: World) -> None:
    for _ in range(40):
        schedule = world.make_schedule(queue_policy={"mode": "serial"})
        world.run(schedule, created_at="2026-01-01Z")
        world.run(schedule, created_at="2026-01-02Z")
    last = world.run(created_at="2026-01-03Z")
    assert len(world.claimed(limit=40)) == 40
    assert world.claimed(limit=5) == [last]


def test_an_expired_lease_does_not_count_and_the_run_comes_back(world: World) -> None:
    schedule = world.make_schedule(queue_policy={"mode": "serial"})
    dead = world.run(schedule)
    waiting = world.run(schedule)
    assert world.claimed("dead") == [dead]
    assert world.claimed("alive") == []
    world.let_lease_expire(dead)
    assert world.claimed("alive", limit=5) == [dead]
    assert world.row(dead).attempt == 2
    world.complete(dead, "alive")
    assert world.claimed("alive", limit=5) == [waiting]


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
        ("w", 1, "-1 month 30 days 1 second", "p_lease"),
        ("w", 1, "178000000 years", "p_lease"),
    ],
)
def test_refuses_nonsense(
    world: World, worker: str | None, limit: int, lease: str, named: str
) -> None:
    run = world.run()
    with world.refused("22023", named):
        world.db.execute(
            "select lenses.fn_claim_workflow_runs(%s, %s, %s::interval)", [worker, limit, lease]
        )
    assert world.row(run).status == "pending"


def test_a_page_is_five_hundred_at_most(world: World) -> None:
    world.db.execute(
        "insert into lenses.workflow_runs (workflow_id, policies) "
        'select %s, \'{"approval_policy": {"requiresApproval": false}}\' '
        "from generate_series(1, 501)",
        [world.workflow],
    )
    assert len(world.claim(limit=2147483647)) == 500


def test_one_notice_an_insert_and_none_of_a_tenant(committed: None, world: World) -> None:
    listener = world.db.another()
    listener.execute("listen lf_workflow_runs")
    for _ in range(3):
        world.make_schedule(approval_policy=NO_APPROVAL)
    assert world.tick(MONDAY) == 3
    notices = list(listener.notifies(timeout=0.5))
    assert [(n.channel, n.payload) for n in notices] == [("lf_workflow_runs", "")]
    listener.close()
