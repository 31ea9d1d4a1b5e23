"""Days of events and logs that are past their retention: dropped as a whole, and what stays stays."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.runs.days import (
    DAY,
    TABLES,
    VALUES,
    add,
    days,
    drop_all,
    ended,
    is_there,
    midnight,
    note,
    story,
)
from tests.support.database import Database, as_user
from tests.support.run_scenario import RunScenario


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
    add(scenario.db, old, 2)
    with scenario.db.another() as other, other.transaction():
        assert other.value("select lenses.fn_drop_partition(now())") == "dropped"
        assert scenario.db.value("select lenses.fn_drop_partition(now())") == "busy"
    assert drop_all(scenario) == ["dropped"] * 5 + ["none"]


def test_purges_side_by_side_get_through(committed: None, scenario: RunScenario) -> None:
    """None waits for another that waits for it, and none looks at a day that is gone."""
    add(scenario.db, midnight(scenario.db, -120), 12)

    def purge() -> None:
        with scenario.db.another() as conn:
            conn.execute("call lenses.sp_purge_history()")

    with ThreadPoolExecutor(3) as pool:
        for work in [pool.submit(purge) for _ in range(3)]:
            work.result(120)
    assert all(
        day > midnight(scenario.db, 0) for table in TABLES for day in days(scenario.db, table)
    )


def test_what_is_in_the_way_of_making_days_keeps_nothing(
    committed: None, scenario: RunScenario
) -> None:
    """The purge says so in the end, and has purged."""
    add(scenario.db, midnight(scenario.db, -100))
    run = ended(scenario, midnight(scenario.db, -100))
    tomorrow = scenario.db.value(
        "select to_char(now() at time zone 'UTC' + interval '1 day', 'YYYYMMDD')"
    )
    scenario.db.execute(f"create table lenses.workflow_run_events_{tomorrow} (x int)")
    with pytest.raises(psycopg.errors.DuplicateTable):
        scenario.db.execute("call lenses.sp_purge_history()")
    assert not is_there(scenario, run)
    assert days(scenario.db, "lenses.workflow_run_events") == []


def test_events_that_are_hidden_from_the_purge_are_not_dropped(scenario: RunScenario) -> None:
    old = midnight(scenario.db, -100)
    add(scenario.db, old)
    run = scenario.run(created_at=old + timedelta(hours=1))
    [part] = scenario.db.column(
        "select part::text from lenses.fn_partitions() where parent = 'lenses.workflow_run_events'::regclass"
    )
    scenario.db.execute(f"drop policy workflow_run_events_engine_all on {part}")
    with (
        pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match=part),
        scenario.db.transaction(),
    ):
        drop_all(scenario)
    scenario.db.execute(f"select lenses.fn_guard_partition('{part}')")
    assert "dropped" in drop_all(scenario)
    assert story(scenario.db, run) == [(1, "run.created")]


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


@pytest.mark.parametrize(
    "span",
    ["36031 days -1200 months", "391 days -12 months", "1 month", "31 days -1 hour", "-40 days",
     "170000 years -61190000 days"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["retention", "events_retention", "logs_retention"])
def test_a_retention_is_at_least_31_days_before_any_date(
    scenario: RunScenario, name: str, span: str
) -> None:
    """As intervals compare, months of either sign have 30 days."""
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=name), scenario.db.transaction():
        settings(scenario, **{name: span})
    with pytest.raises(psycopg.DatabaseError) as error, scenario.db.transaction():
        scenario.db.execute(f"update lenses.dispatch_settings set {name} = %s", [span])
    assert error.value.sqlstate in ("23514", "22008")


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Auckland"])
def test_the_least_retention_meets_the_audits_guard_in_every_zone(
    committed: None, scenario: RunScenario, zone: str
) -> None:
    """31 days are not 744 hours where the clock was turned meanwhile."""
    settings(scenario, logs_retention="744 hours")
    for hours in (742, 743.5, 744.5, 746):
        note(
            scenario, "agents.action_logs",
            scenario.db.value("select now() - make_interval(secs => %s)", [hours * 3600]),
        )  # fmt: skip
    with scenario.db.another() as session:
        session.execute("select set_config('timezone', %s, false)", [zone])
        session.execute("call lenses.sp_purge_history()")
    query = "select count(*) from agents.action_logs where action_type = 'note'"
    assert scenario.db.value(query) == 2
