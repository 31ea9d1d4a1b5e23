"""Many sessions at once: each run once, no limit passed, no deadlock."""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from uuid import UUID

import psycopg
import pytest

from tests.support.database import Database, wait_until
from tests.support.run_scenario import RunScenario
from tests.support.scenario import NO_APPROVAL, at

FREE = '{"approval_policy": {"requiresApproval": false}, "retry_policy": {"maxRetries": 1}}'


def together(scenario: RunScenario, jobs: list[Callable[[Database], None]]) -> None:
    """Each job on a session and thread of its own; the first error is the test's."""
    errors: list[BaseException] = []

    def run(job: Callable[[Database], None]) -> None:
        try:
            with scenario.db.another() as conn:
                job(conn)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "a session hangs"


def fill(scenario: RunScenario, count: int, schedules: list[UUID]) -> None:
    """As the dispatcher inserts: set-wise, by its role."""
    with scenario.db.transaction():
        scenario.db.execute("set local role lf_sql_engine")
        scenario.db.execute(
            "insert into lenses.workflow_runs (id, lenser_id, workflow_id, workflow_version, "
            "schedule_id, scheduled_for, idempotency_key, trigger_mode, policies) "
            "select substr(lenses.fn_slot_key(s.id, t.slot), 1, 32)::uuid, %(lenser)s, %(workflow)s, "
            "1, s.id, t.slot, lenses.fn_slot_key(s.id, t.slot), 'backfill', %(policies)s "
            "from generate_series(0, %(last)s) as n "
            "cross join lateral (select (%(schedules)s::uuid[])[n %% %(k)s + 1] as id) as s "
            "cross join lateral (select timestamptz '2026-01-01Z' + n * interval '1 minute' as slot)"
            " as t",
            {"lenser": scenario.tenant.id, "workflow": scenario.workflow, "last": count - 1,
             "schedules": schedules, "k": len(schedules), "policies": FREE},
        )  # fmt: skip


def work(seen: list[list[UUID]], name: str, batch: int) -> Callable[[Database], None]:
    """Claims and completes until nothing is left."""
    mine: list[UUID] = []
    seen.append(mine)

    def job(conn: Database) -> None:
        while True:
            claimed = conn.column(
                "select id from lenses.fn_claim_workflow_runs(%s, %s)", [name, batch]
            )
            if not claimed:
                return
            mine.extend(claimed)
            for run in claimed:
                assert conn.value(
                    "select lenses.fn_complete_workflow_run(%s, %s, '1')", [run, name]
                )

    return job


@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_eight_workers_do_each_run_exactly_once(
    committed: None, scenario: RunScenario, count: int
) -> None:
    fill(scenario, count, [scenario.make_schedule(approval_policy=NO_APPROVAL) for _ in range(50)])
    seen: list[list[UUID]] = []
    together(scenario, [work(seen, f"w{n}", 20 if n % 2 else 1) for n in range(8)])
    claimed = Counter(run for mine in seen for run in mine)
    assert len(claimed) == count
    assert set(claimed.values()) == {1}
    assert scenario.db.rows(
        "select status, attempt, last_event_seq, count(*)::int from lenses.workflow_runs "
        "group by 1, 2, 3"
    ) == [("completed", 1, 3, count)]
    assert scenario.db.value("select count(*)::int from lenses.workflow_run_events") == 3 * count


def test_limits_hold_and_serial_runs_go_in_order(committed: None, scenario: RunScenario) -> None:
    """1,000 random durations under eight workers, each of whom takes what he can get."""
    limits = {
        scenario.make_schedule(queue_policy={"mode": "serial"}): 1,
        scenario.make_schedule(queue_policy={"mode": "serial", "maxConcurrency": 5}): 1,
        scenario.make_schedule(queue_policy={"mode": "parallel", "maxConcurrency": 3}): 3,
        scenario.make_schedule(): 99,
    }
    fill(scenario, 1_000, list(limits))
    lock = threading.Lock()
    running: Counter[UUID] = Counter()
    most: Counter[UUID] = Counter()
    order: defaultdict[UUID, list[object]] = defaultdict(list)
    left = [1_000]

    def job(conn: Database) -> None:
        name, pause, dice = str(conn.info.backend_pid), threading.Event(), random.Random()
        give_up = monotonic() + 60
        while left[0] and monotonic() < give_up:
            claimed = conn.rows(
                "select id, schedule_id, scheduled_for from lenses.fn_claim_workflow_runs(%s, %s)",
                [name, dice.choice([1, 2, 5])],
            )
            with lock:
                for run in claimed:
                    running[run.schedule_id] += 1
                    most[run.schedule_id] = max(most[run.schedule_id], running[run.schedule_id])
                    order[run.schedule_id].append(run.scheduled_for)
            for run in claimed:
                pause.wait(dice.expovariate(1 / 0.002))
                with lock:
                    running[run.schedule_id] -= 1
                    left[0] -= 1
                assert conn.value(
                    "select lenses.fn_complete_workflow_run(%s, %s, '1')", [run.id, name]
                )
            if not claimed:
                pause.wait(0.002)

    together(scenario, [job] * 8)
    assert left == [0]
    for schedule, limit in limits.items():
        assert most[schedule] <= limit, f"{most[schedule]} at once, the limit is {limit}"
        if limit == 1:
            assert order[schedule] == sorted(order[schedule])  # type: ignore[type-var]
    parallel = [schedule for schedule, limit in limits.items() if limit == 3]
    assert most[parallel[0]] > 1, "nothing ran side by side, so nothing was shown"


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_stale_snapshot_does_not_pass_the_limit(
    committed: None, scenario: RunScenario, level: str
) -> None:
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    first, second = scenario.run(schedule), scenario.run(schedule)
    with scenario.db.another() as stale:
        stale.execute(f"begin isolation level {level}")
        stale.execute("select count(*) from lenses.workflow_runs")
        assert scenario.claimed() == [first]
        with pytest.raises(psycopg.errors.SerializationFailure):
            stale.execute("select * from lenses.fn_claim_workflow_runs('stale', 5)")
        stale.execute("rollback")
    assert scenario.row(second).status == "pending"


def test_one_of_complete_fail_and_cancel_wins(committed: None, scenario: RunScenario) -> None:
    schedule = scenario.make_schedule()
    won: Counter[str] = Counter()
    for _ in range(15):
        run = scenario.run(schedule, policies=scenario.policies(retry={"maxRetries": 0}))
        scenario.claim()
        gate = threading.Barrier(3)
        answers: dict[str, bool] = {}

        def job(name: str, query: str, run: UUID = run, gate: threading.Barrier = gate,
                answers: dict[str, bool] = answers) -> Callable[[Database], None]:  # fmt: skip
            def call(conn: Database) -> None:
                gate.wait()
                answers[name] = conn.value(query, [run])

            return call

        together(scenario, [
            job("completed", "select lenses.fn_complete_workflow_run(%s, 'w', '1')"),
            job("failed", "select lenses.fn_fail_workflow_run(%s, 'w', 'x', 'y')"),
            job("cancelled", "select lenses.fn_cancel_workflow_run(%s)"),
        ])  # fmt: skip
        (winner,) = [name for name, answer in answers.items() if answer]
        won[winner] += 1
        assert scenario.row(run).status == winner
        assert scenario.events(run)[2:] == [(3, f"run.{winner}")]
    assert sum(won.values()) == 15


def test_ticks_executors_and_owners_never_deadlock(committed: None, scenario: RunScenario) -> None:
    """Every lock order there is: ticks that replace and defer, claims, ends, cancels, run-now."""
    schedules = [
        scenario.make_schedule("* * * * *", queue_policy={"mode": "serial", "onOverlap": overlap})
        for overlap in ("queue", "replace", "skip") * 4
    ]
    stop = threading.Event()
    until = monotonic() + 3
    minute, ended = [0], [0]

    def is_over() -> bool:
        """After three seconds, and however long it takes until all sorts of work were done."""
        return stop.is_set() or (monotonic() > until and minute[0] > 10 and ended[0] > 10)

    def tick(conn: Database) -> None:
        while not is_over():
            minute[0] += 1
            conn.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [at(minute[0])])

    def execute(conn: Database) -> None:
        name = str(conn.info.backend_pid)
        while not is_over():
            for run in conn.column(
                "select id from lenses.fn_claim_workflow_runs(%s, 3, '1 minute')", [name]
            ):
                function = random.choice(["complete_workflow_run(%s, %s, '1')",
                                          "fail_workflow_run(%s, %s, 'x', 'y')"])  # fmt: skip
                conn.execute(f"select lenses.fn_{function}", [run, name])
                ended[0] += 1

    def own(conn: Database) -> None:
        claims = f'{{"sub": "{scenario.tenant.user_id}"}}'
        conn.execute("select set_config('request.jwt.claims', %s, false)", [claims])
        while not is_over():
            conn.execute(
                "select public.fn_run_workflow_schedule_now(%s)", [random.choice(schedules)]
            )
            for run in conn.column(
                "select id from lenses.workflow_runs where status in ('pending', 'running') "
                "order by random() limit 2"
            ):
                conn.execute("select lenses.fn_cancel_workflow_run(%s)", [run])

    try:
        together(scenario, [tick, tick, execute, execute, execute, own])
    finally:
        stop.set()
    assert minute[0] > 10 and ended[0] > 10
    deadlocks = "select deadlocks from pg_stat_database where datname = current_database()"
    scenario.db.execute("select pg_stat_clear_snapshot()")
    assert scenario.db.value(deadlocks) == 0


def test_a_dead_session_blocks_its_schedule_no_longer_than_its_lease(
    committed: None, scenario: RunScenario
) -> None:
    schedule = scenario.make_schedule(queue_policy={"mode": "serial"})
    run = scenario.run(schedule)
    dying = scenario.db.another()
    scenario.claim("dying", lease=timedelta(milliseconds=400), db=dying)
    scenario.db.execute("select pg_terminate_backend(%s)", [dying.info.backend_pid])
    assert scenario.claimed("alive") == []
    wait_until(lambda: scenario.claimed("alive") == [run])
    dying.close()
