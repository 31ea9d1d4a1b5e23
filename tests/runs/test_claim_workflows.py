"""Claims that name the workflows whose runs they want."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from uuid import UUID

import pytest

from tests.support.run_scenario import RunScenario
from tests.support.scenario import MONDAY


def claimed(
    scenario: RunScenario, workflows: Sequence[UUID | None] | None, limit: int = 10
) -> list[UUID]:
    return scenario.db.column(
        "select id from lenses.fn_claim_workflow_runs('w', %s, '1 minute', %s::uuid[])",
        [limit, workflows],
    )


def read(scenario: RunScenario) -> int:
    """Rows of runs that this transaction has read so far."""
    return scenario.db.value(
        "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables "
        "where relid = 'lenses.workflow_runs'::regclass"
    )


def fill(scenario: RunScenario, workflow: UUID, count: int, **columns: object) -> None:
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, policies, created_at, available_at) "
        'select %s, \'{"approval_policy": {"requiresApproval": false}}\', '
        "timestamptz '2026-01-01Z' + n * interval '1 second', %s from generate_series(1, %s) as n",
        [workflow, columns.get("available_at"), count],
    )


def test_runs_of_these_workflows_alone(scenario: RunScenario) -> None:
    first, second = scenario.make_workflow(), scenario.make_workflow()
    scenario.run(priority=9)
    a, b = scenario.run(workflow_id=first), scenario.run(workflow_id=second, priority=1)
    past = scenario.run(workflow_id=first, available_at="2026-01-01Z", created_at=MONDAY)
    scenario.run(workflow_id=first, available_at=MONDAY)
    assert claimed(scenario, []) == []
    assert claimed(scenario, [None, uuid.uuid4()]) == []
    assert claimed(scenario, [second, second, None]) == [b]
    assert sorted(claimed(scenario, [first])) == sorted([a, past])
    assert len(claimed(scenario, None)) == 1


def test_in_one_order_however_many_workflows_and_whatever_their_queues(
    scenario: RunScenario,
) -> None:
    """That of a claim of all: by priority, then age."""
    chance = random.Random(18)
    workflows = [scenario.make_workflow() for _ in range(5)]
    for _ in range(60):
        scenario.run(
            workflow_id=chance.choices(workflows, [20, 5, 1, 1, 1])[0],
            priority=chance.choice([0, 0, 3]),
            created_at=f"2026-01-{chance.randint(1, 28):02}Z",
            available_at=chance.choice([None, None, None, "2026-01-02Z"]),
        )
    expected = scenario.db.column(
        "select id from lenses.workflow_runs where workflow_id <> %s "
        "order by priority desc, created_at, id",
        [workflows[4]],
    )
    found: list[UUID] = []
    for limit in (1, 2, 7, 30, 60):
        found += claimed(scenario, workflows[:4], limit)
    assert found == expected


def test_no_claim_goes_beyond_a_limit_or_is_held_up_by_one(scenario: RunScenario) -> None:
    workflow = scenario.make_workflow()
    serial = [
        scenario.make_schedule(workflow_id=workflow, queue_policy={"mode": "serial"})
        for _ in range(40)
    ]
    for schedule in serial:
        scenario.run(schedule, workflow_id=workflow, created_at="2026-01-01Z")
        scenario.run(schedule, workflow_id=workflow, created_at="2026-01-02Z")
    last = scenario.run(workflow_id=workflow, created_at="2026-01-03Z")
    assert len(claimed(scenario, [workflow], 40)) == 40
    assert claimed(scenario, [workflow], 5) == [last]


def test_passes_over_whatever_others_hold(committed: None, scenario: RunScenario) -> None:
    """However many: more than a first look at the queue reads."""
    workflow, other = scenario.make_workflow(), scenario.make_workflow()
    fill(scenario, workflow, 60)
    with scenario.db.another() as db, db.transaction():
        held = db.column(
            "select id from lenses.fn_claim_workflow_runs('o', 50, '1 minute', %s)", [[workflow]]
        )
        found = claimed(scenario, [workflow, other], 20)
    assert (len(held), len(found)) == (50, 10)
    assert not {*held} & {*found}


@pytest.mark.parametrize("available_at", [None, "2026-01-01Z", "2099-01-01Z"])
def test_it_reads_no_more_however_many_others_wait(
    scenario: RunScenario, available_at: str | None
) -> None:
    workflow, other = scenario.make_workflow(), scenario.make_workflow()
    seen = []
    for _ in range(2):
        scenario.run(workflow_id=workflow)
        before = read(scenario)
        assert len(claimed(scenario, [workflow], 1)) == 1
        seen.append(read(scenario) - before)
        fill(scenario, other, 300, available_at=available_at)
    assert seen[1] <= seen[0] + 5


def test_of_many_long_queues_it_reads_what_it_takes(scenario: RunScenario) -> None:
    workflows = [scenario.make_workflow() for _ in range(20)]
    for workflow in workflows:
        fill(scenario, workflow, 60)
    before = read(scenario)
    assert len(claimed(scenario, workflows, 40)) == 40
    assert read(scenario) - before < 20 * 40


def test_as_before_by_place(scenario: RunScenario) -> None:
    run = scenario.run()
    (found,) = scenario.db.rows("select * from public.fn_claim_workflow_runs('w', 1, '1 minute')")
    assert found.id == run


def test_no_more_than_a_thousand_workflows(scenario: RunScenario) -> None:
    many = [uuid.uuid4() for _ in range(1001)]
    assert claimed(scenario, many[1:]) == []
    with scenario.refused("22023", "p_workflow_ids has 1001 ids"):
        claimed(scenario, many)


def test_full_schedules_with_long_queues_hide_no_run_that_is_free(scenario: RunScenario) -> None:
    workflow = scenario.make_workflow()
    for priority in (9, 8, 7):
        schedule = scenario.make_schedule(workflow_id=workflow, queue_policy={"mode": "serial"})
        scenario.db.execute(
            "insert into lenses.workflow_runs (workflow_id, schedule_id, policies, created_at, priority) "
            'select %s, %s, \'{"approval_policy": {"requiresApproval": false}}\', '
            "timestamptz '2026-01-01Z' + n * interval '1 second', %s from generate_series(1, 1100) as n",
            [workflow, schedule, priority],
        )
    free = [scenario.run(workflow_id=workflow) for _ in range(7)]
    got = claimed(scenario, [workflow])
    assert len(got) == 10
    assert set(free) < set(got)


def test_first_runs_that_others_hold_hide_no_run_that_is_free(
    committed: None, scenario: RunScenario
) -> None:
    workflow = scenario.make_workflow()
    held = [
        scenario.run(
            scenario.make_schedule(workflow_id=workflow, queue_policy={"mode": "serial"}),
            workflow_id=workflow,
            priority=9,
        )
        for _ in range(30)
    ]
    last = scenario.run(workflow_id=workflow)
    with scenario.db.another() as other, other.transaction():
        query = "select id from lenses.workflow_runs where id = any (%s) for update"
        assert len(other.rows(query, [held])) == 30
        assert claimed(scenario, [workflow], 1) == [last]
