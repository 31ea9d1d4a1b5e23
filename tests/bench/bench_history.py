"""What keeping history costs: the nightly purge of a day beside release 0.2.0's, ticks beside it, bytes, plans of reads."""

from __future__ import annotations

import json
import statistics
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.load import SEEDS, Bench, a_monday, fill, tick
from tests.bench.report import Row, ms, time_of
from tests.install.releases import RELEASES
from tests.support.database import Database, as_user

RUNS = 30_000  # of a day
DAYS = 2  # with the one that is purged
TICKS = 6
READ_RUNS = 2_000  # of a day
TABLES = ("lenses.workflow_run_events", "agents.agent_run_events", "agents.action_logs")

RUNS_OF_A_DAY = """
insert into lenses.workflow_runs (
  id, lenser_id, workflow_id, workflow_version, schedule_id, scheduled_for, idempotency_key, trigger_mode,
  triggered_by, status, policies, context_inputs, attempt, started_at, completed_at, last_event_seq,
  metadata, created_at
)
select
  left(k.idempotency_key, 32)::uuid, s.lenser_id, s.workflow_id, 1, s.id, x.at, k.idempotency_key,
  'schedule', s.id, 'completed', %(policies)s, s.inputs_template, 1, x.at + interval '1 second',
  x.at + interval '2 seconds', 3, '{"result": {"rows": 3, "status": "completed"}}', x.at
from generate_series(1, %(runs)s / %(seeds)s) as n
cross join lenses.workflow_schedules as s
cross join lateral (
  select %(day)s::timestamptz + n * interval '23 hours' / (%(runs)s / %(seeds)s) as at
) as x
cross join lateral (
  select encode(sha256((s.id || ':' || x.at)::bytea), 'hex') as idempotency_key
) as k
"""
EVENTS_OF_A_DAY = """
insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload, occurred_at)
select r.lenser_id, r.id, e.seq, e.event_type, e.payload::jsonb, r.created_at + (e.seq - 1) * interval '1 second'
from lenses.workflow_runs as r
cross join (
  values
  (1, 'run.created', '{"status": "pending", "trigger_mode": "schedule", "scheduled_for": "2026-01-01T00:00:00+00:00"}'),
  (2, 'run.started', '{"from": "pending", "status": "running", "attempt": 1, "worker_id": "worker-1"}'),
  (3, 'run.completed', '{"from": "running", "status": "completed", "attempt": 1, "worker_id": "worker-1"}')
) as e (seq, event_type, payload)
where r.created_at >= %(day)s and r.created_at < %(day)s::timestamptz + interval '1 day'
order by r.created_at, e.seq
"""
LOGS_OF_A_DAY = """
insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at)
select r.lenser_id, r.schedule_id, 'dispatch_schedule',
  jsonb_build_object('run_id', r.id, 'scheduled_for', r.scheduled_for), r.created_at
from lenses.workflow_runs as r
where r.created_at >= %(day)s and r.created_at < %(day)s::timestamptz + interval '1 day'
order by r.created_at
"""
POLICIES = {
    "limits": {},
    "queue_policy": {"mode": "parallel"},
    "retry_policy": {"maxRetries": 1},
    "failure_policy": {"mode": "isolate"},
    "approval_policy": {"requiresApproval": False},
}


def first_day() -> datetime:
    """The day of which nothing may be left: the retention is 90 days."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today - timedelta(days=91)


def history(conn: Database, days: int, runs: int) -> None:
    """So many days of runs that are over, with their events and logs, past the triggers."""
    conn.execute("alter table lenses.workflow_runs disable trigger all")
    for n in range(days):
        day = first_day() + timedelta(days=n and n + 1)  # of the day between, a part is past
        if conn.value("select to_regproc('lenses.fn_add_partitions') is not null"):
            for table in TABLES:
                conn.execute("select lenses.fn_add_partitions(%s, %s, 1)", [table, day])
        values = {"day": day, "runs": runs, "seeds": SEEDS, "policies": json.dumps(POLICIES)}
        for statement in (RUNS_OF_A_DAY, EVENTS_OF_A_DAY, LOGS_OF_A_DAY):
            conn.execute(statement, values)
    conn.execute("alter table lenses.workflow_runs enable trigger all")
    conn.execute("alter table lenses.workflow_runs enable always trigger workflow_runs_record")
    conn.execute("vacuum analyze")
    conn.execute("checkpoint")


def stored(conn: Database) -> int:
    """Bytes of runs, events and logs with their indexes."""
    return conn.value(
        "select sum(pg_total_relation_size(c.oid)) from pg_class as c "
        "left join pg_inherits as i on i.inhrelid = c.oid "
        "where c.relkind = 'r' and coalesce(i.inhparent, c.oid) = any(%s::regclass[])",
        [["lenses.workflow_runs", *TABLES]],
    )


def purge(conn: Database) -> float:
    seconds = time_of(lambda: conn.execute("call lenses.sp_purge_history()"))
    left = conn.value("select count(*) from lenses.workflow_runs")
    assert left == (DAYS - 1) * RUNS, f"{left} runs are left"
    return seconds


def ticks(conn: Database, first: int, goes_on: Callable[[int], bool]) -> list[float]:
    """Ticks with a thousand due each, a minute apart, as long as it goes on."""
    at = a_monday() + timedelta(minutes=first)
    taken: list[float] = []
    while goes_on(len(taken)):
        conn.execute("update lenses.workflow_schedules set next_run_at = %s", [at])
        taken.append(time_of(lambda now=at: tick(conn, now)))
        at += timedelta(minutes=1)
    return taken


def read(conn: Database) -> dict[str, float]:
    """Seconds of each read, as the tenant whose run is the newest."""
    run, schedule, user = conn.row(
        "select r.id, r.schedule_id, p.user_id from lenses.workflow_runs as r "
        "join lensers.profiles as p on p.id = r.lenser_id order by r.created_at desc limit 1"
    )
    reads: dict[str, tuple[str, list[object]]] = {
        "fn_get_schedule_run_history": (
            "select * from public.fn_get_schedule_run_history(%s)", [schedule]
        ),
        "fn_get_automation_feed": ("select * from public.fn_get_automation_feed()", []),
        "fn_get_slots": (
            "select * from public.fn_get_slots(%s, now(), now() + interval '1 day')", [[schedule]]
        ),
        "fn_get_run": ("select public.fn_get_run(%s)", [run]),
        "schedule_slots of a schedule": (
            "select * from lenses.schedule_slots where schedule_id = %s", [schedule]
        ),
    }  # fmt: skip
    with as_user(conn, user):
        return {
            name: min(
                time_of(lambda s=sql, a=args: conn.execute(s, a).fetchall()) for _ in range(30)
            )
            for name, (sql, args) in reads.items()
        }


def reads(bench: Bench) -> list[Row]:
    """With thirty days of runs, and with the last of them alone."""
    taken = []
    for days in (30, 1):
        with bench.database("bench_history") as conn:
            fill(conn, SEEDS, a_monday())
            history(conn, days, READ_RUNS)
            taken.append(read(conn))
    many, one = taken
    return [
        Row(
            f"{name} with 30 days of {READ_RUNS:,} runs",
            ms(many[name]),
            f"{ms(one[name])} with one",
            f"{many[name] / one[name]:.2f}",
        )
        for name in many
    ]


def run(bench: Bench) -> list[Row]:
    (release,) = (r for r in RELEASES if r.version == "0.2.0")
    with (
        TemporaryDirectory() as folder,
        bench.database("bench_history") as conn,
        bench.database("bench_0_2_0", "template0") as old,
    ):
        done = release.install(release.unpack(Path(folder)), old.dsn)
        if done.returncode:
            raise RuntimeError(done.stderr)
        for c in (conn, old):
            fill(c, SEEDS, a_monday())
            history(c, DAYS, RUNS)
        size, size_before = (stored(c) / (DAYS * RUNS) for c in (conn, old))
        seconds, before = purge(conn), purge(old)
    with bench.database("bench_history") as conn, conn.another() as other:
        fill(conn, SEEDS, a_monday())
        history(conn, DAYS, RUNS)
        alone = statistics.median(ticks(other, 0, lambda done: done < TICKS))
        purging = threading.Thread(target=conn.execute, args=("call lenses.sp_purge_history()",))
        purging.start()
        found = ticks(other, TICKS, lambda done: purging.is_alive())
        purging.join()
        beside = statistics.median(found[:-1] or found)  # the last one may have gone on alone
    return [
        Row(
            f"purge of a day of {RUNS:,} runs with events and logs",
            f"{seconds:.1f} s",
            f"{before:.1f} s in release 0.2.0",
            f"{seconds / before:.2f}",
            "<= 0.5",
            seconds / before <= 0.5,
        ),
        Row(
            "a tick with 1,000 due beside the purge",
            ms(beside),
            f"{ms(alone)} alone",
            f"{beside / alone:.2f}",
            "<= 1.5",
            beside / alone <= 1.5,
        ),
        Row(
            "bytes of a run with its events, logs and indexes",
            f"{size:,.0f}",
            f"{size_before:,.0f} in release 0.2.0",
            f"{size / size_before:.2f}",
            "<= 1,500",
            size <= 1500,
        ),
        *reads(bench),
    ]
