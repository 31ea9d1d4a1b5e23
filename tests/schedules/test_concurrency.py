"""Two at once: the second waits for the first, and nothing is lost or doubled."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from tests.support.callers import ACYCLIC, Caller
from tests.support.database import as_user, wait_until

pytestmark = pytest.mark.usefixtures("committed")

NIGHTLY = {"id": "nightly", "type": "schedule_based", "cron_expr": "0 3 * * *"}


@contextmanager
def second(caller: Caller) -> Iterator[Caller]:
    with caller.db.another() as session:
        yield Caller(session, caller.tenant, caller.role)


def waiting(caller: Caller) -> int:
    return caller.db.value(
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )


def race(
    alice: Caller, first: Callable[[Caller], Any], other: Callable[[Caller], Any]
) -> tuple[Any, Any]:
    """`first` is done and not committed when `other` comes; it commits once `other` waits."""
    with second(alice) as one, second(alice) as two, ThreadPoolExecutor(1) as pool:
        with one.db.transaction():
            done = first(one)
            late = pool.submit(other, two)
            wait_until(lambda: waiting(alice) or late.done(), what="the second waits")
            assert not late.done(), late.result()
        return done, late.result(timeout=120)


def test_the_same_new_id(alice: Caller) -> None:
    workflow, key = alice.workflow(), uuid.uuid4()

    def upsert(text: str) -> Callable[[Caller], Any]:
        return lambda caller: caller.schedule(workflow.id, schedule_id=key, description=text)

    first, other = race(alice, upsert("first"), upsert("second"))
    assert first.id == other.id == key
    assert (first.description, other.description) == ("first", "second")
    assert alice.saved(key).description == "second"


def test_the_same_new_id_of_another_tenant(alice: Caller, bob: Caller) -> None:
    mine, theirs, key = alice.workflow(), bob.workflow(), uuid.uuid4()

    def steal(caller: Caller) -> str:
        robber = Caller(caller.db, bob.tenant)
        return robber.refused(
            "42501", "fn_upsert_workflow_schedule", workflow_id=theirs.id, schedule_id=key
        ).message_primary

    first, refusal = race(alice, lambda caller: caller.schedule(mine.id, schedule_id=key), steal)
    assert refusal == "there is no such schedule of yours"
    assert alice.saved(key) == first


def test_two_definitions(alice: Caller) -> None:
    key = alice.workflow().id

    def save(*ids: str) -> Callable[[Caller], Any]:
        wanted = {**ACYCLIC, "triggers": [{**NIGHTLY, "id": name} for name in ids]}
        return lambda caller: caller.workflow(workflow_id=key, definition=wanted)

    race(alice, save("a", "b"), save("b", "c"))
    (row,) = alice.rows("fn_get_workflows")
    assert row.version == 3
    assert {s.trigger_id for s in alice.rows("fn_workflow_get_schedules")} == {"b", "c"}


def test_last_goes_while_first_comes(alice: Caller) -> None:
    row = alice.schedule()
    race(
        alice,
        lambda caller: caller.schedule(row.workflow_id),
        lambda caller: caller.rows("fn_delete_workflow_schedule", schedule_id=row.id),
    )
    assert alice.db.value("select trigger_type from lenses.workflows") == "schedule"


def test_first_comes_while_last_goes(alice: Caller) -> None:
    row = alice.schedule()
    race(
        alice,
        lambda caller: caller.rows("fn_delete_workflow_schedule", schedule_id=row.id),
        lambda caller: caller.schedule(row.workflow_id),
    )
    assert alice.db.value("select trigger_type from lenses.workflows") == "schedule"


def test_a_schedule_comes_while_its_workflow_is_deleted(alice: Caller) -> None:
    row = alice.workflow()
    _, refusal = race(
        alice,
        lambda caller: caller.one("fn_set_workflow_status", workflow_id=row.id, status="deleted"),
        lambda caller: caller.refused("22023", "fn_upsert_workflow_schedule", workflow_id=row.id),
    )
    assert "deleted" in refusal.message_primary
    assert alice.rows("fn_workflow_get_schedules") == []


def test_a_workflow_is_deleted_while_a_schedule_comes(alice: Caller) -> None:
    row = alice.workflow()
    _, gone = race(
        alice,
        lambda caller: caller.schedule(row.id),
        lambda caller: caller.one("fn_set_workflow_status", workflow_id=row.id, status="deleted"),
    )
    assert gone.status == "deleted"
    assert alice.rows("fn_workflow_get_schedules") == []


def test_pause_while_patched(alice: Caller) -> None:
    key = alice.schedule().id
    race(
        alice,
        lambda caller: caller.one("fn_pause_workflow_schedule", schedule_id=key, note="n"),
        lambda caller: caller.one(
            "fn_patch_workflow_schedule", schedule_id=key, patch={"description": "d"}
        ),
    )
    row = alice.saved(key)
    assert (row.description, row.pause_note, row.is_active) == ("d", "n", False)
    assert row.paused_at


def test_upsert_while_paused(alice: Caller) -> None:
    row = alice.schedule()
    race(
        alice,
        lambda caller: caller.one("fn_pause_workflow_schedule", schedule_id=row.id),
        lambda caller: caller.schedule(row.workflow_id, schedule_id=row.id, is_active=True),
    )
    assert alice.saved(row.id).paused_at


def test_many_at_once(alice: Caller) -> None:
    """Deletes, upserts, definitions and status changes of one workflow: no deadlock, and trigger_type is right."""
    key = alice.workflow(definition={**ACYCLIC, "triggers": [NIGHTLY]}).id
    ids = [uuid.uuid4() for _ in range(3)]

    def work(number: int) -> list[str]:
        failures = []
        with second(alice) as caller:
            for step in range(12):
                schedule_id = ids[(number + step) % 3]
                try:
                    if number % 4 == 0:
                        caller.schedule(key, schedule_id=schedule_id)
                    elif number % 4 == 1:
                        with as_user(caller.db, caller.tenant) as conn:
                            conn.execute(
                                "select public.fn_delete_workflow_schedule(%s)", [schedule_id]
                            )
                    elif number % 4 == 2:
                        triggers = [NIGHTLY, {**NIGHTLY, "id": f"t{step}"}][step % 2 :]
                        caller.workflow(
                            workflow_id=key, definition={**ACYCLIC, "triggers": triggers}
                        )
                    else:
                        caller.db.execute(
                            "select lenses.fn_dispatch_scheduled_workflows(now() + interval '1 day')"
                        )
                except psycopg.errors.InsufficientPrivilege:
                    continue
                except psycopg.Error as error:
                    failures.append(f"{error.sqlstate} {error.diag.message_primary}")
        return failures

    with ThreadPoolExecutor(8) as pool:
        assert [failure for failures in pool.map(work, range(8)) for failure in failures] == []
    count = len(alice.rows("fn_workflow_get_schedules"))
    kept = alice.db.value("select trigger_type from lenses.workflows")
    assert kept == ("schedule" if count else "manual")


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_other_isolation_levels(alice: Caller, level: str) -> None:
    alice.db.execute(f"set default_transaction_isolation = '{level}'")
    row = alice.schedule()
    alice.schedule(row.workflow_id, schedule_id=row.id, description="again")
    alice.one("fn_delete_workflow_schedule", schedule_id=row.id)
    assert alice.db.value("select trigger_type from lenses.workflows") == "manual"
