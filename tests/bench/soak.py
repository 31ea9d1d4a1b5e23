"""`make soak`: 75 played days of 10,000 schedules a minute, with executors, purge and autovacuum. What grows?

The server's clock is played (libfaketime), not only p_now: claims, leases, partitions, counts and the
audit's 31 days go by it too, and the driver's own procedures run. Of every day two minutes are full, 23
ticks have nothing due, and at 03:17 the purge runs. A full minute takes seconds, so autovacuum gets
more of its share in the same proportion: what it does for a run is what it does in production.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter

import psycopg

from tests.bench import soak_report
from tests.bench.load import SEEDS, Bench, bench, multiply
from tests.bench.report import quantile, time_of
from tests.bench.soak_clock import Clock
from tests.support.database import Database, make_tenant

AUTOVACUUM = {
    "autovacuum": "on",
    "autovacuum_naptime": "5s",
    "autovacuum_vacuum_cost_limit": "2400",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "1d",
    # its signal handler looks at the clock, for which libfaketime opens a file: not safe in a handler
    "deadlock_timeout": "10min",
}
SCHEDULES, DAYS, MINUTES = 10_000, 75, 2
RETENTION = 31
EXECUTORS, AT_ONCE = 4, 200
TENANTS = 100

SIZES = """
select
  case
    when n.nspname = 'pg_catalog' then 'catalogue'
    when c.relispartition and right(c.relname, 8) = '_default' then 'default partitions'
    else coalesce(p.relname, c.relname) end as name,
  sum(pg_total_relation_size(c.oid))
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
left join pg_inherits as i on i.inhrelid = c.oid
left join pg_class as p on p.oid = i.inhparent
where c.relkind = 'r' and (n.nspname = 'pg_catalog' or coalesce(p.relname, c.relname) = any (%s))
group by 1
"""
TABLES = {
    "workflow_runs": "runs",
    "workflow_run_events": "events",
    "action_logs": "logs",
    "default partitions": "default partitions",
    "workflow_schedules": "schedules",
    "schedule_due": "due times",
    "run_counts": "counts",
    "dispatch_ticks": "ticks",
    "outbox": "outbox",
    "catalogue": "catalogue",
}
DEAD = """
select
  coalesce(sum(n_dead_tup) filter (where relname = 'workflow_runs'), 0) as runs,
  coalesce(sum(n_dead_tup) filter (where relname in ('workflow_schedules', 'schedule_due')), 0) as schedules,
  coalesce(sum(n_dead_tup) filter (where relname in ('run_counts', 'dispatch_ticks', 'outbox')), 0) as others,
  coalesce(sum(n_dead_tup) filter (where schemaname = 'pg_catalog'), 0) as catalogue
from pg_stat_all_tables
"""


def fill(conn: Database, count: int, minutes: int) -> None:
    """Schedules of a hundred workflows that are all due in the first minutes after noon."""
    tenants = [make_tenant(conn).id for _ in range(TENANTS)]
    conn.execute(
        "insert into lenses.workflows (lenser_id, title) select t, 'report' from unnest(%s::uuid[]) as t",
        [tenants],
    )
    conn.execute(
        "insert into lenses.workflow_schedules (workflow_id, cron_expr, approval_policy, inputs_template) "
        "select w.id, %s, '{\"requiresApproval\": false}', "
        "jsonb_build_object('report', n, 'to', 'someone@example.org') "
        "from lenses.workflows as w cross join generate_series(1, %s) as n",
        [f"0-{minutes - 1} 12 * * *", SEEDS // TENANTS],
    )
    multiply(conn, count - SEEDS)
    conn.execute(f"update lenses.dispatch_settings set retention = '{RETENTION} days'")
    conn.execute('select lenses.fn_set_delivery(\'{"name": "failures", "sends": ["run.failed"]}\')')
    conn.execute("vacuum analyze")


class Executor:
    """Claims and completes in sets; of each set one run fails, in turn for good and to be tried again."""

    def __init__(self, conn: Database, number: int) -> None:
        self.conn = conn
        self.name = f"executor-{number}"
        self.claims: list[float] = []
        self.completions: list[float] = []
        self.sets = 0

    def claim(self) -> list[str]:
        started = perf_counter()
        ids = self.conn.column(
            "select id from lenses.fn_claim_workflow_runs(%s, %s)", [self.name, AT_ONCE]
        )
        if len(ids) == AT_ONCE:
            self.claims.append(perf_counter() - started)
        return [str(id_) for id_ in ids]

    def complete(self, ids: list[str]) -> None:
        self.sets += 1
        self.conn.execute(
            "select lenses.fn_fail_workflow_run(%s, %s, %s, 'the provider does not answer')",
            [ids[0], self.name, ("budget_exceeded", "provider_error")[self.sets % 2]],
        )
        results = json.dumps([{"run_id": id_, "result": {"rows": 3}} for id_ in ids[1:]])
        started = perf_counter()
        self.conn.execute("select lenses.fn_complete_workflow_runs(%s, %s)", [self.name, results])
        if len(ids) == AT_ONCE:
            self.completions.append(perf_counter() - started)

    def work(self, is_over: threading.Event) -> None:
        """Until the tick is over and nothing is left to claim."""
        while True:
            last = is_over.is_set()
            if ids := self.claim():
                self.complete(ids)
            elif last:
                return
            else:
                is_over.wait(0.02)


class Soak:
    def __init__(self, driver: Database, executors: list[Executor], clock: Clock) -> None:
        self.driver = driver
        self.executors = executors
        self.clock = clock
        self.pool = ThreadPoolExecutor(len(executors))
        self.samples: list[dict[str, float]] = []
        self.yardstick: list[float] = []

    def tick(self) -> float:
        return time_of(lambda: self.driver.execute("call lenses.sp_dispatch_tick()"))

    def measure(self) -> None:
        """The machine itself: work that nothing of ours can slow down."""
        work = "select sum(n) from generate_series(1, 100000) as n"
        self.yardstick.append(time_of(lambda: self.driver.execute(work)))

    def minute(self, at: datetime) -> float:
        """A tick beside the executors, who then do what is left."""
        self.clock.set(at)
        is_over = threading.Event()
        work = [self.pool.submit(e.work, is_over) for e in self.executors]
        try:
            return self.tick()
        finally:
            is_over.set()
            for each in work:
                each.result()

    def day(self, day: datetime, minutes: int) -> None:
        idle: list[float] = []
        self.yardstick.clear()
        for e in self.executors:
            e.claims.clear()
            e.completions.clear()
        for hour in range(24):
            if hour == 12:
                times = [day + timedelta(hours=12, minutes=m, seconds=1) for m in range(minutes)]
                full = []
                for at in times:
                    full.append(self.minute(at))
                    self.measure()
                self.minute(times[-1] + timedelta(minutes=10))  # what is tried again
                self.acknowledge()
                continue
            self.clock.set(day + timedelta(hours=hour, seconds=1))
            idle.append(self.tick())
            self.measure()
            if hour == 3:
                self.clock.set(day + timedelta(hours=3, minutes=17))
                purge = time_of(lambda: self.driver.execute("call lenses.sp_purge_history()"))
        self.samples.append(
            {
                **self.stored(),
                "yardstick": statistics.median(self.yardstick),
                "idle tick": statistics.median(idle),
                "full tick": max(full),
                **self.calls("claim", [s for e in self.executors for s in e.claims]),
                **self.calls("completion", [s for e in self.executors for s in e.completions]),
                "purge": purge,
            }
        )

    def acknowledge(self) -> None:
        conn = self.executors[0].conn
        while ids := conn.column("select id from lenses.fn_claim_events('failures', 'w', 100)"):
            conn.execute("select lenses.fn_ack_events('w', %s)", [ids])

    @staticmethod
    def calls(name: str, seconds: list[float]) -> dict[str, float]:
        return {f"{name} p50": quantile(seconds, 0.5), f"{name} p99": quantile(seconds, 0.99)}

    def stored(self) -> dict[str, float]:
        conn = self.driver
        sizes = dict(conn.rows(SIZES, [list(TABLES)]))
        runs, schedules, others, catalogue = conn.row(DEAD)
        partitions = conn.value("select count(*) from lenses.fn_partitions()")
        return {
            "partitions": partitions,
            **{name: float(sizes[table]) for table, name in TABLES.items()},
            "database": conn.value("select pg_database_size(current_database())"),
            "dead runs": float(runs),
            "dead schedules": float(schedules),
            "dead counts": float(others),
            "dead catalogue": float(catalogue),
            "driver": memory(conn),
            "executor": max(memory(e.conn) for e in self.executors),
        }


def memory(conn: Database) -> float:
    """Bytes that the connection's backend has for itself."""
    status = Path(f"/proc/{conn.info.backend_pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024.0


def play(place: Bench, clock: Clock, count: int, days: int, minutes: int,
         say: Callable[[str], None]) -> list[dict[str, float]]:  # fmt: skip
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    start = midnight + timedelta(days=2)
    with ExitStack() as stack:
        conn = stack.enter_context(place.database("bench_soak"))
        clock.set(start - timedelta(hours=2))
        fill(conn, count, minutes)
        executors = [
            Executor(stack.enter_context(conn.another()), n) for n in range(1, EXECUTORS + 1)
        ]
        soak = Soak(stack.enter_context(conn.another()), executors, clock)
        soak.tick()  # makes the first days' partitions
        began = perf_counter()
        for n in range(days):
            soak.day(start + timedelta(days=n), minutes)
            if (n + 1) % 5 == 0:
                say(f"day {n + 1}: {perf_counter() - began:.0f} s")
        soak.pool.shutdown()
        emitted = conn.value("select value from lenses.fn_metrics() where name = 'runs_emitted'")
        if emitted != days * minutes * count:
            raise RuntimeError(f"{emitted:.0f} runs, not {days * minutes * count}")
        if broken := conn.rows("select * from lenses.fn_invariant_violations()"):
            raise RuntimeError(f"broken: {broken}")
        return soak.samples


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench soak")
    parser.add_argument(
        "--scale", type=float, default=1, help="share of the schedules; 0.1 at least"
    )
    parser.add_argument("--days", type=int, default=DAYS)
    parser.add_argument("--minutes", type=int, default=MINUTES, help="full minutes of a day")
    parser.add_argument("--samples", type=Path, help="where each day's figures go, as JSON")
    given = parser.parse_args(arguments)
    count = int(SCHEDULES * given.scale)
    started = perf_counter()

    def say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="lf-clock-") as name:
        Path(name).chmod(0o755)
        clock = Clock(Path(name))
        with bench(clock.environment, **AUTOVACUUM) as place:
            try:
                samples = play(place, clock, count, given.days, given.minutes, say)
            except psycopg.OperationalError:
                say(place.server.log[-4000:])
                raise
            server = place.version
    if given.samples:
        given.samples.write_text(json.dumps(samples))
    found = soak_report.judge(samples)
    print(soak_report.table(found), end="")
    if (given.scale, given.days, given.minutes) == (1, DAYS, MINUTES):
        soak_report.write(found, samples, server, perf_counter() - started, count * given.minutes)
    return 1 if any(series.grows for series in found) else 0
