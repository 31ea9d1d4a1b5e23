"""Events and logs by day: made ahead, dropped as a whole, and nothing ever rests on a partition."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.database import Database, as_user
from tests.support.run_scenario import RunScenario

DAY = timedelta(days=1)
TABLES = {
    "lenses.workflow_run_events": "run_id, seq, event_type",
    "agents.agent_run_events": "event_type",
    "agents.action_logs": "action_type",
}
VALUES = {
    "lenses.workflow_run_events": "gen_random_uuid(), 1, 'note'",
    "agents.agent_run_events": "'note'",
    "agents.action_logs": "'note'",
}


def midnight(db: Database, days: int) -> datetime:
    """The beginning of a day, counted from today, by the server's clock."""
    return db.value("select date_trunc('day', now(), 'UTC') + make_interval(days => %s)", [days])


def add(db: Database, first: datetime, days: int = 1) -> None:
    """The partitions of these days, as they were made ahead once."""
    for table in TABLES:
        db.execute("select lenses.fn_add_partitions(%s, %s, %s)", [table, first, days])


def days(db: Database, table: str) -> list[datetime]:
    return db.column(
        "select from_at from lenses.fn_partitions() where parent = %s::regclass order by 1", [table]
    )


def note(scenario: RunScenario, table: str, at: datetime) -> str:
    """One row of that time; the name of the partition that has it."""
    scenario.db.execute(
        f"insert into {table} (lenser_id, {TABLES[table]}, occurred_at) "
        f"values (%s, {VALUES[table]}, %s)",
        [scenario.tenant.id, at],
    )
    return scenario.db.value(
        f"select tableoid::regclass::text from {table} "
        "where lenser_id = %s and occurred_at = %s limit 1",
        [scenario.tenant.id, at],
    )


def drop_all(scenario: RunScenario, now: datetime | None = None) -> list[str]:
    """What each call said, until nothing is left or a lock is not free."""
    said = []
    while not said or said[-1] == "dropped":
        said.append(
            scenario.db.value("select lenses.fn_drop_partition(coalesce(%s, now()))", [now])
        )
    return said


def tick(db: Database) -> None:
    number = db.value("select lenses.fn_tick_begin('worker')")
    while db.value("select lenses.fn_tick_step(%s)", [number]):
        pass
    db.execute("select lenses.fn_tick_end(%s)", [number])


def ended(scenario: RunScenario, at: datetime, over: datetime | None = None) -> UUID:
    """A run of that instant, cancelled then or later: two events, each of its time."""
    run = scenario.run(created_at=at)
    scenario.db.execute(
        "select lenses.fn_end_run(%s, 'cancelled', 'test', null, %s)", [run, over or at]
    )
    return run


def is_there(scenario: RunScenario, run: UUID) -> bool:
    return scenario.db.value(
        "select exists (select from lenses.workflow_runs where id = %s)", [run]
    )


def story(db: Database, run: UUID) -> list[tuple[int, str]]:
    return [
        (row.seq, row.event_type)
        for row in db.rows(
            "select seq, event_type from lenses.workflow_run_events where run_id = %s order by seq",
            [run],
        )
    ]


def test_a_tick_makes_tomorrow_and_the_day_after(scenario: RunScenario) -> None:
    ahead = [midnight(scenario.db, 1), midnight(scenario.db, 2)]
    for _ in range(2):
        tick(scenario.db)
        assert {table: days(scenario.db, table) for table in TABLES} == dict.fromkeys(TABLES, ahead)
    note_of = scenario.db.value("select note from lenses.dispatch_ticks order by id desc limit 1")
    assert note_of is None


def test_a_tick_of_one_transaction_makes_none(scenario: RunScenario) -> None:
    """It would hold the locks on the default partitions, which other ticks write, until its end."""
    scenario.db.value("select lenses.fn_dispatch_scheduled_workflows()")
    assert scenario.db.value("select lenses.fn_lacks_partitions()") is True


@pytest.mark.parametrize("table", TABLES)
def test_every_instant_has_a_place(scenario: RunScenario, table: str) -> None:
    """A day's partition takes its day from the first instant to the last; the default all else."""
    first = midnight(scenario.db, 1)
    add(scenario.db, first)
    day = f"{table}_{first:%Y%m%d}"
    last = first + DAY - timedelta(microseconds=1)
    assert [note(scenario, table, at) for at in (first, last)] == [day, day]
    for at in (
        first - timedelta(microseconds=1),
        first + DAY,
        first - 400 * DAY,
        first + 400 * DAY,
    ):
        assert note(scenario, table, at) == f"{table}_default"


def test_a_tick_at_a_day_without_partition(scenario: RunScenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *", next_run_at="2027-03-01 09:00Z")
    assert scenario.tick(datetime(2027, 3, 1, 9, tzinfo=UTC)) == 1
    (run,) = scenario.runs(schedule)
    assert story(scenario.db, run.id) == [(1, "run.created")]
    assert scenario.db.column("select tableoid::regclass::text from agents.action_logs") == [
        "agents.action_logs_default"
    ]


def test_a_day_that_has_rows_already_is_left_out(scenario: RunScenario) -> None:
    """They stay where they are, and the other days are made."""
    first = midnight(scenario.db, 1)
    assert note(scenario, "agents.action_logs", first + timedelta(hours=5)) == (
        "agents.action_logs_default"
    )
    assert scenario.db.value("select lenses.fn_make_partitions(false)") is True
    assert days(scenario.db, "agents.action_logs") == [first + DAY]
    assert days(scenario.db, "lenses.workflow_run_events") == [first, first + DAY]
    assert scenario.db.value("select count(*) from agents.action_logs") == 1


def test_a_day_goes_as_a_whole(scenario: RunScenario) -> None:
    old = midnight(scenario.db, -100)
    add(scenario.db, old, 2)
    for table in TABLES:
        note(scenario, table, old + timedelta(hours=1))
        note(scenario, table, old + DAY + timedelta(hours=1))
    now = old + DAY + timedelta(days=90)
    assert drop_all(scenario, now - timedelta(microseconds=1)) == ["none"]
    assert drop_all(scenario, now) == ["dropped"] * 3 + ["none"]
    for table in TABLES:
        assert days(scenario.db, table) == [old + DAY]
        assert scenario.db.value(f"select count(*) from {table}") == 1


def test_young_evidence_stays_whatever_the_clock(scenario: RunScenario) -> None:
    """31 days, by the server's own clock, at the least."""
    young = midnight(scenario.db, -31)
    add(scenario.db, young - DAY, 2)
    for table in TABLES:
        note(scenario, table, young - timedelta(hours=1))
        note(scenario, table, young + timedelta(hours=1))
    assert drop_all(scenario, datetime(2040, 1, 1, tzinfo=UTC)) == ["dropped"] * 3 + ["none"]
    for table in TABLES:
        assert days(scenario.db, table) == [young]


def test_what_stays_keeps_its_events_in_order(scenario: RunScenario) -> None:
    """In flight, or over since less than the retention: events move out of the day that goes."""
    old = midnight(scenario.db, -100)
    add(scenario.db, old)
    gone = ended(scenario, old + timedelta(hours=1))
    waiting = scenario.run(policies={}, created_at=old + timedelta(hours=2))
    running = scenario.run(created_at=old + timedelta(hours=3))
    late = ended(scenario, old + timedelta(hours=4), midnight(scenario.db, -20))
    scenario.claim()
    before = {run: story(scenario.db, run) for run in (waiting, running, late)}
    assert [len(events) for events in before.values()] == [1, 2, 2]
    scenario.db.execute("select lenses.fn_purge_history_batch(now(), 1000)")
    assert not is_there(scenario, gone)
    assert len(story(scenario.db, gone)) == 2, "until its day goes"
    assert drop_all(scenario)[-1] == "none"
    assert days(scenario.db, "lenses.workflow_run_events") == []
    assert story(scenario.db, gone) == []
    assert {run: story(scenario.db, run) for run in before} == before
    ids = scenario.db.column(
        "select id from lenses.workflow_run_events where run_id = %s order by seq", [late]
    )
    assert ids == sorted(ids) and len(set(ids)) == 2
    assert scenario.db.value(
        "select lenses.fn_append_run_event(%s, 'w', 'node.done', '{}')", [running]
    )
    assert story(scenario.db, running)[-1] == (3, "node.done")


@pytest.mark.parametrize("days_later", [0, 3, -3])
def test_a_run_is_read_with_all_its_events(scenario: RunScenario, days_later: int) -> None:
    """On whatever days they lie: a clock may have been moved between them."""
    now = midnight(scenario.db, 0)
    add(scenario.db, now - 5 * DAY, 10)
    run = ended(scenario, now, now + days_later * DAY)
    with as_user(scenario.db, scenario.tenant):
        found = scenario.db.value("select public.fn_get_run(%s)", [run])
    assert [event["event"] for event in found["events"]] == ["run.created", "run.cancelled"]
    assert found["event_count"] == 2


def test_what_stayed_goes_when_it_is_over(scenario: RunScenario) -> None:
    old = midnight(scenario.db, -200)
    add(scenario.db, old)
    run = scenario.run(created_at=old + timedelta(hours=1))
    drop_all(scenario)
    scenario.db.execute(
        "select lenses.fn_end_run(%s, 'cancelled', 'test', null, %s)", [run, old + 2 * DAY]
    )
    while scenario.db.value("select lenses.fn_purge_history_batch(now(), 100)"):
        pass
    assert not is_there(scenario, run)
    assert story(scenario.db, run) == []


def test_a_month_without_purge(committed: None, scenario: RunScenario) -> None:
    """Days with a partition, days without one, and a run in flight: no gap, and one purge takes it all."""
    add(scenario.db, midnight(scenario.db, -130), 3)
    for day in range(-130, -120):
        ended(scenario, midnight(scenario.db, day) + timedelta(hours=12))
        for table in TABLES:
            note(scenario, table, midnight(scenario.db, day) + timedelta(hours=12))
    stays = scenario.run(policies={}, created_at=midnight(scenario.db, -129) + timedelta(hours=1))
    young = ended(scenario, midnight(scenario.db, -40))
    scenario.db.execute("call lenses.sp_purge_history()")
    assert scenario.db.column("select id from lenses.workflow_runs order by created_at") == [
        stays, young,
    ]  # fmt: skip
    old = midnight(scenario.db, -90)
    counts = {
        table: scenario.db.value(f"select count(*) from {table} where occurred_at < %s", [old])
        for table in TABLES
    }
    assert counts == {
        "lenses.workflow_run_events": 1, "agents.agent_run_events": 0, "agents.action_logs": 0,
    }  # fmt: skip
    ahead = [midnight(scenario.db, 1), midnight(scenario.db, 2)]
    assert {table: days(scenario.db, table) for table in TABLES} == dict.fromkeys(TABLES, ahead)


@contextmanager
def writing(scenario: RunScenario) -> Iterator[Database]:
    """A tick in another session that has written an event and a log, and holds its transaction open."""
    with scenario.db.another() as conn, conn.transaction():
        conn.execute(
            "insert into lenses.workflow_runs (workflow_id, policies) values (%s, %s)",
            [scenario.workflow, '{"approval_policy": {"requiresApproval": false}}'],
        )
        for table in TABLES:
            conn.execute(
                f"insert into {table} (lenser_id, {TABLES[table]}) values (%s, {VALUES[table]})",
                [scenario.tenant.id],
            )
        yield conn


def test_the_drop_gives_way_to_an_open_tick(committed: None, scenario: RunScenario) -> None:
    old = midnight(scenario.db, -100)
    add(scenario.db, old)
    for table in TABLES:
        note(scenario, table, old)
    with writing(scenario) as tick:
        assert drop_all(scenario) == ["busy"]
        assert len(days(scenario.db, "lenses.workflow_run_events")) == 1
        assert tick.value("select count(*) from lenses.workflow_run_events") == 3
        tick.execute(
            "insert into lenses.workflow_runs (workflow_id, policies) values (%s, %s)",
            [scenario.workflow, '{"approval_policy": {"requiresApproval": false}}'],
        )
    assert drop_all(scenario) == ["dropped"] * 3 + ["none"]
    assert scenario.db.value("select count(*) from lenses.workflow_runs") == 2


def test_making_gives_way_to_an_open_tick(committed: None, scenario: RunScenario) -> None:
    with writing(scenario):
        assert scenario.db.value("select lenses.fn_make_partitions(true)") is False
        assert days(scenario.db, "lenses.workflow_run_events") == []
    assert scenario.db.value("select lenses.fn_make_partitions(true)") is True
    assert len(days(scenario.db, "lenses.workflow_run_events")) == 2


def test_two_purges_at_once(committed: None, scenario: RunScenario) -> None:
    """The second waits for no first: it says that it is busy."""
    old = midnight(scenario.db, -100)
    add(scenario.db, old)
    with scenario.db.another() as other, other.transaction():
        assert other.value("select lenses.fn_drop_partition(now())") == "dropped"
        assert scenario.db.value("select lenses.fn_drop_partition(now())") == "busy"
    assert drop_all(scenario) == ["dropped"] * 2 + ["none"]


@pytest.mark.parametrize("table", TABLES)
def test_no_partition_is_a_way_around(scenario: RunScenario, table: str) -> None:
    """By its own name no request role reads one, none of ours sees a row, and none changes one."""
    first = midnight(scenario.db, 1)
    add(scenario.db, first)
    note(scenario, table, first)
    note(scenario, table, first - DAY)
    day = f"{table}_{first:%Y%m%d}"
    for part in (day, f"{table}_default"):
        for role in ("anon", "authenticated", "service_role"):
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied"),
                as_user(scenario.db, scenario.tenant, role),
            ):
                scenario.db.execute(f"select from {part}")
        with as_user(scenario.db, scenario.tenant, "lf_sql_owner"):
            assert scenario.db.rows(f"select from {part}") == []
        for verb in (f"delete from {part}", f"update {part} set lenser_id = lenser_id",
                     f"truncate {part}"):  # fmt: skip
            with scenario.refused("42501", "append-only"):
                scenario.db.execute(verb)
    with as_user(scenario.db, scenario.tenant, "authenticated"):
        assert scenario.db.value(f"select count(*) from {table}") == 2


def settings(scenario: RunScenario, **patch: Any) -> None:
    with as_user(scenario.db, None, "service_role"):
        scenario.db.execute(
            "select lenses.fn_set_dispatch_settings(%s)", [psycopg.types.json.Jsonb(patch)]
        )


@pytest.mark.parametrize("has_partition", [True, False])
def test_events_and_logs_may_go_before_their_runs(
    scenario: RunScenario, has_partition: bool
) -> None:
    settings(scenario, events_retention="40 days", logs_retention="50 days")
    day = midnight(scenario.db, -60)
    if has_partition:
        add(scenario.db, day)
    over = ended(scenario, day + timedelta(hours=1))
    flying = scenario.run(policies={}, created_at=day + timedelta(hours=2))
    for table in ("agents.agent_run_events", "agents.action_logs"):
        note(scenario, table, day + timedelta(hours=3))
    later = day + timedelta(hours=1) + timedelta(days=41)

    def purge(now: datetime) -> None:
        while scenario.db.value("select lenses.fn_purge_history_batch(%s, 100)", [now]):
            pass
        drop_all(scenario, now)

    purge(later)
    assert is_there(scenario, over)
    assert story(scenario.db, over) == []
    assert story(scenario.db, flying) == [(1, "run.created")]
    assert (
        scenario.db.value("select count(*) from agents.action_logs where action_type = 'note'") == 1
    )
    purge(later + 10 * DAY)
    assert (
        scenario.db.value("select count(*) from agents.action_logs where action_type = 'note'") == 0
    )


def test_events_may_outlive_their_runs(scenario: RunScenario) -> None:
    settings(scenario, retention="31 days", events_retention="100 days")
    run = ended(scenario, midnight(scenario.db, -60))
    while scenario.db.value("select lenses.fn_purge_history_batch(now(), 100)"):
        pass
    assert not is_there(scenario, run)
    assert len(story(scenario.db, run)) == 2
    settings(scenario, events_retention=None)
    while scenario.db.value("select lenses.fn_purge_history_batch(now(), 100)"):
        pass
    assert story(scenario.db, run) == []


def test_the_invariants_notice_a_number_twice(scenario: RunScenario) -> None:
    """No index reaches over two partitions: the same number on two days is found here."""
    add(scenario.db, midnight(scenario.db, 1))
    run = scenario.run()
    with scenario.db.transaction(force_rollback=True):
        scenario.db.execute("alter table lenses.workflow_runs disable trigger user")
        scenario.db.execute(
            "update lenses.workflow_runs set last_event_seq = 2 where id = %s", [run]
        )
        insert = (
            "insert into lenses.workflow_run_events "
            "(lenser_id, run_id, seq, event_type, occurred_at) values (%s, %s, %s, 'note', %s)"
        )
        with scenario.db.transaction(force_rollback=True):
            scenario.db.execute(insert, [scenario.tenant.id, run, 2, midnight(scenario.db, 1)])
            assert scenario.violations() == []
        scenario.db.execute(insert, [scenario.tenant.id, run, 1, midnight(scenario.db, 1)])
        assert [v.invariant for v in scenario.violations()] == ["event_each_transition"]
