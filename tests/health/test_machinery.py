"""What can be off with the machinery, each produced in the tables as it would be, each recognised."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from tests.health.conftest import Health
from tests.support.command import Command
from tests.support.database import Database, Tenant, wait_until
from tests.support.processes import running
from tests.support.work import due_in, make_schedule, make_workflow, run_now, unguarded

Tick = Callable[[], None]


def test_a_worker_that_ticks_is_well(db: Database, health: Health) -> None:
    with running(db.dsn, "worker") as worker:
        worker.says("leading")
        leading = "select count(*) from lenses.worker_heartbeats where is_leader"
        wait_until(lambda: db.value(leading))
        lines = health(code=0)
        assert "worker: ok" in lines.text
        assert "by worker; leader" in lines.check("worker")["detail"]
        assert {row["state"] for row in lines.rows} <= {"ok", "warn"}
        assert worker.stop() == 0


def test_nothing_has_ever_ticked(db: Database, health: Health) -> None:
    line = health(code=1).check("worker")
    assert (line["state"], line["label"]) == ("bad", "silent")
    assert "lf-sql worker" in line["advice"]


def test_no_tick_for_three_minutes(db: Database, health: Health, ticking: Tick) -> None:
    assert health("--server", code=0).check("last tick")["state"] == "ok"
    db.execute(
        "update lenses.dispatch_ticks set started_at = started_at - interval '5 minutes', "
        "finished_at = finished_at - interval '5 minutes'"
    )
    lines = health("--server", code=1)
    assert lines.check("worker")["label"] == "silent"
    assert "5 min ago" in lines.check("worker")["detail"]
    assert "lf-sql worker" in lines.check("worker")["advice"]
    assert lines.check("last tick")["label"] == "old"


def test_a_tick_from_the_future(db: Database, health: Health, ticking: Tick) -> None:
    db.execute("update lenses.dispatch_ticks set started_at = started_at + interval '8 hours'")
    line = health(code=1).check("worker")
    assert line["label"] == "clock"
    assert "8 h" in line["detail"] or "7 h" in line["detail"]


def test_a_clock_that_was_ahead_for_a_while(db: Database, health: Health, ticking: Tick) -> None:
    """What ticks now is right again, and said so; what the false future left is named, with the way out."""
    db.execute(
        "update lenses.dispatch_ticks set started_at = started_at + interval '3 hours', "
        "finished_at = finished_at + interval '3 hours'"
    )
    line = health("--server", code=1).check("worker")
    assert line["label"] == "clock"
    assert "lf-sql schedule recompute --all" in line["advice"]
    ticking()
    lines = health("--server", code=0)
    assert lines.check("worker")["label"] == "ok"
    line = lines.check("clock")
    assert (line["state"], line["label"]) == ("warn", "was ahead")
    assert line["advice"].startswith("lf-sql schedule recompute --all")


def test_frozen(db: Database, health: Health, ticking: Tick) -> None:
    db.execute("select lenses.fn_freeze_dispatch('moving house')")
    line = health(code=1).check("worker")
    assert line["label"] == "frozen"
    assert "moving house" in line["detail"]
    assert line["advice"].startswith("lf-sql unfreeze #")
    db.execute("select lenses.fn_unfreeze_dispatch()")
    health(code=0)


def test_ticks_that_all_fail(db: Database, health: Health, ticking: Tick) -> None:
    db.execute("drop function agents.fn_dispatch_gateway_crons")
    ticking()
    assert health(code=0), "one good tick is among them"
    db.execute("delete from lenses.dispatch_ticks")
    ticking()
    line = health(code=1).check("last tick")
    assert line["label"] == "failing"
    assert "fn_dispatch_gateway_crons" in line["detail"]
    assert "verify" in line["advice"]


def test_two_leaders(db: Database, health: Health, ticking: Tick) -> None:
    for number in (1, 2):
        db.execute("select lenses.fn_worker_heartbeat(%s, 'h', 1, true, '')", [f"w{number}"])
    line = health(code=0).check("dispatchers")
    assert (line["state"], line["label"]) == ("warn", "2")
    assert "pooler" in line["advice"]


def test_a_gap_of_more_than_an_hour(db: Database, health: Health, ticking: Tick) -> None:
    db.execute("update lenses.dispatch_ticks set started_at = started_at - interval '7 hours'")
    ticking()
    line = health(code=0).check("gaps")
    assert line["state"] == "warn"
    assert "suspend" in line["advice"]


def test_backlog(db: Database, health: Health, owner: Tenant, ticking: Tick) -> None:
    due_in(db, make_schedule(db, make_workflow(db, owner)), -600)
    line = health("--server", code=1).check("backlog")
    assert line["label"] == "behind"
    assert "1 schedule is due" in line["detail"]
    ticking()
    assert health("--server", code=0).check("backlog")["label"] == "ok"


def claimed(db: Database, owner: Tenant) -> uuid.UUID:
    run = run_now(db, owner, make_schedule(db, make_workflow(db, owner)))
    db.execute("select lenses.fn_claim_workflow_runs('w', 1, '5 minutes')")
    return run


def test_stuck_runs(db: Database, health: Health, owner: Tenant, ticking: Tick) -> None:
    run = claimed(db, owner)
    db.execute(
        "update lenses.workflow_runs set lease_expires_at = now() - interval '1 hour' where id = %s",
        [run],
    )
    line = health("--server", code=1).check("stuck runs")
    assert line["label"] == "1"
    assert "fn_reap_workflow_runs" in line["advice"]
    ticking()
    assert health("--server", code=0).check("stuck runs")["label"] == "none"


def test_runs_that_nobody_claims_or_decides(
    db: Database, health: Health, owner: Tenant, ticking: Tick
) -> None:
    workflow = make_workflow(db, owner)
    run_now(db, owner, make_schedule(db, workflow))
    run_now(db, owner, make_schedule(db, workflow, approval_policy="{}"))
    with unguarded(db, "lenses.workflow_runs"):
        db.execute("update lenses.workflow_runs set created_at = now() - interval '2 days'")
    lines = health("--server", code=0)
    assert "lf-sql runs work" in lines.check("waiting runs")["advice"]
    assert "pending_approval" in lines.check("approvals")["advice"]


def test_history_past_its_retention(
    db: Database, health: Health, owner: Tenant, ticking: Tick
) -> None:
    run = claimed(db, owner)
    db.execute("select lenses.fn_complete_workflow_run(%s, 'w', null)", [run])
    with unguarded(db, "lenses.workflow_runs"):
        db.execute(
            "update lenses.workflow_runs set created_at = now() - interval '100 days', "
            "completed_at = now() - interval '99 days'"
        )
    with unguarded(db, "lenses.workflow_run_events"):
        db.execute("update lenses.workflow_run_events set occurred_at = now() - interval '99 days'")
    db.execute(
        "insert into lenses.dispatch_ticks (driver, started_at) values ('x', now() - '20 d'::interval)"
    )
    line = health("--server", code=1).check("retention")
    assert line["label"] == "behind"
    assert "runs from" in line["detail"]
    assert "ticks from" in line["detail"]
    assert "sp_purge_history" in line["advice"]
    db.execute("call lenses.sp_purge_history()")
    assert health("--server", code=0).check("retention")["label"] == "ok"


def test_skips_are_counted_by_reason(
    db: Database, health: Health, owner: Tenant, ticking: Tick, lf: Command
) -> None:
    schedule = make_schedule(
        db, make_workflow(db, owner), pre_dispatch_condition='{"/nothing": {"eq": 1}}'
    )
    due_in(db, schedule, -1)
    ticking()
    assert health("--server", code=0).check("skips")["label"] == "condition_failed 1"
    mine = lf("schedule", "health", "--as", owner.user_id, "--json").json
    assert {row["label"] for row in mine if row["check_name"] == "skips"} == {"condition_failed 1"}


def test_an_old_snapshot(db: Database) -> None:
    facts = '{"oldest_snapshot": {"pid": 7, "age": 7300, "application_name": "psql"}}'
    row = db.row(
        "select * from lenses.fn_health_work(%s) where check_name = 'old snapshot'", [facts]
    )
    assert (row.state, row.label) == ("warn", "2 h")
    assert "pg_terminate_backend(7)" in row.advice


def test_on_a_terminal_it_is_text_with_advice_below(
    db: Database, lf: Command, monkeypatch: object
) -> None:
    text = lf("schedule", "health", code=1).out
    assert text.startswith("worker: silent\t")
    assert "\x1b[" not in text, "no colours in a pipe"
