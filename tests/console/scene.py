"""A tenant with a day behind him: schedules of every kind, runs of every status, calendars, a gateway."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.database import Database, Tenant, as_user

FREE = {"requiresApproval": False}

# Name, description, arguments of fn_upsert_workflow_schedule beside them; the workflow's title is the third word on.
SCHEDULES: tuple[tuple[str | None, str | None, str, dict[str, Any]], ...] = (
    ("stand-up", "Weekday stand-up in New York", "Stand-up", {"cron_expr": "0 9 * * 1-5", "timezone": "America/New_York"}),
    ("probe", None, "Health probe", {"cron_expr": "*/15 * * * *"}),
    ("invoices", "Monthly invoices, after approval", "Invoices", {"cron_expr": "0 6 1 * *", "timezone": "Europe/Istanbul", "approval_policy": {"requiresApproval": True}}),
    (None, "Newsletter, three topics in turn", "Newsletter", {"cron_expr": "0 */6 * * *", "inputs_rotation": [{"topic": "cats"}, {"topic": "dogs"}, {"topic": "owls"}]}),
    ("market-brief", None, "Market brief", {"cron_expr": "30 8 * * *", "timezone": "America/New_York", "on_holiday": "after"}),
    (None, None, "Reconcile ledgers of the western region with the bank's statements", {"cron_expr": "5,35 * * * *"}),
    ("sync", "Every six hours", "Warehouse sync", {"interval_ms": 21_600_000}),
    ("sync-small", None, "Warehouse sync", {"interval_ms": 1_800_000, "jitter_ms": 300_000}),
    ("approve-me", "Payouts wait for a person", "Payouts", {"cron_expr": "0 */2 * * *", "approval_policy": {"requiresApproval": True, "expiresAfterMs": 172_800_000}}),
    ("only-if", None, "Follow-up", {"cron_expr": "10 * * * *", "pre_dispatch_condition": {"/prior_run_result/status": {"eq": "completed"}}}),
    ("launch", "The one and only", "Launch", {"run_at": (datetime.now(UTC) + timedelta(days=3)).isoformat()}),
    ("nightly", None, "Nightly build", {"cron_expr": "0 2 * * *", "timezone": "Europe/Berlin", "queue_policy": {"mode": "serial", "onMissed": "run_once"}}),
)  # fmt: skip


def make_schedule(db: Database, owner: Tenant, title: str, **arguments: Any) -> uuid.UUID:
    """A workflow of that title, and one schedule of it."""
    named = "".join(f", p_{name} => %s" for name in arguments)
    given = [
        json.dumps(value) if isinstance(value, (dict, list)) else value
        for value in arguments.values()
    ]
    with as_user(db, owner):
        workflow_id = db.value(
            "select id from public.fn_upsert_workflow(p_title => %s, p_definition => %s)",
            [title, json.dumps({"nodes": [{"id": "a", "action": "shell"}], "edges": []})],
        )
        made: uuid.UUID = db.value(
            f"select id from public.fn_upsert_workflow_schedule(%s{named})", [workflow_id, *given]
        )
    return made


def fill(db: Database, owner: Tenant, *, hours: int = 6) -> None:
    """Make it all, and play the last hours by ticks a quarter of an hour apart."""
    with as_user(db, owner):
        holidays = db.value(
            "select id from public.fn_create_schedule_calendar('company-days', 'skip_dates', "
            "'Europe/Istanbul', array[current_date + 9, current_date + 40], null, %s)",
            [json.dumps([{"weekdays": ["SUN"]}, {"month_day": "12-25", "observed": True}])],
        )
    for name, description, title, arguments in SCHEDULES:
        more = {"calendar_id": str(holidays)} if "on_holiday" in arguments else {}
        make_schedule(
            db, owner, title,
            **{"approval_policy": FREE, "retry_policy": {"maxRetries": 0}, "name": name, "description": description, **arguments, **more},
        )  # fmt: skip
    for number in range(16):
        make_schedule(
            db, owner, f"Report {number + 1:02}",
            cron_expr=f"{number * 3} {number} * * *", approval_policy=FREE, name=f"report-{number + 1:02}",
        )  # fmt: skip
    with as_user(db, owner):
        db.execute(
            "select public.fn_pause_workflow_schedule(id, 'quarter end', now() + interval '2 days') "
            "from lenses.workflow_schedules where name = 'report-07'"
        )
        gateway = db.value(
            "select id from public.fn_upsert_gateway(p_name => 'eu-west bridge', "
            "p_endpoint => 'https://gw.example/hooks')"
        )
        db.execute(
            "select public.fn_gateway_cron_add(%s, 'health_probe', '*/10 * * * *', 'UTC', '{}')",
            [gateway],
        )
    _play(db, hours)
    _remember(db)


def _remember(db: Database) -> None:
    """A run of days ago."""
    db.execute("set role lf_sql_engine")
    db.execute(
        "insert into lenses.workflow_runs (lenser_id, workflow_id, workflow_version, schedule_id, "
        "scheduled_for, idempotency_key, trigger_mode, status, policies, attempt, created_at, "
        "started_at, completed_at, worker_id) "
        "select s.lenser_id, s.workflow_id, 1, s.id, x.at, 'of old', 'schedule', 'completed', "
        """'{"approval_policy": {"requiresApproval": false}}', 1, x.at, x.at, """
        "x.at + interval '3 minutes 25 seconds', 'worker-1' "
        "from lenses.workflow_schedules as s "
        "cross join (select date_trunc('day', now()) - interval '5 days') as x (at) "
        "where s.name = 'market-brief'"
    )
    db.execute("reset role")


def _play(db: Database, hours: int) -> None:
    start = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=hours)
    db.execute(
        "update lenses.workflow_schedules as s set next_run_at = x.slot "
        "from (select w.id, lenses.fn_next_slot(w.cron_spec, w.timezone, w.interval_ms, %s, null, null, "
        "%s - interval '1 second') as slot from lenses.workflow_schedules as w where w.is_active) as x "
        "where x.id = s.id and x.slot < now()",
        [start, start],
    )
    for quarter in range(hours * 4):
        db.execute(
            "select lenses.fn_dispatch_scheduled_workflows(%s)",
            [start + timedelta(minutes=15 * quarter, seconds=7)],
        )
        if quarter == hours * 2:
            _work(db)
    _work(db)
    with db.transaction():
        db.execute(
            "select lenses.fn_dispatch_scheduled_workflows(%s)",
            [datetime.now(UTC) - timedelta(seconds=1)],
        )


def _work(db: Database) -> None:
    """Complete most of what is pending; every fifth fails, one goes on."""
    runs = db.rows("select id, attempt from lenses.fn_claim_workflow_runs('worker-1', 100)")
    for place, run in enumerate(runs):
        if place == 1:
            continue
        if place % 5 == 4:
            db.execute(
                "select lenses.fn_fail_workflow_run(%s, 'worker-1', 'provider_error', "
                "'the provider answered 503: upstream connect error or disconnect')",
                [run.id],
            )
        else:
            db.execute(
                "select lenses.fn_append_run_event(%s, 'worker-1', 'node.started', %s)",
                [run.id, '{"node": "a"}'],
            )
            db.execute(
                "select lenses.fn_complete_workflow_run(%s, 'worker-1', %s, 0.5)",
                [run.id, json.dumps({"status": "completed", "rows": place})],
            )
