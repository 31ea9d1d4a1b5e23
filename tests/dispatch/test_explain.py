"""Why a schedule fires, fired or does not: the explanation agrees with the rule and with the ledger."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.support.scenario import MONDAY, Scenario

US = "ca1e0da0-0000-4000-8000-000000000001"


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def explain(scenario: Scenario, schedule: Any, when: datetime) -> dict[str, Any]:
    return scenario.db.value("select lenses.fn_explain_schedule(%s, %s)", [schedule, when])


def unmet(told: dict[str, Any]) -> list[str]:
    return [f["field"] for f in told["rule"]["fields"] if not f["is_met"]]


def test_each_field_is_told(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * 1-5", timezone="America/New_York")
    told = explain(scenario, schedule, at("2027-03-06 13:30"))  # Saturday, 08:30
    assert told["verdict"] == "no_slot"
    assert unmet(told) == ["minute", "hour", "day of week"]
    assert told["because"] == (
        "minute wants 0, it is 30; hour wants 9, it is 8; day of week wants 1-5, it is Saturday"
    )
    assert told["rule"]["wall_time"] == "Sat 2027-03-06 08:30"
    assert told["slot_before"] == "2027-03-05T14:00:00+00:00"
    assert told["slot_after"] == "2027-03-08T14:00:00+00:00"


@pytest.mark.parametrize(
    ("expr", "when", "fields"),
    [
        ("0 9 L * *", "2027-03-31 09:00", []),
        ("0 9 L * *", "2027-03-30 09:00", ["day of month"]),
        ("0 9 * * FRIL", "2027-03-26 09:00", []),
        ("0 9 * * FRIL", "2027-03-19 09:00", ["day of week"]),
        ("0 9 15W * *", "2027-05-14 09:00", []),
        ("0 9 13 * 5", "2027-03-05 09:00", ["day of month"]),
    ],
)
def test_day_items_and_the_or_of_the_day_fields(
    scenario: Scenario, expr: str, when: str, fields: list[str]
) -> None:
    told = explain(scenario, scenario.make_schedule(expr), at(when))
    assert unmet(told) == fields
    assert told["rule"]["is_slot"] is (not fields or expr == "0 9 13 * 5")
    joined = "or" if expr == "0 9 13 * 5" else "and"
    assert told["rule"]["days_joined_by"] == joined


def test_a_day_field_that_the_other_makes_good_is_no_reason(scenario: Scenario) -> None:
    told = explain(scenario, scenario.make_schedule("0 9 13 * 5"), at("2027-03-05 10:00"))
    assert told["because"] == "hour wants 9, it is 10"


def test_why_not_on_thanksgiving(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("30 8 * * *", timezone="America/New_York", calendar_id=US)
    slot = at("2027-11-25 13:30")
    scenario.set(schedule, next_run_at=slot)
    told = explain(scenario, schedule, slot)
    assert told["verdict"] == "would_skip"
    assert "calendar (us-federal-holidays names Thu 2027-11-25)" in told["because"]
    scenario.tick(slot)
    told = explain(scenario, schedule, slot)
    assert (told["verdict"], told["ledger"]["reason"]) == ("skipped", "calendar")
    assert "us-federal-holidays names Thu 2027-11-25" in told["because"]


def test_a_change_of_the_clock_is_told(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("30 2 * * *", timezone="America/New_York")
    told = explain(scenario, schedule, at("2027-03-14 07:00"))  # 03:00, right after the gap
    assert told["rule"]["is_slot"]
    assert told["clock_change"] == {
        "at": "2027-03-14T07:00:00+00:00", "kind": "forward", "minutes": 60,
        "wall_before": "01:59", "wall_after": "03:00",
    }  # fmt: skip
    assert explain(scenario, schedule, at("2027-03-20 06:30"))["clock_change"] is None


def test_window_pause_and_end(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *", end_at=MONDAY + timedelta(days=3))
    assert explain(scenario, schedule, MONDAY + timedelta(days=4))["verdict"] == "outside_window"
    assert explain(scenario, schedule, MONDAY)["verdict"] == "fires"
    scenario.set(schedule, is_active=False)
    assert explain(scenario, schedule, MONDAY)["verdict"] == "disabled"
    scenario.set(schedule, paused_at=MONDAY, pause_note="closing")
    told = explain(scenario, schedule, MONDAY)
    assert told["verdict"] == "paused"
    assert told["because"].endswith(": closing")


def test_every_guard_is_asked(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    guards = {g["guard"]: g for g in explain(scenario, schedule, MONDAY)["guards"]}
    assert list(guards) == [
        "workflow", "calendar", "condition", "assignee", "budget", "overlap", "graph", "slot", "quota",
    ]  # fmt: skip
    assert all(g["is_met"] for g in guards.values())
    scenario.set(
        schedule, queue_policy='{"mode":"serial"}', pre_dispatch_condition='{"/x":{"eq":1}}'
    )
    scenario.db.execute("update lenses.workflows set status = 'paused'")
    told = explain(scenario, schedule, MONDAY)
    assert [g["guard"] for g in told["guards"] if not g["is_met"]] == ["workflow", "condition"]
    assert told["because"].startswith("the slot would be skipped now: workflow_not_active")


def test_an_interval_and_bad_input(scenario: Scenario) -> None:
    schedule = scenario.make_schedule(None, interval_ms=3_600_000, start_at=MONDAY)
    assert explain(scenario, schedule, MONDAY + timedelta(hours=5))["verdict"] == "fires"
    assert explain(scenario, schedule, MONDAY + timedelta(minutes=5))["verdict"] == "no_slot"
    for when in ("infinity", "1969-12-31 00:00+00", "20000-01-01 00:00+00"):
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="1970 to 9999"):
            scenario.db.execute(
                "select lenses.fn_explain_schedule(%s, %s::timestamptz)", [schedule, when]
            )


def test_agrees_with_the_ledger_of_a_month(scenario: Scenario) -> None:
    """Random schedules over 31 days, ticks with gaps: each slot's verdict is what was recorded."""
    source = random.Random(7)
    schedules = [
        scenario.make_schedule("0 */6 * * *", calendar_id=US),
        scenario.make_schedule("15 9 * * 1-5", timezone="Europe/Berlin"),
        scenario.make_schedule("30 12 */3 * *", queue_policy='{"mode":"serial"}'),
        scenario.make_schedule(
            "45 3 L,15W * *", queue_policy='{"mode":"parallel","onMissed":"run_once"}'
        ),
        scenario.make_schedule(None, interval_ms=7 * 3_600_000, start_at=MONDAY),
    ]
    now = MONDAY
    while now < MONDAY + timedelta(days=31):
        scenario.tick(now)
        now += timedelta(minutes=source.choice([15, 15, 15, 15, 15, 120, 600]))
    rows = scenario.db.rows(
        "select l.schedule_id, l.run_at, l.run_id, l.status, replace(r.status, '_', ' ') as run "
        "from lenses.schedule_slots as l left join lenses.workflow_runs as r on r.id = l.run_id"
    )
    assert {r.schedule_id for r in rows} == set(schedules)
    for row in rows:
        told = explain(scenario, row.schedule_id, row.run_at)
        assert told["rule"]["is_slot"]
        assert told["verdict"] == ("fired" if row.run_id else "skipped")
        assert told["ledger"].get("run_id") == (str(row.run_id) if row.run_id else None)
        if row.run_id:
            assert told["because"] == f"the slot was dispatched; its run: {row.run}"


def lint(scenario: Scenario, schedule: Any) -> dict[str, str]:
    return {
        row.code: row.severity
        for row in scenario.db.rows("select * from lenses.fn_lint_schedule(%s)", [schedule])
    }


LINTS = [
    ({"cron": "30 9 * * 1-5"}, {}),
    ({"cron": "*/7 * * * *"}, {"uneven_step": "warning"}),
    ({"cron": "0 */5 * * *"}, {"uneven_step": "warning"}),
    ({"cron": "*/30 * * * *"}, {}),
    ({"cron": "3/7 * * * *"}, {"uneven_step": "warning"}),
    ({"cron": "0 0 */2 * *"}, {"uneven_step": "warning"}),
    ({"cron": "0 9 13 * 5"}, {"either_day": "warning"}),
    ({"cron": "0 9 L * MON#1"}, {"either_day": "warning"}),
    ({"cron": "0 9 29 2 *"}, {"rare": "warning"}),
    ({"cron": "30 2 * * *", "timezone": "America/New_York"}, {"clock_change": "info"}),
    ({"cron": "*/30 * * * *", "timezone": "America/New_York"}, {"clock_change": "warning"}),
    ({"cron": "30 9 * * *", "timezone": "America/New_York"}, {}),
    ({"cron": "0 * * * *", "jitter_ms": 7_200_000}, {"jitter_exceeds_distance": "warning"}),
    ({"cron": None, "interval_ms": 300_000, "jitter_ms": 600_000}, {"jitter_exceeds_distance": "warning"}),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "codes"), LINTS, ids=[str(n) for n in range(len(LINTS))])
def test_lint(scenario: Scenario, columns: dict[str, Any], codes: dict[str, str]) -> None:
    cron = columns.pop("cron") if "cron" in columns else None
    assert lint(scenario, scenario.make_schedule(cron, **columns)) == codes
    columns["cron"] = cron


def test_lint_tells_of_both_changes_of_the_clock(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/15 * * * *", timezone="Europe/Berlin")
    found = scenario.db.column(
        "select message from lenses.fn_lint_schedule(%s) where code = 'clock_change'", [schedule]
    )
    assert ["lost" in message for message in found] == [True, False]
    assert "come twice" in found[1]


def test_a_slot_that_has_moved_away_is_told(scenario: Scenario) -> None:
    calendar = scenario.make_calendar("skip_dates", "2027-03-06", "2027-03-07")
    schedule = scenario.make_schedule("0 9 * * 6", calendar_id=calendar, on_holiday="after")
    told = explain(scenario, schedule, at("2027-03-06 09:00"))
    assert (told["verdict"], told["moved_to"]) == ("moved", "2027-03-08T09:00:00+00:00")
    assert told["because"].endswith("so the slot moves to Mon 2027-03-08 09:00")
    there = explain(scenario, schedule, at("2027-03-08 09:00"))
    assert there["moved_from"] == ["2027-03-06T09:00:00+00:00"]


def test_lint_of_a_calendar_that_ends(scenario: Scenario) -> None:
    only = scenario.make_calendar("only_dates", "2020-01-01")
    skip = scenario.make_calendar("skip_dates", "2020-01-02")
    found = [
        lint(scenario, scenario.make_schedule("30 9 * * *", calendar_id=c))
        for c in (only, skip, US)
    ]
    assert found == [{"calendar_ends": "error"}, {"calendar_ends": "warning"}, {}]


def test_lint_of_a_crowded_minute(scenario: Scenario) -> None:
    crowd = [scenario.make_schedule("0 9 * * *") for _ in range(10)]
    spread = scenario.make_schedule("0 9 * * *", jitter_ms=60_000)
    assert lint(scenario, crowd[0]) == {"crowded_minute": "warning"}
    assert lint(scenario, spread) == {}


def test_lint_of_a_limit_that_is_always_met(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("*/10 * * * *", queue_policy='{"mode":"serial"}')
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, lenser_id, workflow_version, schedule_id, "
        "idempotency_key, status, started_at, completed_at) "
        "select s.workflow_id, s.lenser_id, 1, s.id, 'manual:' || n, 'completed', "
        "now() - interval '30 minutes', now() from lenses.workflow_schedules as s, "
        "generate_series(1, 3) as n where s.id = %s",
        [schedule],
    )
    assert lint(scenario, schedule) == {"limit_always_met": "warning"}
