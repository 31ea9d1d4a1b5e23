"""Claims and completions a second beside bare SKIP LOCKED on copies of the table, in the same run.

Each worker claims one run and completes it, two statements in two transactions, by pgbench, which costs
little of its own. The reference is what a queue of one's own would be: the same two statements as plain
UPDATEs on a copy of the table (columns, checks, indexes; no foreign keys, no triggers); it writes no
event, tells no schedule and knows no limit. `narrow`: the copy with the two indexes that the statements
need and no checks. The queues are vacuumed before each slice, as autovacuum would, so that no slice
walks what earlier ones left at the head of the queue; a slice is long enough for a session's first
calls, which plan, to vanish in it; a ratio is the median of those of its rounds.

What is asked is asked of commits that are safe, as PostgreSQL makes them unless told otherwise. The
lines without a wait for the disk compare the processors' work alone.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

import psycopg

from lf_sql.embedded import find_build
from tests.bench.report import Row

WORKERS = (1, 4, 8)
ROUNDS = 3
SECONDS = 3
RUNS = 400_000
MUST = 0.5

TABLES = {
    "ours": "lenses.workflow_runs, lenses.workflow_run_events, lenses.workflow_schedules",
    "copy": "public.bench_copy",
    "narrow": "public.bench_narrow",
}

OURS = """
select id as run_id from lenses.fn_claim_workflow_runs('w', 1) \\gset
select lenses.fn_complete_workflow_run(:run_id, 'w', '{"ok": 1}');
"""
BARE = """
update public.TABLE set status = 'running', worker_id = 'w', attempt = attempt + 1, \
started_at = now(), lease_expires_at = now() + interval '5 minutes' \
where id = (select id from public.TABLE where status = 'pending' and available_at is null \
order by priority desc, created_at, scheduled_for, id limit 1 for update skip locked) \
returning id as run_id \\gset
update public.TABLE set status = 'completed', completed_at = now(), lease_expires_at = null, \
metadata = metadata || '{"result": {"ok": 1}}' where id = :run_id and status = 'running';
"""
SCRIPTS = {
    "ours": OURS,
    "copy": BARE.replace("TABLE", "bench_copy"),
    "narrow": BARE.replace("TABLE", "bench_narrow"),
}
FILL = """
insert into lenses.workflow_runs (
  id, lenser_id, workflow_id, workflow_version, schedule_id, scheduled_for, idempotency_key,
  trigger_mode, triggered_by, policies
)
select substr(lenses.fn_slot_key(s.id, t.slot), 1, 32)::uuid, s.lenser_id, s.workflow_id, 1, s.id,
  t.slot, lenses.fn_slot_key(s.id, t.slot), 'schedule', s.id::text, jsonb_build_object(
    'approval_policy', s.approval_policy, 'retry_policy', s.retry_policy,
    'failure_policy', s.failure_policy, 'queue_policy', s.queue_policy)
from generate_series(0, %s) as n
cross join lateral (select timestamptz '2026-01-01Z' + n * interval '1 minute' as slot) as t
cross join lenses.workflow_schedules as s
"""


def prepare(conn: psycopg.Connection[tuple[object, ...]]) -> None:
    """A thousand schedules of one tenant, RUNS runs that wait, and the two copies."""
    with conn.transaction():
        conn.execute(
            "with p as (insert into lensers.profiles (user_id) values (gen_random_uuid()) returning id), "
            "w as (insert into lenses.workflows (lenser_id, title) select id, 'bench' from p returning id) "
            "insert into lenses.workflow_schedules (workflow_id, cron_expr, is_active, approval_policy) "
            "select w.id, '0 0 1 1 *', false, '{\"requiresApproval\": false}' "
            "from w, generate_series(1, 1000)"
        )
        conn.execute("set local role lf_sql_engine")
        conn.execute(FILL, [RUNS // 1000 - 1])
    for name, what in (
        ("copy", "including defaults including constraints including indexes"),
        ("narrow", "including defaults"),
    ):
        conn.execute(f"create table public.bench_{name} (like lenses.workflow_runs {what})")
        conn.execute(f"insert into public.bench_{name} select * from lenses.workflow_runs")
    conn.execute("alter table public.bench_narrow add primary key (id)")
    conn.execute(
        "create index on public.bench_narrow (priority desc, created_at, scheduled_for, id) "
        "where status = 'pending' and available_at is null"
    )
    conn.execute(f"vacuum analyze {', '.join(TABLES.values())}")


def pgbench() -> str:
    beside = find_build().bindir / "pgbench"
    return str(beside) if beside.exists() else shutil.which("pgbench") or "pgbench"


def rate(script: Path, dsn: str, workers: int) -> float:
    """Pairs a second."""
    command = [pgbench(), "-n", "-M", "prepared", "-f", str(script), "-c", str(workers)]
    command += ["-j", str(min(workers, 2)), "-T", str(SECONDS), dsn]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"tps = ([0-9.]+)", run.stdout)
    assert found, run.stdout
    assert "aborted" not in run.stderr, run.stderr
    return float(found[1])


def run(dsn: str, must: float | None, label: str) -> list[Row]:
    with psycopg.connect(dsn, autocommit=True) as conn, tempfile.TemporaryDirectory() as folder:
        prepare(conn)
        scripts = {name: Path(folder) / f"{name}.sql" for name in SCRIPTS}
        for name, path in scripts.items():
            path.write_text(SCRIPTS[name])
        return [line(conn, dsn, scripts, workers, must, label) for workers in WORKERS]


def line(
    conn: psycopg.Connection[tuple[object, ...]],
    dsn: str,
    scripts: dict[str, Path],
    workers: int,
    must: float | None,
    label: str,
) -> Row:
    rates: dict[str, list[float]] = {name: [] for name in scripts}
    for _ in range(ROUNDS):
        for name, path in scripts.items():
            conn.execute(f"vacuum (index_cleanup on) {TABLES[name]}")
            rates[name].append(rate(path, dsn, workers))
    median = {name: statistics.median(values) for name, values in rates.items()}
    ratio, narrow = (
        statistics.median(o / r for o, r in zip(rates["ours"], rates[name], strict=True))
        for name in ("copy", "narrow")
    )
    assert ratio < 3, f"{ratio:.0f} times the reference: its plan is not what it should be"
    return Row(
        f"claims and completions a second, {workers} worker{'s' * (workers > 1)}{label}",
        f"{median['ours']:.0f}",
        f"{median['copy']:.0f} bare SKIP LOCKED (narrow: {median['narrow']:.0f})",
        f"{ratio:.2f} (narrow: {narrow:.2f})",
        f"{must} of the reference" if must else "",
        ratio >= must if must else None,
    )
