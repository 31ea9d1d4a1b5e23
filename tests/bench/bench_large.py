"""What must not grow with what is stored or asked: a claim beside runs that wait, a condition, a backfill."""

from __future__ import annotations

from datetime import timedelta

from psycopg.types.json import Jsonb

from tests.bench.load import Bench, a_monday, fill, tick
from tests.bench.report import Row, medians, ms
from tests.support.database import Database, as_user, make_tenant
from tests.support.held import held

CLAIMS = 200
LATER = 300_000
FINISHED = 1_000_000
SLOTS = 10_000

WAITING = """
insert into lenses.workflow_runs (
  lenser_id, workflow_id, workflow_version, schedule_id, scheduled_for, idempotency_key, trigger_mode,
  triggered_by, policies, available_at
)
select
  s.lenser_id, s.workflow_id, 1, s.id, x.at, encode(sha256((s.id || ':' || x.at)::bytea), 'hex'),
  'schedule', s.id, '{}', now() + interval '1 day'
from generate_series(1, %s) as n
cross join lenses.workflow_schedules as s
cross join lateral (select timestamptz '2020-01-01Z' + n * interval '1 hour' as at) as x
"""
OVER = """
insert into lenses.workflow_runs (
  lenser_id, workflow_id, workflow_version, idempotency_key, trigger_mode, triggered_by, policies,
  status, attempt, started_at, completed_at, metadata, created_at
)
select
  w.lenser_id, w.id, 1, 'manual:' || gen_random_uuid(), 'manual', 'bench', '{}',
  'completed', 1, x.at, x.at, '{"result": {"status": "completed"}}', x.at
from lenses.workflows as w
cross join generate_series(1, %s) as n
cross join lateral (select now() - n * interval '80 milliseconds' as at) as x
"""


def past_triggers(conn: Database, statement: str, arguments: list[object]) -> None:
    conn.execute("alter table lenses.workflow_runs disable trigger all")
    conn.execute(statement, arguments)
    conn.execute("alter table lenses.workflow_runs enable trigger all")
    conn.execute("alter table lenses.workflow_runs enable always trigger workflow_runs_record")
    conn.execute("select lenses.fn_recount()")
    conn.execute("vacuum analyze")
    conn.execute("checkpoint")


def claims(bench: Bench) -> Row:
    """The same claims in a copy with runs that wait for a later `available_at`, in turn."""
    at = a_monday()
    with (
        bench.database("bench_claims") as without,
        bench.database("bench_waiting") as beside,
    ):
        for conn in (without, beside):
            fill(conn, 10_000, at)
            tick(conn, at)
        past_triggers(beside, WAITING, [LATER // 10_000])
        past_triggers(without, WAITING, [0])

        def claim(conn: Database) -> None:
            ids = conn.column("select id from lenses.fn_claim_workflow_runs('w', 1)")
            assert len(ids) == 1

        medians(20, lambda: claim(without), lambda: claim(beside))
        none, many = medians(CLAIMS, lambda: claim(without), lambda: claim(beside))
    return Row(
        f"a claim with {LATER:,} runs waiting for a later time",
        ms(many),
        f"{ms(none)} with none",
        f"{many / none:.2f}",
        "<= 2",
        many <= 2 * none,
    )


def condition(bench: Bench) -> Row:
    with bench.database("bench_condition") as conn:
        tenant = make_tenant(conn).id
        workflow = conn.value(
            "insert into lenses.workflows (lenser_id, title) values (%s, 'w') returning id",
            [tenant],
        )
        schedule = conn.value(
            "insert into lenses.workflow_schedules (workflow_id, cron_expr) "
            "values (%s, '0 9 * * *') returning id",
            [workflow],
        )
        past_triggers(conn, OVER, [FINISHED])
        context = "select lenses.fn_build_schedule_condition_context(%s) as c"
        stats = conn.value(context, [schedule])["last_24h_stats"]
        assert stats["total"] == FINISHED, stats
        [seconds] = medians(100, lambda: conn.value(context, [schedule]))
    return Row(
        f"a condition over a workflow with {FINISHED:,} runs in 24 hours",
        ms(seconds),
        "",
        "",
        "<= 1 ms",
        seconds <= 0.001,
    )


def backfill(bench: Bench) -> Row:
    with bench.database("bench_backfill") as conn:
        tenant = make_tenant(conn)
        workflow = conn.value(
            "insert into lenses.workflows (lenser_id, title) values (%s, 'w') returning id",
            [tenant.id],
        )
        schedule = conn.value(
            "insert into lenses.workflow_schedules (workflow_id, cron_expr, start_at, "
            "inputs_rotation) values (%s, '* * * * *', '2020-01-01Z', %s) returning id",
            [workflow, Jsonb([{"x": "a" * 930_000}])],
        )
        end = conn.value("select date_trunc('minute', now())")
        arguments = [schedule, end - timedelta(minutes=SLOTS - 1), end]
        with as_user(conn, tenant):
            answer = conn.value(
                "select public.fn_backfill_schedule(%s, %s, false, %s) as a", arguments
            )
        assert answer["dispatched"] == SLOTS, answer
        megabytes = held(conn)
    return Row(
        f"memory of one backfill of {SLOTS:,} slots with inputs of 1 MB",
        f"{megabytes:.0f} MB",
        "",
        "",
        "<= 200 MB",
        megabytes <= 200,
    )


def run(bench: Bench) -> list[Row]:
    return [claims(bench), condition(bench), backfill(bench)]
