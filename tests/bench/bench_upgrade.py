"""How long an upgrade from the last release holds up those who work beside it: the longest call of each kind.

The history is copies: a million runs of a month, with their events and logs.
"""

from __future__ import annotations

import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg

from lf_sql import apply, bundle
from lf_sql import db as product_db
from lf_sql.bundle import Bundle
from tests.bench.load import Bench
from tests.bench.report import Row, ms
from tests.install.releases import REFUSED_AT_COMMIT, RELEASES
from tests.support.database import Database, Tenant, as_user, connect, make_tenant

SCHEDULES, RUNS, TENANTS = 20_000, 1_000_000, 100
TABLES = (
    "lenses.workflow_schedules", "lenses.schedule_due", "lenses.workflow_runs",
    "lenses.workflow_run_events", "agents.action_logs",
)  # fmt: skip
MANY = """
insert into lenses.workflow_schedules (id, {columns})
select gen_random_uuid(), {columns} from lenses.workflow_schedules, generate_series(2, {each});

insert into lenses.schedule_due (schedule_id, lenser_id, due_at)
select s.id, s.lenser_id, s.due_at from lenses.workflow_schedules as s
where not exists (select from lenses.schedule_due as d where d.schedule_id = s.id);

with k as (
  select
    s.id, s.lenser_id, s.workflow_id, encode(sha256(convert_to(s.id || ':' || n, 'utf8')), 'hex') as key,
    now() - n * interval '30 days' / {runs} - random() * interval '12 hours' as at, random() as x
  from lenses.workflow_schedules as s cross join generate_series(1, {runs}) as n
)
insert into lenses.workflow_runs (
  id, lenser_id, workflow_id, workflow_version, schedule_id, scheduled_for, idempotency_key, trigger_mode, triggered_by,
  status, context_inputs, attempt, started_at, completed_at, last_event_seq, metadata, created_at)
select
  left(key, 32)::uuid, lenser_id, workflow_id, 1, id, at, key, 'schedule', id::text,
  case when x < 0.01 then 'pending' when x < 0.03 then 'failed' else 'completed' end,
  '{{"report": 1, "to": "someone@example.org"}}', (x >= 0.01)::integer, at, at, 3, '{{"result": {{"rows": 17}}}}', at
from k;

insert into lenses.workflow_run_events (lenser_id, run_id, seq, event_type, payload, occurred_at)
select lenser_id, id, n, 'run.event', '{{"from": "pending", "status": "running", "attempt": 1}}', created_at
from lenses.workflow_runs, generate_series(1, 3) as n;

insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at)
select lenser_id, schedule_id, 'schedule_dispatched', jsonb_build_object('run_id', id), created_at
from lenses.workflow_runs;
"""


def run(bench: Bench) -> list[Row]:
    release = RELEASES[-1]
    head = bundle.load()
    with (
        bench.database("bench_upgrade", "template0") as conn,
        tempfile.TemporaryDirectory() as name,
    ):
        assert release.install(release.unpack(Path(name)), conn.dsn).returncode == 0
        tenant, workflow, schedule = _fill(conn)
        calls = _calls(tenant, workflow, schedule)
        found = _beside(conn, calls, head)
        later = _beside(conn, calls, replace(head, version="99.0.0"))
    history = f"{SCHEDULES:,} schedules and {RUNS:,} runs"
    return [
        *_rows(f"{release.version} to {head.version}, {history}", found),
        *_rows("a version without migrations", later),
    ]


def _rows(what: str, found: Found) -> Iterator[Row]:
    yield Row(f"upgrade, {what}: in all", ms(found.seconds))
    for name, longest in found.during.items():
        yield Row(f"longest {name} beside it", ms(longest), f"{ms(found.before[name])} before")


@dataclass
class Found:
    seconds: float
    before: dict[str, float] = field(default_factory=dict)
    during: dict[str, float] = field(default_factory=dict)


Work = Callable[[Database], object]


def _calls(tenant: Tenant, workflow: uuid.UUID, schedule: uuid.UUID) -> dict[str, Work]:
    def call(who: Tenant | None, role: str, query: str, *values: object) -> Work:
        def work(conn: Database) -> None:
            with as_user(conn, who, role):
                conn.execute(query, values).fetchall()

        return work

    upsert = "select id from public.fn_upsert_workflow_schedule(%s, %s, '*/7 * * * *')"
    return {
        "tick": call(None, "service_role", "select public.fn_dispatch_tick()"),
        "claim": call(None, "service_role", "select id from public.fn_claim_workflow_runs('w')"),
        "fn_upsert_workflow_schedule": call(tenant, "authenticated", upsert, workflow, schedule),
        "fn_get_workflow_schedule": call(
            tenant, "authenticated", "select * from public.fn_get_workflow_schedule(%s)", schedule
        ),
        "fn_get_schedule_run_history": call(
            tenant,
            "authenticated",
            "select * from public.fn_get_schedule_run_history(%s)",
            schedule,
        ),
    }


def _beside(conn: Database, calls: dict[str, Work], version: Bundle) -> Found:
    """The longest call of each kind, before and during the upgrade; a refused one counts until it is made again."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    with _going(conn, calls, taken):
        time.sleep(5)
        started = time.monotonic()
        with product_db.connect(conn.dsn) as product:
            apply.install(product, version)
        ended = time.monotonic()
    found = Found(ended - started)
    for name, spans in taken.items():
        found.before[name] = max(b - a for a, b in spans if b < started)
        found.during[name] = max(b - a for a, b in spans if b >= started and a <= ended)
    return found


@contextmanager
def _going(
    conn: Database, calls: dict[str, Work], taken: dict[str, list[tuple[float, float]]]
) -> Iterator[None]:
    over = threading.Event()

    def loop(name: str) -> None:
        with connect(conn.dsn) as other:
            while not over.wait(0.02):
                began, is_made = time.monotonic(), False
                while not is_made:
                    try:
                        calls[name](other)
                        is_made = True
                    except psycopg.Error as error:
                        if error.sqlstate not in REFUSED_AT_COMMIT:
                            raise
                taken[name].append((began, time.monotonic()))

    threads = [threading.Thread(target=loop, args=[name]) for name in calls]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _fill(conn: Database) -> tuple[Tenant, uuid.UUID, uuid.UUID]:
    tenants = [make_tenant(conn) for _ in range(TENANTS)]
    conn.execute(
        "insert into lenses.workflows (lenser_id, title) select t, 'report' from unnest(%s::uuid[]) as t",
        [[tenant.id for tenant in tenants]],
    )
    conn.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, start_at, approval_policy, inputs_template) "
        "select id, '*/5 * * * *', now() + interval '40 days', '{\"requiresApproval\": false}', '{\"report\": 1}' "
        "from lenses.workflows"
    )
    columns = conn.value(
        "select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute "
        "where attrelid = 'lenses.workflow_schedules'::regclass and attnum > 0 and not attisdropped and attname <> 'id'"
    )
    with conn.transaction():
        for table in TABLES:
            conn.execute(f"alter table {table} disable trigger all")
        conn.execute(
            MANY.format(columns=columns, each=SCHEDULES // TENANTS, runs=RUNS // SCHEDULES)
        )
        for table in TABLES:
            conn.execute(f"alter table {table} enable trigger all")
    conn.execute("vacuum analyze")
    conn.execute("checkpoint")
    mine = "select workflow_id, id from lenses.workflow_schedules where lenser_id = %s limit 1"
    return (tenants[0], *conn.row(mine, [tenants[0].id]))
