"""A tick with everything due beside release 0.2.0's, a round of the one after a round of the other."""

from __future__ import annotations

import statistics
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.load import Bench, a_monday, fill
from tests.bench.report import Row, time_of
from tests.install.releases import RELEASES
from tests.support.database import Database

DUE = 100_000
ROUNDS = 3
MUST = 1.4
BEGIN = {"ours": "lenses.fn_begin_tick_at", "0.2.0": "lenses.fn_open_tick"}


def ticked(conn: Database, at: datetime, begin: str) -> None:
    """One tick of one lane, a batch a transaction."""
    batch, cap = conn.row("select batch_size, max_catchup_per_tick from lenses.dispatch_settings")
    tick = conn.value(f"select {begin}('bench', %s)", [at])
    handled = 0
    arguments = [tick, at, batch, cap]
    while taken := conn.value("select lenses.fn_dispatch_pass(%s, %s, %s, %s)", arguments):
        handled += taken
    assert handled == DUE, f"the tick handled {handled} schedules, not {DUE}"


def run(bench: Bench) -> list[Row]:
    at = a_monday()
    (release,) = (r for r in RELEASES if r.version == "0.2.0")
    taken: dict[str, list[float]] = {name: [] for name in BEGIN}
    with TemporaryDirectory() as folder, ExitStack() as stack:
        ours = stack.enter_context(bench.database("bench_ours"))
        old = stack.enter_context(bench.database("bench_0_2_0", "template0"))
        done = release.install(release.unpack(Path(folder)), old.dsn)
        if done.returncode:
            raise RuntimeError(done.stderr)
        for conn in (ours, old):
            fill(conn, DUE, at)
            conn.close()
        for _ in range(ROUNDS):
            for name, source in (("ours", "bench_ours"), ("0.2.0", "bench_0_2_0")):
                with bench.database("bench_round", source) as conn:
                    conn.execute("checkpoint")
                    seconds = time_of(lambda c=conn, b=BEGIN[name]: ticked(c, at, b))
                    taken[name].append(seconds)
    mine, theirs = (statistics.median(taken[name]) for name in BEGIN)
    ratio = statistics.median(
        before / now for now, before in zip(taken["ours"], taken["0.2.0"], strict=True)
    )
    return [
        Row(
            f"a tick with {DUE:,} due, one lane, beside release 0.2.0",
            f"{mine:.1f} s ({DUE / mine:,.0f} runs/s)",
            f"{theirs:.1f} s ({DUE / theirs:,.0f} runs/s)",
            f"{ratio:.2f} times as fast",
            f">= {MUST}",
            ratio >= MUST,
        )
    ]
