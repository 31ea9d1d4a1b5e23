"""Events and logs by day: made ahead, never needed, and no way around their table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from tests.runs.days import (
    DAY,
    TABLES,
    add,
    days,
    midnight,
    note,
    story,
    tick,
)
from tests.support.database import as_user
from tests.support.run_scenario import RunScenario


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


def test_no_default_privileges_open_a_day(scenario: RunScenario) -> None:
    """Hosts grant what a role makes to others; a grant of triggers alone is a way to be the owner."""
    scenario.db.execute(
        "alter default privileges for role lf_sql_owner "
        "grant all on tables to public, anon, authenticated, service_role"
    )
    assert scenario.db.value("select lenses.fn_make_partitions(false)")
    granted = scenario.db.rows(
        "select p.part, a.grantee from lenses.fn_partitions() as p "
        "join pg_class as c on c.oid = p.part cross join aclexplode(c.relacl) as a "
        "where a.grantee <> c.relowner"
    )
    assert granted == []


def test_the_tablespace_of_the_database_is_not_a_days(
    committed: None, scenario: RunScenario
) -> None:
    """lf_sql_owner may have no rights there."""
    scenario.db.execute("set allow_in_place_tablespaces = on")
    scenario.db.execute("create tablespace elsewhere location ''")
    try:
        scenario.db.execute("set default_tablespace = elsewhere")
        assert scenario.db.value("select lenses.fn_make_partitions(false)")
        spaces = "select distinct reltablespace from pg_class where oid in (select part from lenses.fn_partitions())"
        assert scenario.db.column(spaces) == [0]
    finally:
        scenario.db.execute("drop tablespace elsewhere")
