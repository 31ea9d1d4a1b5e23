"""A schedule's limit against sessions that hold rows at the wrong moment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.database import Database, wait_until
from tests.support.run_scenario import RunScenario
from tests.support.scenario import NO_APPROVAL

SERIAL = {"approval_policy": NO_APPROVAL, "queue_policy": {"mode": "serial"}}
ROOMY = {
    "approval_policy": NO_APPROVAL,
    "queue_policy": {"mode": "parallel", "maxConcurrency": 100},
}
LIMIT = 'update lenses.workflow_schedules set queue_policy = \'{"mode": "serial"}\' where id = %s'


def claimed(conn: Database, limit: int = 1) -> list[UUID]:
    return conn.column("select id from lenses.fn_claim_workflow_runs('other', %s)", [limit])


def sent(conn: Database, query: str) -> int:
    """Sends a query and does not wait for its answer; the process that works on it."""
    conn.pgconn.send_query(query.encode())
    return conn.info.backend_pid


def answered(conn: Database) -> list[tuple[int, str]]:
    """Rows and error of each answer to what was sent."""
    answers = iter(conn.pgconn.get_result, None)
    return [(answer.ntuples, answer.error_message.decode()) for answer in answers]


def blocked(conn: Database, pid: int) -> bool:
    return bool(conn.value("select cardinality(pg_blocking_pids(%s)) > 0", [pid]))


@pytest.fixture
def pausing(scenario: RunScenario) -> Iterator[None]:
    """Whoever sets lf_test.pause to a run's id waits for advisory lock 77 the second time he looks at it."""
    scenario.db.execute(
        """
        create function lenses.fn_pause(p_id uuid) returns boolean language plpgsql cost 1 as $$
        begin
          if current_setting('lf_test.pause', true) = p_id::text then
            perform set_config('lf_test.pause', p_id::text || ' once', false);
          elsif current_setting('lf_test.pause', true) = p_id::text || ' once' then
            perform pg_advisory_lock_shared(77), pg_advisory_unlock_shared(77);
          end if;
          return true;
        end $$
        """
    )
    policy = "alter policy workflow_runs_engine_all on lenses.workflow_runs using"
    scenario.db.execute(f"{policy} (lenses.fn_pause(id))")
    yield
    scenario.db.execute(f"{policy} (true)")
    scenario.db.execute("drop function lenses.fn_pause")


def test_a_heartbeat_that_commits_after_the_lease_keeps_the_limit(
    committed: None, scenario: RunScenario
) -> None:
    schedule = scenario.make_schedule(**SERIAL)
    first, second = scenario.run(schedule), scenario.run(schedule)
    lease = timedelta(milliseconds=300)
    assert [run.id for run in scenario.claim("mine", lease=lease)] == [first]
    with scenario.db.another() as beating, scenario.db.another() as other:
        with beating.transaction():
            assert beating.value(
                "select lenses.fn_heartbeat_workflow_run(%s, 'mine', '5 minutes')", [first]
            )
            over = "select clock_timestamp() > %s::timestamptz + interval '1 second'"
            began = other.value("select clock_timestamp()")
            wait_until(lambda: other.value(over, [began]))
            assert claimed(other) == []
        assert scenario.row(first).status == "running"
        assert claimed(other) == []
        assert scenario.complete(first, "mine")
        assert claimed(other) == [second]


def test_behind_a_run_that_somebody_holds_none_of_a_limited_schedule_starts(
    committed: None, scenario: RunScenario
) -> None:
    schedule = scenario.make_schedule(**SERIAL)
    first, _ = scenario.run(schedule), scenario.run(schedule)
    with scenario.db.another() as holder, scenario.db.another() as other:
        with holder.transaction():
            holder.execute("select from lenses.workflow_runs where id = %s for update", [first])
            assert claimed(other) == []
        assert claimed(other) == [first]


def test_a_limit_that_is_new_counts_the_claims_before_it(
    committed: None, scenario: RunScenario
) -> None:
    schedule = scenario.make_schedule(approval_policy=NO_APPROVAL)
    scenario.run(schedule)
    scenario.run(schedule)
    with (
        scenario.db.another() as first,
        scenario.db.another() as editing,
        scenario.db.another() as other,
    ):
        with first.transaction():
            assert len(claimed(first)) == 1
            pid = sent(editing, LIMIT.replace("%s", f"'{schedule}'"))
            wait_until(lambda: blocked(other, pid))
        assert answered(editing) == [(0, "")]
        assert claimed(other) == []


def test_a_limit_that_comes_as_a_claim_locks_its_runs_holds(
    committed: None, scenario: RunScenario, pausing: None
) -> None:
    """The claim of two has seen no limit; it comes to the second run as the limit is there."""
    schedule = scenario.make_schedule(approval_policy=NO_APPROVAL)
    first, second = scenario.run(schedule), scenario.run(schedule)
    with scenario.db.another() as editing, scenario.db.another() as claiming:
        claiming.execute("select set_config('lf_test.pause', %s, false)", [str(second)])
        scenario.db.execute("select pg_advisory_lock(77)")
        with editing.transaction():
            editing.execute(LIMIT, [schedule])
            pid = sent(claiming, "select from lenses.fn_claim_workflow_runs('other', 2)")
            wait_until(lambda: blocked(editing, pid))
        assert claimed(editing) == [first]
        scenario.db.execute("select pg_advisory_unlock(77)")
        assert answered(claiming) == [(0, "")]
    assert scenario.row(second).status == "pending"


def test_a_limit_that_comes_as_a_claim_of_one_reads_the_queue_holds(
    committed: None, scenario: RunScenario, pausing: None
) -> None:
    """The claim has read the first run as one without a limit; before it locks it, the limit is there."""
    schedule = scenario.make_schedule(approval_policy=NO_APPROVAL)
    first, second = scenario.run(schedule), scenario.run(schedule)
    with scenario.db.another() as editing, scenario.db.another() as claiming:
        claiming.execute("select set_config('lf_test.pause', %s, false)", [str(first)])
        scenario.db.execute("select pg_advisory_lock(77)")
        pid = sent(claiming, "select from lenses.fn_claim_workflow_runs('other', 1)")
        wait_until(lambda: blocked(editing, pid))
        editing.execute(LIMIT, [schedule])
        assert claimed(editing) == [first]
        scenario.db.execute("select pg_advisory_unlock(77)")
        assert answered(claiming) == [(0, "")]
    assert scenario.row(second).status == "pending"


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_claim_with_a_snapshot_from_before_a_limit_fails(
    committed: None, scenario: RunScenario, level: str, limit: int
) -> None:
    schedule = scenario.make_schedule(approval_policy=NO_APPROVAL)
    scenario.run(schedule)
    with scenario.db.another() as old:
        old.execute(f"begin isolation level {level}")
        old.execute("select count(*) from lenses.workflow_schedules")
        scenario.db.execute(LIMIT, [schedule])
        unseen = scenario.run(schedule, priority=9)
        assert scenario.claimed() == [unseen]
        with pytest.raises(psycopg.errors.SerializationFailure):
            claimed(old, limit)
        old.execute("rollback")


def test_a_run_that_comes_as_a_limit_is_set_waits_for_it(
    committed: None, scenario: RunScenario
) -> None:
    schedule = scenario.make_schedule(approval_policy=NO_APPROVAL)
    first = scenario.run(schedule)
    with scenario.db.another() as editing, scenario.db.another() as adding:
        with editing.transaction():
            editing.execute(LIMIT, [schedule])
            pid = sent(
                adding,
                "insert into lenses.workflow_runs (workflow_id, schedule_id) "
                f"values ('{scenario.workflow}', '{schedule}')",
            )
            wait_until(lambda: blocked(editing, pid))
            assert claimed(scenario.db, 10) == []
        assert answered(adding) == [(0, "")]
        assert claimed(editing) == [first]
        assert claimed(scenario.db, 10) == []


def test_no_claim_passes_over_a_limited_run_that_may_start(
    committed: None, scenario: RunScenario
) -> None:
    head = scenario.run(priority=10)
    limited = scenario.run(scenario.make_schedule(**SERIAL), priority=9)
    scenario.run(priority=0)
    with scenario.db.another() as first, scenario.db.another() as second:
        with first.transaction():
            assert claimed(first) == [head]
            assert claimed(second) == [limited]


def test_a_full_schedule_is_not_kept_from_the_tick(committed: None, scenario: RunScenario) -> None:
    schedule = scenario.make_schedule(**SERIAL)
    scenario.run(schedule)
    scenario.run(schedule)
    assert len(scenario.claim()) == 1
    with scenario.db.another() as polling, scenario.db.another() as other:
        with polling.transaction():
            assert claimed(polling) == []
            due = "select from lenses.schedule_due where schedule_id = %s for update skip locked"
            assert len(other.rows(due, [schedule])) == 1


def test_a_run_put_off_meanwhile_is_not_taken(committed: None, scenario: RunScenario) -> None:
    """The claim has read its queue and waits for a schedule's row; until it goes on, a retry is put off."""
    limited = scenario.run(scenario.make_schedule(**SERIAL), priority=10)
    policies = scenario.policies(retry={"maxRetries": 3, "backoffMs": 3_600_000})
    put_off = scenario.run(priority=5, policies=policies)
    with scenario.db.another() as lock, scenario.db.another() as waiting:
        with lock.transaction():
            lock.execute("lock table lenses.schedule_due in share mode")
            pid = sent(waiting, "select from lenses.fn_claim_workflow_runs('other', 2)")
            wait_until(lambda: blocked(scenario.db, pid))
            assert [run.id for run in scenario.claim("mine")] == [put_off]
            assert scenario.fail(put_off, "mine")
        assert answered(waiting) == [(1, "")]
    assert scenario.row(limited).status == "running"
    assert scenario.row(put_off).status == "pending"


@pytest.mark.parametrize("limit", [1, 2])
def test_a_run_cancelled_meanwhile_does_not_keep_the_next(
    committed: None, scenario: RunScenario, limit: int
) -> None:
    schedule = scenario.make_schedule(**SERIAL)
    first, second = scenario.run(schedule), scenario.run(schedule)
    with scenario.db.another() as lock, scenario.db.another() as waiting:
        with lock.transaction():
            lock.execute("lock table lenses.schedule_due in share mode")
            pid = sent(waiting, f"select from lenses.fn_claim_workflow_runs('other', {limit})")
            wait_until(lambda: blocked(scenario.db, pid))
            assert scenario.cancel(first)
        assert answered(waiting) == [(1, "")]
    assert scenario.row(second).status == "running"


def test_a_claim_that_reaps_holds_but_what_it_takes(committed: None, scenario: RunScenario) -> None:
    policies = scenario.policies(retry={"maxRetries": 3, "backoffMs": 0})
    lost = scenario.run(priority=9, policies=policies)
    assert len(scenario.claim("dead")) == 1
    scenario.let_lease_expire(lost)
    free = scenario.run()
    with scenario.db.another() as other:
        with scenario.db.transaction():
            assert scenario.claimed() == [lost]
            assert claimed(other) == [free]


@pytest.mark.parametrize(
    "reaping",
    [
        "select from lenses.fn_claim_workflow_runs('other', 1)",
        "select lenses.fn_dispatch_scheduled_workflows()",
        "select lenses.fn_reap_workflow_runs()",
    ],
)
def test_what_reaps_does_not_wait_for_a_claim(
    committed: None, scenario: RunScenario, reaping: str
) -> None:
    """A lost run of a schedule that would halt, while a claim of the same schedule is held open."""
    schedule = scenario.make_schedule(**ROOMY, failure_policy=Jsonb({"mode": "halt"}))
    policies = scenario.policies(retry={"maxRetries": 0}, failure={"mode": "halt"})
    lost, held = (scenario.run(schedule, policies=policies) for _ in range(2))
    assert [run.id for run in scenario.claim("dead")] == [lost]
    with scenario.db.another() as other:
        with scenario.db.transaction():
            assert scenario.claimed() == [held]
            other.execute(
                "update lenses.workflow_runs set lease_expires_at = now() - interval '1 second' "
                "where id = %s",
                [lost],
            )
            other.execute("set lock_timeout = '10s'")
            other.execute(reaping)
            assert scenario.complete(held)
        assert scenario.row(lost).status == "running"
        assert other.value("select lenses.fn_reap_workflow_runs()") == 1
    assert scenario.row(lost).status == "timed_out"


def test_blocked_schedules_do_not_hide_one_with_room(scenario: RunScenario) -> None:
    roomy = scenario.make_schedule(**ROOMY)
    full = scenario.make_schedule(**SERIAL)
    other = scenario.make_schedule(**SERIAL)
    for schedule in (full, other):
        scenario.run(schedule, priority=200)
    assert len(scenario.claim(limit=2)) == 2
    first = scenario.run(roomy, priority=90)
    for _ in range(16):
        scenario.run(full, priority=80)
    scenario.run(other, priority=70)
    rest = [scenario.run(roomy, priority=60) for _ in range(20)]
    by_hand = scenario.run(priority=0)
    assert scenario.claimed(limit=50) == [first, *rest, by_hand]


def test_the_largest_credits_are_refused_by_name(scenario: RunScenario) -> None:
    run = scenario.run()
    scenario.claim()
    with scenario.refused("22023", "p_spent_credits"):
        scenario.db.value(
            "select lenses.fn_complete_workflow_run(%s, 'w', %s, 99999999999999.99999)",
            [run, Jsonb(None)],
        )
