"""Days of events and logs for tests: partitions, rows, runs that are over."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from tests.support.database import Database
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
