"""How a tick's cost grows with what is stored: a thousand to a million schedules, one in a hundred due."""

from __future__ import annotations

from datetime import timedelta

from tests.bench.load import SEEDS, Bench, a_monday, fill, multiply, tick
from tests.bench.report import Row, ms, time_of
from tests.support.database import Database

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def run(bench: Bench) -> list[Row]:
    at = a_monday()
    figures = []
    for size in SIZES:
        with bench.database("bench_growth") as conn:
            fill(conn, SEEDS, at)
            put_off(conn)
            multiply(conn, size - SEEDS)
            conn.execute("vacuum analyze lenses.workflow_schedules, lenses.schedule_due")
            conn.execute("checkpoint")
            taken = []
            for minute in range(2):
                due = at + timedelta(minutes=minute)
                taken.append(time_of(lambda c=conn, d=due: tick(c, d)))
            idle = time_of(lambda c=conn: tick(c, at + timedelta(minutes=1, seconds=5)))
            runs = conn.value("select count(*) from lenses.workflow_runs")
            assert runs == size // 50, f"{runs} runs, not {size // 50}"
            figures.append((size, min(taken), idle))
    return [
        Row(
            f"{size:,} schedules stored, {size // 100:,} due",
            ms(seconds),
            f"{ms(idle)} with nothing due",
            f"{seconds / (size // 100) * 1e6:.0f} us a run",
        )
        for size, seconds, idle in figures
    ]


def put_off(conn: Database) -> None:
    """The k-th in a hundred is due k minutes after the first, daily."""
    conn.execute(
        "update lenses.workflow_schedules as s set schedule_type = 'interval', cron_expr = null, "
        "interval_ms = 86400000, timezone = 'UTC', "
        "start_at = s.start_at + (o.n % 100) * interval '1 minute' "
        "from (select id, row_number() over (order by id) - 1 as n from lenses.workflow_schedules) as o "
        "where o.id = s.id"
    )
