"""A tick as a whole: limits, figures, order, freeze, the driver's entry."""

from __future__ import annotations

import contextlib
import itertools
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from tests.support.scenario import MONDAY, Scenario, at, minutes


def ticks(scenario: Scenario) -> list[object]:
    return scenario.db.rows("select * from lenses.dispatch_ticks order by id")


def test_a_further_call_at_the_same_instant_does_nothing(scenario: Scenario) -> None:
    scenario.make_schedule("* * * * *")
    assert [scenario.tick(MONDAY) for _ in range(3)] == [1, 0, 0]


def test_a_daily_schedule_fires_once_and_not_every_minute(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *")
    assert scenario.play(at(0), at(120)) == 1
    assert scenario.schedule(schedule).next_run_at == MONDAY + timedelta(days=1)


def test_p_limit_counts_schedules(scenario: Scenario) -> None:
    for _ in range(5):
        scenario.make_schedule("0 9 * * *")
    assert [scenario.tick(MONDAY, limit=2) for _ in range(4)] == [2, 2, 1, 0]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_is_not_positive_is_refused(scenario: Scenario, limit: int) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=str(limit)):
        scenario.tick(MONDAY, limit=limit)
    assert ticks(scenario) == []


def test_a_tick_writes_its_figures(scenario: Scenario) -> None:
    scenario.make_schedule("0 9 * * *")
    scenario.make_schedule("* * * * *")
    shut = scenario.make_schedule(
        "0 9 * * *", calendar_id=scenario.make_calendar("skip_dates", "2027-03-01")
    )
    scenario.tick(at(0) + timedelta(seconds=3))
    [tick] = ticks(scenario)
    assert (tick.due, tick.dispatched, tick.deferred, tick.failed) == (3, 2, 0, 0)
    assert tick.skipped == {"calendar": 1}
    assert tick.lag == {"buckets": {"5000": 2}, "count": 2, "sum": 6000}
    assert tick.started_at == tick.finished_at == at(0) + timedelta(seconds=3)
    assert scenario.skips(shut) == [("calendar", MONDAY)]


def test_every_time_that_a_tick_writes_is_its_own(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("0 9 * * *", approval_policy={"requiresApproval": True})
    now = at(1)
    scenario.tick(now)
    run = scenario.runs(schedule)[0]
    assert run.status == "pending_approval"
    row = scenario.schedule(schedule)
    written = [
        run.created_at,
        row.last_run_at,
        *scenario.db.column("select occurred_at from lenses.workflow_run_events"),
        *scenario.db.column("select occurred_at from agents.agent_run_events"),
        *scenario.db.column("select occurred_at from agents.action_logs"),
        *scenario.db.column("select created_at from agents.team_runs"),
    ]
    assert len(written) == 6
    assert set(written) == {now}


def test_what_a_dispatch_writes(scenario: Scenario) -> None:
    agent = scenario.make_agent()
    schedule = scenario.make_schedule(
        "0 9 * * *", assignee_id=agent, inputs_template={"topic": "sales"}, global_model_id="m1",
        queue_policy={"mode": "parallel", "priority": 7},
    )  # fmt: skip
    scenario.tick(MONDAY)
    run = scenario.runs(schedule)[0]
    key = scenario.db.value(
        "select encode(sha256(convert_to(%s::text || ':' || %s, 'UTF8')), 'hex')",
        [schedule, int(MONDAY.timestamp())],
    )
    assert run.idempotency_key == key
    assert run.id.hex == key[:32]
    assert (run.trigger_mode, run.triggered_by) == ("schedule", str(schedule))
    assert (run.status, run.priority, run.attempt, run.available_at) == ("pending", 7, 0, None)
    assert (run.context_inputs, run.global_model_id) == ({"topic": "sales"}, "m1")
    assert (run.ai_lenser_id, run.workflow_version) == (agent, 1)
    assert set(run.policies) == {
        "approval_policy", "retry_policy", "failure_policy", "queue_policy", "limits",
    }  # fmt: skip
    row = scenario.schedule(schedule)
    assert (row.last_run_id, row.last_dispatch_status) == (run.id, "dispatched")
    [event] = scenario.db.rows("select * from lenses.workflow_run_events")
    assert (event.run_id, event.seq) == (run.id, 1)
    [log] = scenario.db.rows(
        "select * from agents.action_logs where action_type = 'dispatch_schedule'"
    )
    assert log.payload == {"run_id": str(run.id), "scheduled_for": "2027-03-01T09:00:00+00:00"}


def test_the_pinned_version_is_dispatched(scenario: Scenario) -> None:
    pinned = scenario.make_schedule("0 9 * * *", workflow_version=1)
    newest = scenario.make_schedule("0 9 * * *")
    scenario.db.execute("update lenses.workflows set definition = %s where id = %s",
                     ['{"nodes": [{"id": "x"}], "edges": []}', scenario.workflow])  # fmt: skip
    scenario.tick(MONDAY)
    assert scenario.runs(pinned)[0].workflow_version == 1
    assert scenario.runs(newest)[0].workflow_version == 2


def test_one_backlog_delays_no_other_tenants_slot(scenario: Scenario) -> None:
    policy = {"mode": "parallel", "onMissed": "backfill", "maxBackfill": 1_000_000}
    backlog = scenario.make_schedule(
        "* * * * *", queue_policy=policy, start_at=MONDAY - timedelta(days=7)
    )
    on_time = [scenario.make_schedule("0 9 * * *") for _ in range(50)]
    assert scenario.tick(MONDAY, limit=50) == 50
    assert all(scenario.slots(schedule) == [MONDAY] for schedule in on_time)
    assert scenario.slots(backlog) == []
    assert scenario.tick(MONDAY) == 100


def test_a_frozen_dispatcher_does_nothing_at_all(scenario: Scenario, committed: None) -> None:
    schedule = scenario.make_schedule("*/5 * * * *")
    scenario.db.execute("select lenses.fn_freeze_dispatch('maintenance')")
    assert scenario.play(at(0), at(20)) == 0
    assert ticks(scenario) == []
    scenario.db.execute("call lenses.sp_dispatch_tick()")
    assert ticks(scenario) == []
    scenario.db.execute("select lenses.fn_unfreeze_dispatch()")
    assert scenario.tick(at(21)) == 1
    assert scenario.missed(schedule) == [(4, at(0), at(15))]


def test_the_drivers_entry_works_in_batches_and_writes_one_row(
    scenario: Scenario, committed: None
) -> None:
    now = scenario.db.value("select date_trunc('minute', now())")
    schedules = [scenario.make_schedule("* * * * *", next_run_at=now) for _ in range(7)]
    scenario.db.execute("select lenses.fn_set_dispatch_settings('{\"batch_size\": 2}')")
    scenario.db.execute("call lenses.sp_dispatch_tick()")
    [tick] = ticks(scenario)
    assert (tick.due, tick.note) == (7, None)
    assert tick.started_at < tick.finished_at
    assert all(len(scenario.slots(schedule)) >= 1 for schedule in schedules)


def test_only_the_ticks_own_row_does_not_wait_for_the_disk(
    scenario: Scenario, committed: None
) -> None:
    """What a crash may take is a tick that had nothing to do, never a run."""
    now = scenario.db.value("select date_trunc('minute', now())")
    scenario.make_schedule("* * * * *", next_run_at=now)
    scenario.db.execute(
        """
        create table public.commits (about text, mode text);
        grant insert on public.commits to public;
        create function public.fn_note_commit() returns trigger language plpgsql as $$
        begin
          insert into public.commits values (tg_table_name, current_setting('synchronous_commit'));
          return null;
        end $$;
        create trigger note after insert on lenses.workflow_runs
          for each statement execute function public.fn_note_commit();
        create trigger note after insert or update of finished_at on lenses.dispatch_ticks
          for each statement execute function public.fn_note_commit();
        """
    )
    scenario.db.execute("set synchronous_commit = on")
    scenario.db.execute("call lenses.sp_dispatch_tick()")
    found = scenario.db.rows("select about, mode, count(*) as n from public.commits group by 1, 2")
    modes = {(row.about, row.mode) for row in found}
    assert ("workflow_runs", "on") in modes
    assert ("workflow_runs", "off") not in modes
    assert {mode for about, mode in modes if about == "dispatch_ticks"} == {"off"}


def test_the_drivers_entry_keeps_what_it_did_before_an_error(
    scenario: Scenario, committed: None
) -> None:
    """The second batch meets an error of the server's own: the first stays, the tick says why."""
    now = scenario.db.value("select date_trunc('minute', now())")
    first = scenario.make_schedule("0 0 1 1 *", next_run_at=now - timedelta(seconds=1))
    second = scenario.make_schedule("0 0 1 1 *", next_run_at=now)
    scenario.db.execute("select lenses.fn_set_dispatch_settings('{\"batch_size\": 1}')")
    scenario.db.execute(
        "create function public.full() returns trigger language plpgsql as $$ begin "
        f"if new.schedule_id = '{second}' then raise exception 'disk full' using errcode = '53100'; "
        "end if; return new; end $$"
    )
    scenario.db.execute(
        "create trigger full_disk before insert on lenses.workflow_runs "
        "for each row execute function public.full()"
    )
    scenario.db.execute("call lenses.sp_dispatch_tick()")
    assert len(scenario.slots(first)) == 1
    assert scenario.slots(second) == []
    [tick] = ticks(scenario)
    assert "53100" in tick.note and tick.finished_at is not None
    assert scenario.schedule(second).failure_count == 0
    scenario.db.execute("drop trigger full_disk on lenses.workflow_runs")
    scenario.db.execute("call lenses.sp_dispatch_tick()")
    assert scenario.slots(second) == [now]


@pytest.mark.parametrize("timeout", [50, 200, 1000])
def test_progress_under_a_statement_timeout(
    scenario: Scenario, timeout: int, committed: None
) -> None:
    now = scenario.db.value("select date_trunc('minute', now())")
    scenario.db.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, next_run_at) "
        "select %s, '0 0 1 1 *', %s from generate_series(1, 300)", [scenario.workflow, now],
    )  # fmt: skip
    left = [300]
    with scenario.db.another() as other:
        other.execute(f"set statement_timeout = {timeout}")
        while left[-1] > 0 and len(left) < 100:
            with contextlib.suppress(psycopg.errors.QueryCanceled):
                other.execute("call lenses.sp_dispatch_tick()")
            left.append(
                scenario.db.value("select count(*) from lenses.schedule_due where due_at <= now()")
            )
    assert left[-1] == 0
    assert all(later <= earlier for earlier, later in itertools.pairwise(left))
    assert scenario.db.value("select count(*) from lenses.workflow_runs") == 300
    assert scenario.db.value("select max(failure_count) from lenses.workflow_schedules") == 0


def test_session_settings_move_no_slot(scenario: Scenario) -> None:
    schedule = scenario.make_schedule("30 2 * * *", timezone="America/New_York",
                                   start_at=MONDAY, inputs_template={})  # fmt: skip
    epochs = []
    for zone, style in [("UTC", "ISO, YMD"), ("Asia/Kathmandu", "German"),
                        ("America/New_York", "SQL, DMY"), ("Pacific/Apia", "Postgres, MDY")]:  # fmt: skip
        scenario.db.execute(f"set timezone = '{zone}'")
        scenario.db.execute(f"set datestyle = '{style}'")
        scenario.db.execute("set intervalstyle = 'sql_standard'")
        epochs.append(
            scenario.db.value(
                "select extract(epoch from next_run_at)::bigint from lenses.workflow_schedules"
            )
        )
        scenario.db.execute(
            "select lenses.fn_dispatch_scheduled_workflows(next_run_at) "
            "from lenses.workflow_schedules"
        )
    scenario.db.execute("reset timezone")
    scenario.db.execute("reset datestyle")
    slots = [datetime.fromtimestamp(epoch, UTC) for epoch in epochs]
    # New York changes its clocks on 14 March 2027; the first four nights are before that.
    assert slots == [MONDAY + timedelta(days=n, hours=22.5) for n in range(4)]
    assert scenario.slots(schedule) == slots
    logged = scenario.db.column(
        "select payload ->> 'scheduled_for' from agents.action_logs order by id"
    )
    assert logged == [slot.strftime("%Y-%m-%dT%H:%M:%S+00:00") for slot in slots]


def test_exhausted_schedules_disturb_nobody(scenario: Scenario) -> None:
    ended = scenario.make_schedule("0 9 * * *", start_at=MONDAY, end_at=MONDAY)
    leap = scenario.make_schedule("0 9 29 2 *")
    shut = scenario.make_schedule(
        "0 9 * * *", calendar_id=scenario.make_calendar("only_dates", "2020-01-01")
    )
    normal = [scenario.make_schedule("0 9 * * *") for _ in range(20)]
    assert scenario.tick(MONDAY) == 21
    assert scenario.schedule(ended).next_run_at is None
    assert scenario.schedule(leap).next_run_at.year == 2028
    assert scenario.skips(shut) == [("calendar", MONDAY)]
    assert all(scenario.slots(s) == minutes(0) for s in normal)
