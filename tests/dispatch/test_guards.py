"""Each guard: its reason, its status, what it leaves alone, and which of two comes first."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from tests.support.scenario import MONDAY, Scenario, at, minutes

CYCLE = {
    "nodes": [{"id": "a"}, {"id": "b"}],
    "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}],
}
NEVER = {"/prior_run_result/status": {"eq": "never"}}


def close_workflow(scenario: Scenario, schedule: Any) -> None:
    scenario.db.execute("update lenses.workflows set status = 'paused' where id = %s",
                     [scenario.workflow])  # fmt: skip


def add_calendar(scenario: Scenario, schedule: Any) -> None:
    scenario.set(schedule, calendar_id=scenario.make_calendar("skip_dates", "2027-03-01"))


def add_condition(scenario: Scenario, schedule: Any) -> None:
    scenario.set(schedule, pre_dispatch_condition=NEVER)


def lose_assignee(scenario: Scenario, schedule: Any) -> None:
    agent = scenario.make_agent()
    scenario.set(schedule, assignee_id=agent)
    scenario.db.execute("delete from agents.ai_lensers where id = %s", [agent])


def spend_budget(scenario: Scenario, schedule: Any) -> None:
    agent = scenario.make_agent()
    scenario.set(schedule, assignee_id=agent)
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 0)", [agent, scenario.tenant.id],
    )  # fmt: skip


def fill_flight(scenario: Scenario, schedule: Any) -> None:
    scenario.set(schedule, queue_policy={"mode": "serial"})
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, schedule_id, lenser_id, workflow_version, "
        "idempotency_key, status) values (%s, %s, %s, 1, gen_random_uuid(), 'pending')",
        [scenario.workflow, schedule, scenario.tenant.id],
    )


def make_cycle(scenario: Scenario, schedule: Any) -> None:
    scenario.db.execute("update lenses.workflows set definition = %s where id = %s",
                     [json.dumps(CYCLE), scenario.workflow])  # fmt: skip


def take_slot(scenario: Scenario, schedule: Any) -> None:
    scenario.db.execute(
        "insert into lenses.workflow_runs (id, workflow_id, schedule_id, lenser_id, scheduled_for, "
        "workflow_version, idempotency_key, trigger_mode, status) "
        "select substr(k, 1, 32)::uuid, %(w)s, %(s)s, %(l)s, %(at)s, 1, k, 'backfill', 'pending' "
        "from lenses.fn_slot_key(%(s)s, %(at)s) as k",
        {"w": scenario.workflow, "s": schedule, "l": scenario.tenant.id, "at": MONDAY},
    )


GUARDS = [
    (close_workflow, "workflow_not_active", "paused"),
    (add_calendar, "calendar", "skipped_calendar"),
    (add_condition, "condition_failed", "skipped_condition"),
    (lose_assignee, "assignee_missing", "validation_failed"),
    (spend_budget, "budget_exceeded", "budget_exceeded"),
    (fill_flight, "overlap_in_flight", "skipped_overlap"),
    (make_cycle, "cycle_detected", "validation_failed"),
    (take_slot, "schedule_slot_exists", "skipped_overlap"),
]
IDS = [guard[1] for guard in GUARDS]


@pytest.mark.parametrize(("shut", "reason", "status"), GUARDS, ids=IDS)
def test_a_guard_uses_the_slot_up_and_names_its_reason(
    scenario: Scenario, shut: Any, reason: str, status: str
) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    shut(scenario, schedule)
    before = len(scenario.runs(schedule))
    assert scenario.tick(MONDAY) == 0
    row = scenario.schedule(schedule)
    assert scenario.skips(schedule) == [(reason, MONDAY)]
    assert (row.last_dispatch_status, row.last_run_at) == (status, None)
    assert row.next_run_at == MONDAY + timedelta(days=1)
    assert len(scenario.runs(schedule)) == before
    assert (row.last_error_at == MONDAY) == (status == "validation_failed")


PAIRS = [(first, second) for first in range(len(GUARDS)) for second in range(first + 1, len(GUARDS))
         if {GUARDS[first][1], GUARDS[second][1]} != {"assignee_missing", "budget_exceeded"}]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"), PAIRS, ids=[f"{IDS[a]}-before-{IDS[b]}" for a, b in PAIRS]
)
def test_of_two_guards_the_earlier_names_the_reason(
    scenario: Scenario, first: int, second: int
) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    GUARDS[second][0](scenario, schedule)
    GUARDS[first][0](scenario, schedule)
    scenario.tick(MONDAY)
    assert scenario.skips(schedule) == [(GUARDS[first][1], MONDAY)]


def test_a_calendar_by_rule_lets_through_as_a_listed_one(scenario: Scenario) -> None:
    weekdays = "ca1e0da0-0000-4000-8000-000000000003"
    holidays = "ca1e0da0-0000-4000-8000-000000000001"
    working = scenario.make_schedule("0 9 * * *", calendar_id=weekdays)
    open_ = scenario.make_schedule("0 9 * * *", calendar_id=holidays)
    for day in range(365):
        scenario.tick(MONDAY + timedelta(days=day))
    assert [run.scheduled_for.weekday() < 5 for run in scenario.runs(working)] == [True] * 261
    closed = [slot.date().isoformat() for _, slot in scenario.skips(open_)]
    assert closed == [
        "2027-05-31", "2027-06-18", "2027-07-05", "2027-09-06", "2027-10-11", "2027-11-11",
        "2027-11-25", "2027-12-24", "2027-12-31", "2028-01-17", "2028-02-21",
    ]  # fmt: skip
    assert len(scenario.runs(open_)) == 365 - len(closed)


def test_a_calendar_takes_the_date_in_its_own_zone(scenario: Scenario) -> None:
    """09:00 UTC on the 1st is still the 28th in Honolulu and 22:00 of the 1st in Auckland."""
    cases = {"Pacific/Honolulu": "2027-02-28", "Pacific/Auckland": "2027-03-01"}
    for zone, date in cases.items():
        schedule = scenario.make_schedule(
            "0 9 * * *", calendar_id=scenario.make_calendar("skip_dates", date, timezone=zone)
        )
        scenario.tick(MONDAY)
        assert scenario.skips(schedule) == [("calendar", MONDAY)], zone


def test_only_dates_lets_nothing_else_pass(scenario: Scenario) -> None:
    calendar = scenario.make_calendar("only_dates", "2027-03-02")
    schedule = scenario.make_schedule("0 9 * * *", calendar_id=calendar)
    for day in range(3):
        scenario.tick(MONDAY + timedelta(days=day))
    assert scenario.slots(schedule) == [MONDAY + timedelta(days=1)]


def test_a_condition_that_raises_fails_closed(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *", pre_dispatch_condition=NEVER)
    scenario.db.execute(
        "create or replace function lenses.fn_condition_signal(p_schedule_id uuid) returns jsonb "
        "language plpgsql stable set search_path = pg_catalog, pg_temp as "
        "$$ begin raise exception 'the signal is down'; end $$"
    )
    other = scenario.make_schedule("0 9 * * *")
    assert scenario.tick(MONDAY) == 1
    row = scenario.schedule(schedule)
    assert row.last_dispatch_status == "condition_failed"
    assert "the signal is down" in row.last_error_message
    assert scenario.skips(schedule) == [("condition_failed", MONDAY)]
    assert scenario.slots(other) == [MONDAY]


def test_a_condition_sees_the_newest_run_by_any_trigger(scenario: Scenario) -> None:
    condition = {"/prior_run_result/status": {"eq": "good"}, "/last_24h_stats/total": {"lt": 9}}
    schedule = scenario.make_schedule("*/5 * * * *", pre_dispatch_condition=condition)
    scenario.tick(at(0))
    assert scenario.skips(schedule) == [("condition_failed", at(0))]
    scenario.db.execute(
        "insert into lenses.workflow_runs (workflow_id, lenser_id, workflow_version, "
        "idempotency_key, status, needs_approval, metadata, created_at) "
        "values (%s, %s, 1, 'by hand', 'completed', false, %s, %s)",
        [scenario.workflow, scenario.tenant.id, '{"result": {"status": "good"}}', at(3)],
    )
    scenario.tick(at(5))
    assert scenario.slots(schedule) == minutes(5)


def test_a_budget_of_battles_holds_within_one_tick(scenario: Scenario) -> None:
    """Five schedules of one agent are due together, three battles a day are allowed."""
    agent = scenario.make_agent()
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, max_daily_battles) values (%s, %s, 3)",
        [agent, scenario.tenant.id],
    )
    arena = scenario.make_workflow(kind="battle")
    schedules = [
        scenario.make_schedule("0 9 * * *", workflow_id=arena, assignee_id=agent) for _ in range(5)
    ]
    assert scenario.tick(MONDAY) == 3
    skipped = [s for s in schedules if scenario.skips(s) == [("budget_exceeded", MONDAY)]]
    assert len(skipped) == 2
    assert scenario.tick(MONDAY + timedelta(days=1)) == 3


def test_a_team_is_over_when_a_member_is(scenario: Scenario) -> None:
    agent = scenario.make_agent()
    team = scenario.db.value(
        "insert into agents.teams (lenser_id) values (%s) returning id", [scenario.tenant.id]
    )
    scenario.db.execute("insert into agents.team_members (team_id, ai_lenser_id, lenser_id) "
                     "values (%s, %s, %s)", [team, agent, scenario.tenant.id])  # fmt: skip
    schedule = scenario.make_schedule("*/5 * * * *", assignee_type="team", assignee_id=team)
    assert scenario.tick(at(0)) == 1
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 0)", [agent, scenario.tenant.id],
    )  # fmt: skip
    assert scenario.tick(at(5)) == 0
    assert scenario.skips(schedule) == [("budget_exceeded", at(5))]


def test_a_run_carries_the_limit_of_its_agent(scenario: Scenario) -> None:
    agent = scenario.make_agent()
    scenario.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 12.5)", [agent, scenario.tenant.id],
    )  # fmt: skip
    schedule = scenario.make_schedule("*/5 * * * *", assignee_id=agent)
    scenario.tick(MONDAY)
    run = scenario.runs(schedule)[0]
    assert run.ai_lenser_id == agent
    assert run.policies["limits"] == {"spending_limit_credits": 12.5}


def test_a_gate_of_the_workflow_asks_for_approval(scenario: Scenario) -> None:
    definition = {"nodes": [{"id": "a", "action": "publish"}], "edges": []}
    scenario.db.execute("update lenses.workflows set definition = %s where id = %s",
                     [json.dumps(definition), scenario.workflow])  # fmt: skip
    open_ = scenario.make_schedule(
        "0 9 * * *", approval_policy={"requiresApproval": False, "gates": ["spend"]}
    )
    shut = scenario.make_schedule(
        "0 9 * * *", approval_policy={"requiresApproval": False, "gates": ["spend", "publish"]}
    )
    assert scenario.tick(MONDAY) == 2
    assert scenario.runs(open_)[0].status == "pending"
    assert scenario.runs(shut)[0].status == "pending_approval"
