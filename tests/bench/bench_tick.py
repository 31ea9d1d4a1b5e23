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


def next_rows(conn: Database, marks: dict[str, int]) -> list[str]:
    """What the tick has written since the marks, laid out so that reading it costs next to nothing."""
    for schema_table in (*INSERTED, *UPDATED):
        conn.execute(f"drop table if exists {ready(schema_table)}")
    conn.execute(
        "create table ready.action_logs as select * from agents.action_logs where id > %s order by id",
        [marks["logs"]],
    )
    conn.execute(
        "create table ready.workflow_runs as select r.* from ready.action_logs as l "
        "join lenses.workflow_runs as r on r.id = (l.payload ->> 'run_id')::uuid"
    )
    by_run = "where t.run_id in (select id from ready.workflow_runs)"
    of = {
        "lenses.workflow_run_events": by_run,
        "agents.team_runs": "where t.workflow_run_id in (select id from ready.workflow_runs)",
        "agents.agent_run_events": by_run,
        "lenses.workflow_schedules": "where t.id in (select schedule_id from ready.workflow_runs)",
        "lenses.schedule_due": "where t.schedule_id in (select schedule_id from ready.workflow_runs)",
    }
    for table, condition in of.items():
        conn.execute(f"create table {ready(table)} as select t.* from {table} as t {condition}")
    marks["logs"] = conn.value("select max(id) from ready.action_logs")
    for table in (*INSERTED, *UPDATED):
        conn.execute(f"analyze {ready(table)}")
    return statements(conn)


def statements(conn: Database) -> list[str]:
    """One INSERT or UPDATE a table."""
    found = []
    for table in INSERTED:
        if conn.value(f"select exists (select from {ready(table)})"):
            names = ", ".join(columns(conn, table))
            found.append(f"insert into {bare(table)} ({names}) select {names} from {ready(table)}")
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
            f"update {bare(table)} as b set {sets} from {ready(table)} as r where b.{key} = r.{key}"
        )
    return found


def write_bare(conn: Database, writes: list[str]) -> None:
    with conn.transaction():
        for write in writes:
            conn.execute(write)


def in_turn(conn: Database, at: datetime) -> tuple[float, float]:
    """Seconds of the tick and of the bare writes, a batch of the one after a batch of the other."""
    marks = {"logs": 0}
    batch, cap = conn.row("select batch_size, max_catchup_per_tick from lenses.dispatch_settings")
    arguments = [at, batch, cap]
    tick_id = 0

    def open_tick() -> None:
        nonlocal tick_id
        tick_id = conn.value("select lenses.fn_begin_tick_at('bench', %s)", [at])

    def step() -> None:
        nonlocal taken
        taken = conn.value("select lenses.fn_dispatch_pass(%s, %s, %s, %s)", [tick_id, *arguments])

    taken, handled, bares = 0, 0, 0.0
    ours = time_of(open_tick)
    while True:
        ours += time_of(step)
        if not taken:
            break
        handled += taken
        writes = next_rows(conn, marks)
        bares += time_of(lambda writes=writes: write_bare(conn, writes))
    check(handled, DUE)
    return ours, bares


def all_due(bench: Bench) -> list[Row]:
    found = []
    at = a_monday()
    for name, approval, must in (("", False, 3.5), (", each waiting for approval", True, None)):
        taken = []
        with bench.database("bench_due") as source:
            fill(source, DUE, at, approval=approval)
            make_copies(source)
            source.execute("vacuum analyze")
            source.close()
            for _ in range(ROUNDS if must else 1):
                with bench.database("bench_round", "bench_due") as conn:
                    conn.execute("checkpoint")
                    taken.append(in_turn(conn, at))
                    verify_bare(conn)
        mine, theirs = (statistics.median(column) for column in zip(*taken, strict=True))
        ratio = statistics.median(ours / bares for ours, bares in taken)
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
    taken: dict[bool, list[float]] = {False: [], True: []}
    with bench.database("bench_poison") as source:
        fill(source, count, at)
        source.close()
        for bad in (False, True) * 5:
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
    clean, sick = (statistics.median(taken[bad]) for bad in (False, True))
    return Row(
        f"one tick with 1 poisoned among {count:,} due",
        ms(sick),
        f"{ms(clean)} without it",
        f"{sick / clean:.2f}",
        "<= 1.5",
        sick <= 1.5 * clean,
    )
