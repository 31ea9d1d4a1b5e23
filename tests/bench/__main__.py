"""`make bench`: every figure in one table. `python -m tests.bench tick idle` runs only those named;
with --keep first it puts their figures into RESULTS.md, in the place of those of the whole bench.

`python -m tests.bench soak` (`make soak`) is apart: it is long, and takes options.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

from tests.bench import (
    bench_claims,
    bench_executor,
    bench_growth,
    bench_history,
    bench_install,
    bench_lag,
    bench_lanes,
    bench_large,
    bench_many,
    bench_preview,
    bench_queues,
    bench_release,
    bench_tick,
    bench_upgrade,
    bench_worker,
    report,
    soak,
)
from tests.bench.load import Bench, bench
from tests.bench.report import Row

Section = Callable[[Bench], list[Row]]


def cron(bench: Bench) -> list[Row]:
    from tests.bench import bench_cron

    with bench.database("bench_cron") as conn, bench.database("bench_0_2_0", "template0") as old:
        return bench_cron.run(conn) + bench_cron.beside(conn, old)


def runs(beside: Bench) -> list[Row]:
    from tests.bench import bench_runs

    rows: list[Row] = []
    durable = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
    with bench(**durable) as place, place.database("bench_runs") as conn:
        rows += bench_runs.run(conn.dsn, bench_runs.MUST, "")
    with beside.database("bench_runs") as conn:
        rows += bench_runs.run(conn.dsn, None, ", no wait for the disk")
    return rows


SECTIONS: dict[str, Section] = {
    "cron": cron,
    "idle": bench_tick.idle,
    "tick": bench_tick.all_due,
    "release": bench_release.run,
    "lanes": bench_lanes.run,
    "preview": bench_preview.run,
    "poison": lambda b: [bench_tick.poisoned(b)],
    "install": bench_install.run,
    "upgrade": bench_upgrade.run,
    "growth": bench_growth.run,
    "large": bench_large.run,
    "history": bench_history.run,
    "runs": runs,
    "many": bench_many.run,
    "executor": bench_executor.run,
    "queues": bench_queues.run,
    "claims": bench_claims.run,
    "lag": bench_lag.run,
    "worker": bench_worker.run,
}


def main(names: list[str]) -> int:
    if names[:1] == ["soak"]:
        return soak.main(names[1:])
    is_kept, names = names[:1] == ["--keep"], [name for name in names if name != "--keep"]
    unknown = sorted(set(names) - set(SECTIONS))
    if unknown:
        print(f"no section {', '.join(unknown)}; there are: {', '.join(SECTIONS)}", file=sys.stderr)
        return 2
    names = [name for name in SECTIONS if name in names]  # the order of RESULTS.md
    started = perf_counter()
    rows: list[Row] = []
    with bench() as place:
        server = place.version
        for name in names or SECTIONS:
            before = perf_counter()
            found = SECTIONS[name](place)
            rows += found
            for row in found:  # so that a later section that fails loses nothing
                print("; ".join(cell for cell in row.cells if cell), file=sys.stderr)
            print(f"{name}: {perf_counter() - before:.0f} s", file=sys.stderr)
    print(report.markdown(rows), end="")
    if not names:
        report.keep(report.document(rows, server, perf_counter() - started), None)
    elif is_kept:
        report.keep_again(rows, names)
    return 0 if all(row.ok is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
