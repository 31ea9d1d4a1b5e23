"""Two lanes beside one: the same schedules due, each lane a connection of its own, in alternating rounds."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from datetime import datetime

from tests.bench.load import Bench, a_monday, fill
from tests.bench.report import Row, time_of
from tests.support.database import Database

DUE = 20_000
ROUNDS = 3
MUST = 1.7


def lane(conn: Database, number: int, at: datetime, handled: list[int]) -> None:
    """One lane's tick at a played instant, a batch a transaction."""
    batch, cap = conn.row("select batch_size, max_catchup_per_tick from lenses.dispatch_settings")
    tick = conn.value("select lenses.fn_begin_tick_at('bench', %s, %s)", [at, number])
    arguments = [tick, at, batch, cap]
    while taken := conn.value("select lenses.fn_dispatch_pass(%s, %s, %s, %s)", arguments):
        handled.append(taken)


def round_of(bench: Bench, lanes: int, at: datetime) -> float:
    """Seconds until nothing is left."""
    with bench.database("bench_round", "bench_lanes") as conn, ExitStack() as stack:
        conn.execute("update lenses.dispatch_settings set dispatch_lanes = %s", [lanes])
        conn.execute("checkpoint")
        others = [stack.enter_context(conn.another()) for _ in range(lanes - 1)]
        handled: list[int] = []
        threads = [
            threading.Thread(target=lane, args=(c, number, at, handled))
            for number, c in enumerate([conn, *others], start=1)
        ]

        def side_by_side() -> None:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        seconds = time_of(side_by_side)
        assert sum(handled) == DUE, f"{sum(handled)} schedules were handled, not {DUE}"
        return seconds


def run(bench: Bench) -> list[Row]:
    at = a_monday()
    taken: dict[int, list[float]] = {1: [], 2: []}
    with bench.database("bench_lanes") as source:
        fill(source, DUE, at)
        source.close()
        for _ in range(ROUNDS):
            for lanes, seconds in taken.items():
                seconds.append(round_of(bench, lanes, at))
    one, two = min(taken[1]), min(taken[2])
    return [
        Row(
            f"a tick with {DUE:,} due, 2 lanes",
            f"{two:.1f} s ({DUE / two:,.0f} runs/s)",
            f"{one:.1f} s with one",
            f"{one / two:.2f}",
            f">= {MUST} on two free cores",
            one / two >= MUST,
        )
    ]
