"""The cron language against PyPI cronsim, in one run: next slots, the slowest search, parse, describe."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from statistics import geometric_mean
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from cronsim import CronSim

from tests.bench.report import Row

REALISTIC = [
    "* * * * *",
    "*/5 * * * *",
    "*/15 * * * *",
    "0 * * * *",
    "30 */2 * * *",
    "0 9 * * *",
    "30 2 * * *",
    "0 9 * * 1-5",
    "*/15 9-17 * * 1-5",
    "0,30 8-18 * * 1-5",
    "0 0 * * 0",
    "45 23 * * 6",
    "0 0 1 * *",
    "0 6 1,15 * *",
    "0 12 1 */3 *",
    "15 10 * * 1,3,5",
    "5 4 * * *",
    "0 22 * * 1-5",
    "0 0 1 1 *",
    "0 9 1-7 * 1",
]
RARE = [
    "0 0 29 2 */7",
    "0 0 29 2 *",
    "*/5 2 8-14 3 */7",
    "*/30 2 31 3 */7",
    "0 2 8-14 3 */7",
    "59 23 31 12 */7",
]
ZONES = ("UTC", "America/New_York", "Europe/Berlin")
# both walk within these years: past 2037 zones are worked out from a rule, which nobody schedules by
START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)
STEPS = 1000
ROUNDS = 3

WALK = """do $bench$
declare
  v_spec lenses.cron_spec := lenses.fn_cron_parse('{expr}');
  v_slot timestamptz := '{start}';
  v_start timestamptz;
begin
  perform lenses.fn_cron_next_after_spec(v_spec, '{zone}', v_slot);
  v_start := clock_timestamp();
  for v_i in 1..{steps} loop
    {step}
  end loop;
  perform set_config(
    'lf.bench', (extract(epoch from clock_timestamp() - v_start) * 1e6 / {steps})::text, false
  );
end;
$bench$"""
NEXT = """v_slot := lenses.fn_cron_next_after_spec(v_spec, '{zone}', v_slot);
    if v_slot > '{end}' then
      v_slot := '{start}';
    end if;"""
AGAIN = (
    "perform lenses.fn_cron_next_after_spec(v_spec, '{zone}', v_slot + v_i * interval '1 hour');"
)
PARSE = "perform lenses.fn_cron_parse('{expr}' || left(v_i::text, 0));"
DESCRIBE = "perform lenses.fn_cron_describe('{expr}' || left(v_i::text, 0));"


def ours(conn: psycopg.Connection[Any], step: str, expr: str, zone: str, steps: int) -> float:
    """Microseconds a call inside the server, the best of some rounds."""
    words = {"expr": expr, "zone": zone, "steps": steps, "start": START, "end": END}
    text = WALK.format(**words, step=step.format(**words))

    def once() -> float:
        conn.execute(text)
        row = conn.execute("select current_setting('lf.bench')::float8").fetchone()
        assert row
        return row[0]

    return min(once() for _ in range(ROUNDS))


def theirs(expr: str, zone: str) -> float:
    """Microseconds a call of cronsim, walking from slot to slot; the best of some rounds."""
    start = START.astimezone(UTC if zone == "UTC" else ZoneInfo(zone))

    def once() -> float:
        search, steps = CronSim(expr, start), 0
        began = time.perf_counter()
        for slot in search:
            steps += 1
            if steps == STEPS or slot > END:
                break
        return (time.perf_counter() - began) * 1e6 / steps

    return min(once() for _ in range(ROUNDS))


def run(conn: psycopg.Connection[Any]) -> list[Row]:
    """The rows of the bench table; `ratio` is the reference's time over ours."""
    rows = []
    for zone in ZONES:
        pairs = [(ours(conn, NEXT, expr, zone, STEPS), theirs(expr, zone)) for expr in REALISTIC]
        mine, other = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        mean = geometric_mean(b / a for a, b in pairs)
        rows.append(
            Row(
                f"next slots from stored specs, 20 realistic expressions, {zone}; cronsim",
                f"{mine:.1f} µs a call",
                f"{other:.1f} µs a call",
                f"{other / mine:.1f} (geometric mean {mean:.1f})",
                "at least 3",
                other / mine >= 3,
            )
        )

    slowest, value = max(
        (
            (f"`{expr}` in {zone}", ours(conn, AGAIN, expr, zone, 50))
            for zone in (*ZONES, "Africa/Casablanca", "Australia/Lord_Howe")
            for expr in (*RARE, *REALISTIC)
        ),
        key=lambda pair: pair[1],
    )
    rows.append(
        Row(
            f"slowest search of them and of rare ones: {slowest}",
            f"{value:.0f} µs",
            must="at most 1 ms",
            ok=value <= 1000,
        )
    )

    for name, step, limit in (("parse", PARSE, 100), ("describe", DESCRIBE, None)):
        value = max(ours(conn, step, expr, "UTC", 200) for expr in REALISTIC)
        rows.append(
            Row(
                f"{name}, slowest of the 20",
                f"{value:.0f} µs",
                must=f"at most {limit} µs" if limit else "",
                ok=value <= limit if limit else None,
            )
        )
    return rows
