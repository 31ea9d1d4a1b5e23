"""Claims and completions of many at once by six workers at random: limits hold, and each run ends once."""

from __future__ import annotations

import json
import random
import threading
from typing import Any

import pytest

from tests.support.scenario import Scenario

WORKERS, RUNS = 6, 40


@pytest.fixture
def scenario(db: Any) -> Scenario:
    return Scenario(db)


def test_limits_hold_and_each_run_ends_once(scenario: Scenario, committed: None) -> None:
    limits = {"serial": 1, "two": 2, "free": None}
    policies = {
        "serial": {"mode": "serial"},
        "two": {"mode": "parallel", "maxConcurrency": 2},
        "free": {"mode": "parallel"},
    }
    schedules = {
        name: scenario.make_schedule("0 9 * * *", queue_policy=policy)
        for name, policy in policies.items()
    }
    for schedule in schedules.values():
        scenario.db.execute(
            "insert into lenses.workflow_runs (workflow_id, schedule_id, workflow_version, priority) "
            "select %s, %s, 1, n %% 3 from generate_series(1, %s) as n",
            [scenario.workflow, schedule, RUNS],
        )
    running = (
        "select count(*) from lenses.workflow_runs where schedule_id = %s and status = 'running'"
    )
    ended: list[Any] = []
    broken: list[str] = []
    stop = threading.Event()

    def work(number: int) -> None:
        dice = random.Random(number)
        with scenario.db.another() as conn:
            while not stop.is_set():
                worker = f"w{number}"
                ids = conn.column(
                    "select id from lenses.fn_claim_workflow_runs(%s, %s)",
                    [worker, dice.choice((1, 2, 7, 20))],
                )
                for name, limit in limits.items():
                    if limit and conn.value(running, [schedules[name]]) > limit:
                        broken.append(name)
                dice.shuffle(ids)
                results: list[dict[str, Any]] = [{"run_id": str(i), "result": 1} for i in ids]
                if dice.random() < 0.3:  # one that is refused stops no other
                    results.append({"run_id": "nobody's", "result": 1})
                ended.extend(
                    conn.column(
                        "select lenses.fn_complete_workflow_runs(%s, %s) as id",
                        [worker, json.dumps(results)],
                    )
                )
                if len(ended) >= 3 * RUNS or broken:
                    stop.set()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    stop.set()
    assert broken == []
    assert len(ended) == len(set(ended)) == 3 * RUNS
    rows = scenario.db.rows(
        "select run_id, array_agg(event_type order by seq) as events, array_agg(seq order by seq) "
        "as seqs from lenses.workflow_run_events group by run_id"
    )
    assert {tuple(row.events) for row in rows} == {("run.created", "run.started", "run.completed")}
    assert {tuple(row.seqs) for row in rows} == {(1, 2, 3)}
    assert scenario.violations() == []


def test_claimed_together_they_come_in_the_order_of_the_queue(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, workflow_version, priority) "
        "select %s, %s, 1, n %% 7 from generate_series(1, 50) as n",
        [scenario.workflow, schedule],
    )
    wanted = scenario.db.column(
        "select id from lenses.workflow_runs "
        "order by priority desc, created_at, scheduled_for, id limit 30"
    )
    found = scenario.db.column("select id from lenses.fn_claim_workflow_runs('w', 30)")
    assert found == wanted
