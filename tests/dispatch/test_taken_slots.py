"""Slots that have a run already, among others of one batch: the tick meets it in the middle of its insert."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.support.database import Database, wait_until_blocked
from tests.support.scenario import MONDAY, Scenario, at


def take(scenario: Scenario, schedule: UUID, slot: datetime, conn: Database | None = None) -> UUID:
    """A run of the slot by hand, as service_role writes one; it was made before today."""
    return (conn or scenario.db).value(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, scheduled_for, trigger_mode, created_at) "
        "select s.workflow_id, s.id, %(slot)s, 'backfill', %(slot)s - interval '3 days' "
        "from lenses.workflow_schedules as s where s.id = %(id)s returning id",
        {"slot": slot, "id": schedule},
    )


def inputs(scenario: Scenario, schedule: UUID) -> dict[datetime, Any]:
    """What the tick's runs were given, by slot."""
    rows = scenario.db.rows(
        "select scheduled_for, context_inputs from lenses.workflow_runs "
        "where schedule_id = %s and trigger_mode = 'schedule' order by 1",
        [schedule],
    )
    return {row.scheduled_for: row.context_inputs for row in rows}


def test_a_taken_slot_uses_no_entry_of_the_rotation(scenario: Scenario) -> None:
    rotation = json.dumps([{"n": 0}, {"n": 1}, {"n": 2}])
    taken = scenario.make_schedule("* * * * *", inputs_rotation=rotation)
    free = scenario.make_schedule("* * * * *", inputs_rotation=rotation)
    take(scenario, taken, at(1))
    assert scenario.tick(at(2)) == 5
    assert inputs(scenario, taken) == {at(0): {"n": 0}, at(2): {"n": 1}}
    assert inputs(scenario, free) == {at(0): {"n": 0}, at(1): {"n": 1}, at(2): {"n": 2}}
    assert scenario.schedule(taken).last_rotation_index == 2
    assert scenario.skips(taken) == [("schedule_slot_exists", at(1))]
    assert scenario.skips(free) == []


def test_a_taken_slot_in_a_later_part_of_large_inputs(scenario: Scenario) -> None:
    """What the parts before it have inserted is judged once more, and is no run of before."""
    # Compressed: what it may take then is judged by the most that can be in it.
    dice = random.Random(1)
    large = json.dumps({"text": "".join(2 * dice.randbytes(500).hex() for _ in range(100))})
    schedules = sorted(scenario.make_schedule("0 9 * * *", inputs_template=large) for _ in range(8))
    size = (
        "select sum(d.inputs_bytes) from lenses.fn_evaluate_slots(array("
        "select row(s, %(at)s, %(at)s, false, null)::lenses.slot_candidate from unnest(%(ids)s) as s"
        "), %(at)s, 'tick') as d"
    )
    bytes_ = scenario.db.value(size, {"ids": schedules, "at": MONDAY})
    assert bytes_ > 2 * 16_777_216, "one part would do"
    take(scenario, schedules[-1], MONDAY)
    assert scenario.tick(MONDAY) == 7
    assert [len(scenario.runs(schedule)) for schedule in schedules] == [1] * 8
    assert [scenario.skips(schedule) for schedule in schedules] == [
        *([[]] * 7),
        [("schedule_slot_exists", MONDAY)],
    ]


def test_a_taken_slot_of_a_tenant_at_its_limit(scenario: Scenario) -> None:
    """The run that has the slot is the one that fills the limit."""
    limit = json.dumps({"max_pending_runs_per_lenser": 1})
    scenario.db.execute("select lenses.fn_set_dispatch_settings(%s)", [limit])
    schedule = scenario.make_schedule(None, schedule_type="once", run_at=MONDAY)
    take(scenario, schedule, MONDAY)
    assert scenario.tick(MONDAY) == 0
    assert scenario.skips(schedule) == [("schedule_slot_exists", MONDAY)]
    assert scenario.schedule(schedule).last_dispatch_status == "skipped_overlap"
    slots = "select run_at from lenses.schedule_slots where schedule_id = %s"
    assert scenario.db.column(slots, [schedule]) == [MONDAY]


def test_a_taken_slot_uses_no_battle(scenario: Scenario) -> None:
    """It is no reason of the budget either, though the other schedule has the last battle of the day."""
    agent = scenario.make_agent()
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, max_daily_battles) values (%s, 1)", [agent]
    )
    workflow = scenario.make_workflow(kind="battle")
    for _ in range(2):
        scenario.make_schedule("0 9 * * *", workflow_id=workflow, assignee_id=agent)
    free, taken = scenario.db.column(
        "select d.schedule_id from lenses.schedule_due as d order by d.due_at, d.ctid"
    )
    take(scenario, taken, MONDAY)
    assert scenario.tick(MONDAY) == 1
    assert scenario.slots(free) == [MONDAY]
    assert scenario.skips(taken) == [("schedule_slot_exists", MONDAY)]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_run_that_a_stale_snapshot_does_not_show_is_no_failure(
    committed: None, scenario: Scenario, level: str
) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    with (
        scenario.db.another() as one,
        scenario.db.another() as other,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute(f"begin isolation level {level}")
        with one.transaction():
            take(scenario, schedule, MONDAY, one)
            ticking = pool.submit(
                other.value, "select lenses.fn_dispatch_scheduled_workflows(%s)", [MONDAY]
            )
            wait_until_blocked(scenario.db, other)
        with pytest.raises(psycopg.errors.SerializationFailure):
            ticking.result(60)
        other.execute("rollback")
    assert scenario.schedule(schedule).failure_count == 0
    assert scenario.tick(MONDAY) == 0
    assert scenario.skips(schedule) == [("schedule_slot_exists", MONDAY)]


@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
@pytest.mark.parametrize("is_index", [True, False])
def test_what_something_else_refuses_fails_its_own_schedule_alone(
    committed: None, scenario: Scenario, level: str, is_index: bool
) -> None:
    """An index of an operator's, or a table of the same name elsewhere, is no run of the slot."""
    db = scenario.db
    bad, good = (
        scenario.make_schedule("0 9 * * *", workflow_id=scenario.make_workflow()) for _ in range(2)
    )
    if is_index:
        take(scenario, bad, at(-60))
        db.execute(
            "create unique index one_run on lenses.workflow_runs (schedule_id) "
            f"where schedule_id = '{bad}'"
        )
    else:
        db.execute(
            "create schema audit; create table audit.workflow_runs (schedule_id uuid unique); "
            f"insert into audit.workflow_runs values ('{bad}'); "
            "create function audit.note() returns trigger language plpgsql security definer as "
            "$$ begin insert into audit.workflow_runs values (new.schedule_id); return null; end $$; "
            "create trigger note after insert on lenses.workflow_runs for each row "
            "execute function audit.note()"
        )
    with db.another() as other:
        other.execute(f"set default_transaction_isolation = '{level}'")
        assert other.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [MONDAY]) == 1
    assert scenario.slots(good) == [MONDAY]
    assert scenario.schedule(bad).failure_count == 1


def test_a_row_that_something_else_refuses_is_inserted_no_oftener(scenario: Scenario) -> None:
    """A unique key of an operator's table is none of the runs', so nothing is looked for."""
    db = scenario.db
    schedules = sorted(scenario.make_schedule("0 9 * * *") for _ in range(16))
    db.execute("create table public.once (n integer unique); insert into public.once values (1)")
    counted = []
    for act in ("raise exception 'no'", "insert into public.once values (1)"):
        with db.transaction(force_rollback=True):
            db.execute(
                "create function public.refuse() returns trigger language plpgsql "
                f"security definer as $$ begin if new.schedule_id = '{schedules[5]}' then {act}; "
                "end if; return null; end $$"
            )
            db.execute(
                "create trigger refuse after insert on lenses.workflow_runs for each row "
                "execute function public.refuse()"
            )
            inserted = (
                "select n_tup_ins from pg_stat_xact_all_tables "
                "where relid = 'lenses.workflow_runs'::regclass"
            )
            before = db.value(inserted)
            assert scenario.tick(MONDAY) == 15
            counted.append(db.value(inserted) - before)
    assert counted[0] == counted[1] > 15
