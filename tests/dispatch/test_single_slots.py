"""A schedule with one slot: on time, missed, paused, edited, resumed, with jitter and a window."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.support.scenario import MONDAY, Scenario, at


def once(scenario: Scenario, **columns: Any) -> Any:
    return scenario.make_schedule(None, run_at=MONDAY, next_run_at=None, **columns)


def row(scenario: Scenario, schedule: Any) -> Any:
    return scenario.db.row("select * from lenses.workflow_schedules where id = %s", [schedule])


def test_it_fires_once_and_is_finished(scenario: Scenario) -> None:
    schedule = once(scenario)
    assert row(scenario, schedule).schedule_type == "once"
    assert row(scenario, schedule).next_run_at == MONDAY
    scenario.play(MONDAY - timedelta(minutes=2), MONDAY + timedelta(minutes=5))
    assert scenario.slots(schedule) == [MONDAY]
    assert (row(scenario, schedule).next_run_at, row(scenario, schedule).due_at) == (None, None)
    assert scenario.db.value("select count(*) from lenses.fn_invariant_violations()") == 0
    scenario.play(MONDAY + timedelta(days=400), MONDAY + timedelta(days=400, minutes=2))
    assert scenario.slots(schedule) == [MONDAY]


def test_run_at_is_cut_to_the_minute(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(None, run_at=MONDAY + timedelta(seconds=42), next_run_at=None)
    assert row(scenario, schedule).run_at == MONDAY


@pytest.mark.parametrize(
    ("on_missed", "runs"), [("skip", 0), ("run_once", 1), ("backfill", 1), ("spread", 1)]
)
def test_a_missed_slot_is_what_on_missed_says(
    scenario: Scenario, on_missed: str, runs: int
) -> None:
    schedule = once(scenario, queue_policy=f'{{"mode":"parallel","onMissed":"{on_missed}"}}')
    scenario.tick(MONDAY + timedelta(hours=3))
    assert len(scenario.slots(schedule)) == runs
    assert row(scenario, schedule).next_run_at is None


def test_jitter_and_window(scenario: Scenario) -> None:
    outside = once(scenario, end_at=MONDAY - timedelta(minutes=1))
    assert row(scenario, outside).next_run_at is None
    jittered = once(scenario, jitter_ms=600_000)
    scenario.play(MONDAY - timedelta(minutes=12), MONDAY + timedelta(minutes=12))
    assert scenario.slots(jittered) == [MONDAY]


def test_an_edit_gives_it_another_slot(scenario: Scenario) -> None:
    schedule = once(scenario)
    scenario.tick(MONDAY)
    scenario.set(schedule, run_at=at(60))
    assert row(scenario, schedule).next_run_at == at(60)
    scenario.tick(at(60))
    assert scenario.slots(schedule) == [MONDAY, at(60)]


def test_a_pause_keeps_it_and_a_resume_by_run_once_runs_it(scenario: Scenario) -> None:
    schedule = once(scenario)
    scenario.db.execute(
        "update lenses.workflow_schedules set is_active = false, paused_at = %s, paused_until = %s where id = %s",
        [MONDAY - timedelta(minutes=5), at(30), schedule],
    )
    scenario.tick(MONDAY)
    assert scenario.slots(schedule) == []
    scenario.set(schedule, queue_policy='{"mode":"parallel","onMissed":"run_once"}')
    scenario.tick(at(30))
    assert scenario.slots(schedule) == [MONDAY]


BAD = [
    ({"run_at": MONDAY, "cron_expr": "0 9 * * *", "schedule_type": "once"}, "takes run_at and no cron_expr"),
    ({"schedule_type": "once"}, "takes run_at"),
    ({"run_at": MONDAY, "schedule_type": "cron", "cron_expr": "0 9 * * *"}, "takes cron_expr and no interval_ms or run_at"),
    ({"run_at": MONDAY, "schedule_type": "interval", "interval_ms": 300_000}, "takes interval_ms and no cron_expr or run_at"),
    ({"run_at": "infinity"}, "an instant of the years 1970 to 9999"),
    ({"run_at": "20000-01-01"}, "an instant of the years 1970 to 9999"),
    ({"run_at": MONDAY, "on_holiday": "after"}, 'on_holiday "after" does not go with'),
    ({"interval_ms": 300_000, "on_holiday": "before"}, 'on_holiday "before" does not go with'),
    ({"cron_expr": "*/10 * * * *", "on_holiday": "after"}, "at most 96 slots a day"),
    ({"cron_expr": "0 9 * * *", "on_holiday": "never"}, 'on_holiday "never" is not known'),
    ({"cron_expr": "0 9 * * *", "name": "two\nlines"}, "on one line"),
    ({"cron_expr": "0 9 * * *", "name": ""}, "1 to 200 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), BAD, ids=[str(n) for n in range(len(BAD))])
def test_what_makes_no_sense_is_refused(
    scenario: Scenario, columns: dict[str, Any], words: str
) -> None:
    cron = columns.get("cron_expr")
    rest = {k: v for k, v in columns.items() if k != "cron_expr"}
    with pytest.raises(psycopg.errors.InvalidParameterValue) as error:
        scenario.make_schedule(cron, next_run_at=None, **rest)
    assert words in str(error.value)
    assert error.value.diag.message_hint


def test_the_detail_names_all_that_was_given(scenario: Scenario) -> None:
    for kind in ("cron", "interval", "once"):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as error:
            scenario.make_schedule(
                None, next_run_at=None, schedule_type=kind, interval_ms=300_000, run_at=MONDAY
            )
        detail = error.value.diag.message_detail or ""
        assert detail.startswith("cron_expr is NULL, interval_ms is 300000, run_at is 2027-03-01 ")


def test_names_are_unique_within_the_tenant(scenario: Scenario) -> None:
    scenario.make_schedule("0 9 * * *", name="morning")
    with pytest.raises(psycopg.errors.UniqueViolation, match='schedule named "morning" already'):
        scenario.make_schedule("0 10 * * *", name="morning")
