"""`lf-sql install` as a process of its own on an empty database."""

from __future__ import annotations

import statistics

from tests.bench.load import Bench
from tests.bench.report import Row, time_of
from tests.support.cli import process, succeeded


def run(bench: Bench) -> list[Row]:
    first, again = [], []
    for _ in range(3):
        with bench.database("bench_install", "template0") as conn:
            first.append(time_of(lambda c=conn: succeeded(process("install", dsn=c.dsn))))
            again.append(time_of(lambda c=conn: succeeded(process("install", dsn=c.dsn))))
    mine = statistics.median(first)
    return [
        Row(
            "`lf-sql install` on an empty database",
            f"{mine:.1f} s",
            f"{statistics.median(again):.1f} s where nothing is to do",
            must="<= 5 s",
            ok=mine <= 5,
        )
    ]
