"""Who locks many schedules does so by their ids, and before quotas: nobody ends in a deadlock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from tests.support.callers import ACYCLIC, Caller
from tests.support.database import wait_until

pytestmark = pytest.mark.usefixtures("committed")


def both(
    alice: Caller, first: UUID, late: Callable[[Caller], Any], then: Callable[[Caller], Any]
) -> None:
    """`late` comes while `first` is locked, and waits for it; `then` follows in the holder."""
    with (
        alice.db.another() as one,
        alice.db.another() as two,
        ThreadPoolExecutor(1) as pool,
    ):
        holder, other = (Caller(session, alice.tenant, alice.role) for session in (one, two))
        with one.transaction():
            one.execute(
                "select from lenses.workflow_schedules where id = %s for no key update", [first]
            )
            waiting = pool.submit(late, other)
            wait_until(
                lambda: (
                    alice.db.value(
                        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                        "and datname = current_database()"
                    )
                    or waiting.done()
                )
            )
            assert not waiting.done(), waiting.result()
            then(holder)
        waiting.result(timeout=120)


def turned(ids: Sequence[UUID]) -> tuple[UUID, UUID]:
    """Two of them that stand the other way round than by id: the lower, then the higher."""
    return next(
        (low, high)
        for place, high in enumerate(ids)
        for low in ids[place + 1 :]
        if low.int < high.int
    )


def lock(schedule_id: UUID) -> Callable[[Caller], Any]:
    return lambda caller: caller.db.execute(
        "select from lenses.workflow_schedules where id = %s for no key update", [schedule_id]
    )


def test_a_definition_locks_its_schedules_by_id(alice: Caller) -> None:
    names = [f"t{number:02}" for number in range(12)]
    triggers = [{"id": name, "type": "schedule_based", "cron_expr": "0 3 * * *"} for name in names]
    key = alice.workflow(definition={**ACYCLIC, "triggers": triggers}).id
    ids = alice.db.column("select id from lenses.workflow_schedules order by trigger_id")
    low, high = turned(ids)
    later = [{**trigger, "cron_expr": "0 4 * * *"} for trigger in triggers]
    both(
        alice,
        low,
        lambda caller: caller.one(
            "fn_upsert_workflow", workflow_id=key, definition={**ACYCLIC, "triggers": later}
        ),
        lock(high),
    )
    assert set(alice.db.column("select cron_expr from lenses.workflow_schedules")) == {"0 4 * * *"}


def test_a_calendar_moves_its_schedules_by_id(alice: Caller) -> None:
    calendar = alice.one(
        "fn_create_schedule_calendar",
        name="days",
        kind="skip_dates",
        timezone="UTC",
        dates=["2030-01-01"],
    )
    key = alice.workflow().id
    for _ in range(12):
        alice.schedule(key, cron_expr="0 3 * * *", calendar_id=calendar.id, on_holiday="after")
    low, high = turned(alice.db.column("select id from lenses.workflow_schedules order by ctid"))
    both(
        alice,
        low,
        lambda caller: caller.one(
            "fn_update_schedule_calendar", calendar_id=calendar.id, dates=["2030-01-02"]
        ),
        lock(high),
    )


def test_a_recount_locks_schedules_before_quotas(alice: Caller) -> None:
    schedule = alice.schedule(alice.workflow().id, queue_policy={"mode": "serial"})
    with alice.db.transaction():
        alice.db.execute("alter table lenses.workflow_schedules disable trigger user")
        alice.db.execute("update lenses.workflow_schedules set max_in_flight = null")
        alice.db.execute("alter table lenses.workflow_schedules enable trigger user")
    both(
        alice,
        schedule.id,
        lambda caller: caller.db.execute("select lenses.fn_recount()"),
        lambda caller: caller.db.execute(
            "update lenses.workflow_schedules set inputs_template = '{\"a\": 1}' where id = %s",
            [schedule.id],
        ),
    )
    assert alice.db.value("select max_in_flight from lenses.workflow_schedules") == 1


def test_a_project_locks_its_schedules_by_id(alice: Caller) -> None:
    key = alice.workflow().id
    for _ in range(12):
        alice.schedule(key)
    low, high = turned(alice.db.column("select id from lenses.workflow_schedules order by ctid"))
    both(
        alice,
        low,
        lambda caller: caller.value(
            "fn_set_project",
            project="shop",
            calendar_ids=[],
            workflow_ids=[],
            schedule_ids=[high, low],
        ),
        lock(high),
    )
    assert set(alice.db.column("select project from lenses.workflow_schedules")) == {None, "shop"}
