"""Slots that have a run already, among others of one batch: the tick meets it in the middle of its insert."""

from __future__ import annotations

import json
import random
from datetime import datetime
from typing import Any
from uuid import UUID

from tests.support.scenario import MONDAY, Scenario, at


def take(scenario: Scenario, schedule: UUID, slot: datetime) -> UUID:
    """A run of the slot by hand, as service_role writes one."""
    return scenario.db.value(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, scheduled_for, trigger_mode) "
        "select s.workflow_id, s.id, %s, 'backfill' from lenses.workflow_schedules as s "
        "where s.id = %s returning id",
        [slot, schedule],
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
