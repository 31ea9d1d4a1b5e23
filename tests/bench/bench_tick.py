"""The tick: all due at once against bare writes of the same rows, nothing due, one that is poisoned."""

from __future__ import annotations

import statistics
from datetime import datetime, timedelta

from tests.bench.load import Bench, a_monday, fill, tick
from tests.bench.report import Row, medians, ms, time_of
from tests.support.database import Database

DUE = 100_000
ROUNDS = 3
INSERTED = (
    "lenses.workflow_runs",
    "lenses.workflow_run_events",
    "agents.action_logs",
    "agents.team_runs",
    "agents.agent_run_events",
)
UPDATED = {"lenses.workflow_schedules": "id", "lenses.schedule_due": "schedule_id"}


def run(bench: Bench) -> list[Row]:
    return [*all_due(bench), *idle(bench), poisoned(bench)]


def bare(table: str) -> str:
    return "bare." + table.split(".")[1]


def ready(table: str) -> str:
    return "ready." + table.split(".")[1]


def columns(conn: Database, table: str) -> list[str]:
    return conn.column(
        "select attname from pg_attribute where attrelid = %s::regclass and attnum > 0 "
        "and not attisdropped order by attnum",
        [table],
    )


def make_copies(conn: Database) -> None:
    """Same columns, indexes and storage; no foreign keys, no triggers, no row security."""
    conn.execute("create schema bare")
    conn.execute("create schema ready")
    for table in (*INSERTED, *UPDATED):
        conn.execute(
            f"create table {bare(table)} (like {table} including indexes including storage)"
        )
        options = conn.value(
            "select array_to_string(reloptions, ', ') from pg_class where oid = %s::regclass",
            [table],
        )
        if options:
            conn.execute(f"alter table {bare(table)} set ({options})")
    for table in UPDATED:
        conn.execute(f"insert into {bare(table)} select * from {table}")


def make_ready(conn: Database, batch: int) -> int:
    """The rows that the tick wrote, ordered and numbered by batches: how many batches."""
    conn.execute(
        "create table ready.batches as select schedule_id, id as run_id, "
        "((row_number() over (order by created_at, id) - 1) / %s)::int as batch "
        "from lenses.workflow_runs",
        [batch],
    )
    conn.execute("create unique index on ready.batches (schedule_id)")
    conn.execute("create unique index on ready.batches (run_id)")
    keys = {
        "lenses.workflow_runs": ("id", "run_id"),
        "lenses.workflow_run_events": ("run_id", "run_id"),
        "agents.action_logs": ("schedule_id", "schedule_id"),
        "agents.team_runs": ("workflow_run_id", "run_id"),
        "agents.agent_run_events": ("run_id", "run_id"),
        "lenses.workflow_schedules": ("id", "schedule_id"),
        "lenses.schedule_due": ("schedule_id", "schedule_id"),
    }
    for table, (key, of) in keys.items():
        conn.execute(
            f"create table {ready(table)} as select b.batch, t.* from {table} as t "
            f"join ready.batches as b on b.{of} = t.{key} order by b.batch"
        )
        conn.execute(f"create index on {ready(table)} (batch)")
    conn.execute("analyze")
    return conn.value("select max(batch) + 1 from ready.batches")


def statements(conn: Database) -> list[str]:
    """One INSERT or UPDATE a table, with the batch's number as its parameter."""
    found = []
    for table in INSERTED:
        if conn.value(f"select exists (select from {ready(table)})"):
            names = ", ".join(columns(conn, table))
            found.append(
                f"insert into {bare(table)} ({names}) select {names} from {ready(table)} where batch = %s"
            )
    changed = {
        "lenses.workflow_schedules": (
            "next_run_at", "due_at", "last_run_at", "last_run_id", "last_dispatch_status",
            "dispatch_seq", "failure_count", "tick_slots", "tick_id",
        ),
        "lenses.schedule_due": ("due_at",),
    }  # fmt: skip
    for table, key in UPDATED.items():
        sets = ", ".join(f"{name} = r.{name}" for name in changed[table])
        found.append(
            f"update {bare(table)} as b set {sets} from {ready(table)} as r "
            f"where b.{key} = r.{key} and r.batch = %s"
        )
    return found


def write_bare(conn: Database, writes: list[str], batches: int) -> None:
    for batch in range(batches):
        with conn.transaction():
            for write in writes:
                conn.execute(write, [batch])


def all_due(bench: Bench) -> list[Row]:
    found = []
    at = a_monday()
    for name, approval, must in (("", False, 3.5), (", each waiting for approval", True, None)):
        ours, bares = [], []
        with bench.database("bench_due", keep=True) as conn:
            fill(conn, DUE, at, approval=approval)
            make_copies(conn)
            conn.execute("vacuum analyze")
        for _ in range(ROUNDS if must else 1):
            with bench.database("bench_round", "bench_due") as conn:
                conn.execute("checkpoint")
                ours.append(time_of(lambda conn=conn: check(tick(conn, at), DUE)))
                batch = conn.value("select batch_size from lenses.dispatch_settings")
                batches = make_ready(conn, batch)
                writes = statements(conn)
                conn.execute("checkpoint")
                bares.append(time_of(lambda c=conn, w=writes, b=batches: write_bare(c, w, b)))
                verify_bare(conn)
        with bench.database("bench_last") as conn:
            conn.execute("drop database bench_due")
        mine, theirs = statistics.median(ours), statistics.median(bares)
        ratio = statistics.median(a / b for a, b in zip(ours, bares, strict=True))
        found.append(
            Row(
                f"a tick with {DUE:,} due{name}",
                f"{mine:.1f} s ({DUE / mine:,.0f} runs/s)",
                f"{theirs:.1f} s bare writes",
                f"{ratio:.2f}",
                f"<= {must}, aim 2.5" if must else "",
                ratio <= must if must else None,
            )
        )
    return found


def check(found: int, wanted: int) -> None:
    assert found == wanted, f"the tick handled {found} schedules, not {wanted}"


def verify_bare(conn: Database) -> None:
    """The copies hold what ours hold."""
    for table in (*INSERTED, *UPDATED):
        ours, copies = conn.row(
            f"select (select count(*) from {table}) as a, (select count(*) from {bare(table)}) as b"
        )
        assert ours == copies, f"{table}: {ours} rows, its copy {copies}"


def idle(bench: Bench) -> list[Row]:
    """Schedules that are far from due; a tick as one call of the function."""
    at = a_monday()
    with bench.database("idle_small") as small, bench.database("idle_large") as large:
        fill(small, 1_000, at)
        fill(large, 100_000, at)
        before = at - timedelta(days=1)

        def empty(conn: Database, now: datetime = before) -> None:
            check(conn.value("select lenses.fn_dispatch_scheduled_workflows(%s)", [now]), 0)

        medians(20, lambda: empty(small), lambda: empty(large))
        few, many = medians(100, lambda: empty(small), lambda: empty(large))
    return [
        Row(
            "a tick with nothing due, 100,000 active schedules",
            ms(many),
            f"{ms(few)} with 1,000",
            f"{many / few:.2f}",
            "<= 5 ms; ratio <= 2",
            many <= 0.005 and many <= 2 * few,
        )
    ]


def poisoned(bench: Bench) -> Row:
    """One schedule of 10,000 whose run the table refuses."""
    at = a_monday()
    count = 10_000
    with bench.database("bench_poison", keep=True) as conn:
        fill(conn, count, at)
    taken: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(5):
        for bad in (False, True):
            with bench.database("bench_round", "bench_poison") as conn:
                victim = conn.value(
                    "select id from lenses.workflow_schedules order by id offset %s limit 1"
                    if bad else "select gen_random_uuid() as id, %s as unused", [count // 2]
                )  # fmt: skip
                conn.execute(
                    "alter table lenses.workflow_runs add constraint poison "
                    f"check (schedule_id <> '{victim}')"
                )
                conn.execute("checkpoint")
                taken[bad].append(time_of(lambda conn=conn: check(tick(conn, at), count)))
                runs = conn.value("select count(*) from lenses.workflow_runs")
                check(runs, count - bad)
    with bench.database("bench_last") as conn:
        conn.execute("drop database bench_poison")
    clean, sick = (statistics.median(taken[bad]) for bad in (False, True))
    return Row(
        f"one tick with 1 poisoned among {count:,} due",
        ms(sick),
        f"{ms(clean)} without it",
        f"{sick / clean:.2f}",
        "<= 1.5",
        sick <= 1.5 * clean,
    )
