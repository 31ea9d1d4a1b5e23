"""A schedule's limit against sessions that hold rows at the wrong moment."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from psycopg.types.json import Jsonb

from tests.dispatch.conftest import NO_APPROVAL
from tests.runs.world import World
from tests.support.database import Database, wait_until

SERIAL = {"approval_policy": NO_APPROVAL, "queue_policy": {"mode": "serial"}}
ROOMY = {
    "approval_policy": NO_APPROVAL,
    "queue_policy": {"mode": "parallel", "maxConcurrency": 100},
}


def claimed(conn: Database, limit: int = 1) -> list[UUID]:
    return conn.column("select id from lenses.fn_claim_workflow_runs('other', %s)", [limit])


def test_a_heartbeat_that_commits_after_the_lease_keeps_the_limit(
    committed: None, world: World
) -> None:
    schedule = world.make_schedule(**SERIAL)
    first, second = world.run(schedule), world.run(schedule)
    lease = timedelta(milliseconds=300)
    assert [run.id for run in world.claim("mine", lease=lease)] == [first]
    with world.db.another() as beating, world.db.another() as other:
        with beating.transaction():
            assert beating.value(
                "select lenses.fn_heartbeat_workflow_run(%s, 'mine', '5 minutes')", [first]
            )
            over = "select clock_timestamp() > %s::timestamptz + interval '1 second'"
            began = other.value("select clock_timestamp()")
            wait_until(lambda: other.value(over, [began]))
            assert claimed(other) == []
        assert world.row(first).status == "running"
        assert claimed(other) == []
        assert world.complete(first, "mine")
        assert claimed(other) == [second]


def test_behind_a_run_that_somebody_holds_none_of_a_limited_schedule_starts(
    committed: None, world: World
) -> None:
    schedule = world.make_schedule(**SERIAL)
    first, _ = world.run(schedule), world.run(schedule)
    with world.db.another() as holder, world.db.another() as other:
        with holder.transaction():
            holder.execute("select from lenses.workflow_runs where id = %s for update", [first])
            assert claimed(other) == []
        assert claimed(other) == [first]


def test_a_limit_that_is_new_counts_the_claims_before_it(committed: None, world: World) -> None:
    schedule = world.make_schedule(approval_policy=NO_APPROVAL)
    world.run(schedule)
    world.run(schedule)
    with world.db.another() as first, world.db.another() as editing, world.db.another() as other:
        with first.transaction():
            assert len(claimed(first)) == 1
            pid = editing.value("select pg_backend_pid()")
            editing.pgconn.send_query_params(
                b'update lenses.workflow_schedules set queue_policy = \'{"mode": "serial"}\' '
                b"where id = $1",
                [str(schedule).encode()],
            )
            blocked = "select cardinality(pg_blocking_pids(%s)) > 0"
            wait_until(lambda: other.value(blocked, [pid]))
        answers = list(iter(editing.pgconn.get_result, None))
        assert [answer.command_status for answer in answers] == [b"UPDATE 1"]
        assert claimed(other) == []


def test_no_claim_passes_over_a_limited_run_that_may_start(committed: None, world: World) -> None:
    head = world.run(priority=10)
    limited = world.run(world.make_schedule(**SERIAL), priority=9)
    world.run(priority=0)
    with world.db.another() as first, world.db.another() as second:
        with first.transaction():
            assert claimed(first) == [head]
            assert claimed(second) == [limited]


def test_a_full_schedule_is_not_kept_from_the_tick(committed: None, world: World) -> None:
    schedule = world.make_schedule(**SERIAL)
    world.run(schedule)
    world.run(schedule)
    assert len(world.claim()) == 1
    with world.db.another() as polling, world.db.another() as other:
        with polling.transaction():
            assert claimed(polling) == []
            due = "select from lenses.schedule_due where schedule_id = %s for update skip locked"
            assert len(other.rows(due, [schedule])) == 1


def test_a_run_put_off_meanwhile_is_not_taken(committed: None, world: World) -> None:
    """The claim has read its queue and waits for a schedule's row; until it goes on, a retry is put off."""
    limited = world.run(world.make_schedule(**SERIAL), priority=10)
    policies = world.policies(retry={"maxRetries": 3, "backoffMs": 3_600_000})
    put_off = world.run(priority=5, policies=policies)
    with world.db.another() as lock, world.db.another() as waiting:
        with lock.transaction():
            lock.execute("lock table lenses.schedule_due in share mode")
            pid = waiting.value("select pg_backend_pid()")
            waiting.pgconn.send_query(
                b"select array_agg(id) from lenses.fn_claim_workflow_runs('other', 2)"
            )
            blocked = "select cardinality(pg_blocking_pids(%s)) > 0"
            wait_until(lambda: world.db.value(blocked, [pid]))
            assert [run.id for run in world.claim("mine")] == [put_off]
            assert world.fail(put_off, "mine")
        answers = list(iter(waiting.pgconn.get_result, None))
        assert [answer.get_value(0, 0) for answer in answers] == [f"{{{limited}}}".encode()]
    assert world.row(put_off).status == "pending"


def test_blocked_schedules_do_not_hide_one_with_room(world: World) -> None:
    roomy = world.make_schedule(**ROOMY)
    full = world.make_schedule(**SERIAL)
    other = world.make_schedule(**SERIAL)
    for schedule in (full, other):
        world.run(schedule, priority=200)
    assert len(world.claim(limit=2)) == 2
    first = world.run(roomy, priority=90)
    for _ in range(16):
        world.run(full, priority=80)
    world.run(other, priority=70)
    rest = [world.run(roomy, priority=60) for _ in range(20)]
    by_hand = world.run(priority=0)
    assert world.claimed(limit=50) == [first, *rest, by_hand]


def test_the_largest_credits_are_refused_by_name(world: World) -> None:
    run = world.run()
    world.claim()
    with world.refused("22023", "p_spent_credits"):
        world.db.value(
            "select lenses.fn_complete_workflow_run(%s, 'w', %s, 99999999999999.99999)",
            [run, Jsonb(None)],
        )
