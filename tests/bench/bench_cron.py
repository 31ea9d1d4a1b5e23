"""The cron language against PyPI cronsim and release 0.2.0, in one run: next slots, the slowest search, parse, describe."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import geometric_mean
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

from cronsim import CronSim

from tests.bench.report import Row, medians, ms
from tests.install.releases import RELEASES
from tests.support.database import Database

VECTORS = Path(__file__).parents[1] / "cron" / "data" / "next.jsonl"

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
    # some of them name the hour that the clock skips, year after year
    "0 0 29 2 1#5",
    "0 0 29 2 */7,MON#5",
    "0 0 L-28,LW 2 */7",
    "0 0 LW * *",
    "0 0 31W * *",
    "* * * 2 SUN#5",
    "*/5 2 L 3 */7",
    "*/30 2 31 3 */7,SUN#5",
    "*/30 2 * 3 SUN#2",
    "* 2 8-14 3 */7,SUN#2",
    # of these months March alone has the day
    "*/30 2 31 2,3,4,6,9,11 */7,SUN#5",
    "*/30 2 */30,27W 2,3,4,6,9,11 SUNL",
    "0 0 */21 * SUNL",
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
SEARCH = """create function pg_temp.search(expr text, zone text, after timestamptz, times int)
returns float8 language plpgsql as $search$
declare
  v_spec lenses.cron_spec := lenses.fn_cron_parse(expr);
  v_start timestamptz;
  v_slot timestamptz;
  v_best float8 := 'infinity';
begin
  for v_i in 1..times loop
    v_start := clock_timestamp();
    v_slot := lenses.fn_cron_next_after_spec(v_spec, zone, after);
    v_slot := lenses.fn_cron_next_after_spec(v_spec, zone, after);
    v_slot := lenses.fn_cron_next_after_spec(v_spec, zone, after);
    v_slot := lenses.fn_cron_next_after_spec(v_spec, zone, after);
    v_best := least(v_best, extract(epoch from clock_timestamp() - v_start) * 1e6 / 4);
  end loop;
  return v_best;
end
$search$"""
PARSE = "perform lenses.fn_cron_parse('{expr}' || left(v_i::text, 0));"
DESCRIBE = "perform lenses.fn_cron_describe('{expr}' || left(v_i::text, 0));"


def ours(conn: Database, step: str, expr: str, zone: str, steps: int) -> float:
    """Microseconds a call inside the server, the best of some rounds."""
    words = {"expr": expr, "zone": zone, "steps": steps, "start": START, "end": END}
    text = WALK.format(**words, step=step.format(**words))

    def once() -> float:
        conn.execute(text)
        row = conn.execute("select current_setting('lf.bench')::float8").fetchone()
        assert row
        return row[0]

    return min(once() for _ in range(ROUNDS))


def best(conn: Database, expr: str, zone: str) -> float:
    """Microseconds of a search from the start, the best of many."""
    found: float = conn.value("select pg_temp.search(%s, %s, %s, 20)", (expr, zone, START))
    return found


def beside(conn: Database, old: Database) -> list[Row]:
    """Plain expressions beside release 0.2.0, in turn, so that a busy moment hits both alike."""
    (release,) = (r for r in RELEASES if r.version == "0.2.0")
    with TemporaryDirectory() as folder:
        done = release.install(release.unpack(Path(folder)), old.dsn)
        if done.returncode:
            raise RuntimeError(done.stderr)
    old.execute(SEARCH)
    rows = []
    for zone in ZONES:
        pairs = [
            [min(column) for column in zip(*rounds, strict=True)]
            for expr in REALISTIC
            for rounds in [[(best(c, expr, zone) for c in (conn, old)) for _ in range(9)]]
        ]
        mine, other = (sum(column) for column in zip(*pairs, strict=True))
        rows.append(
            Row(
                f"the same beside release 0.2.0, {zone}",
                f"{mine / len(pairs):.1f} µs a call",
                f"{other / len(pairs):.1f} µs a call",
                f"{other / mine:.2f}",
                "at least 1",
                other / mine >= 1,
            )
        )
    return rows


def slowest(conn: Database) -> list[Row]:
    """Rare expressions at some instants, and each question of the vectors; a search is tried ten times."""
    conn.execute(SEARCH)
    rare = [
        (expr, zone, START + timedelta(hours=hours))
        for expr in (*RARE, *REALISTIC)
        for zone in (*ZONES, "America/St_Johns", "Africa/Casablanca", "Australia/Lord_Howe")
        for hours in (0, 1500, 7000, 42240)  # the last: an hour before Berlin's clock goes back
    ]
    vectors = [
        (v["expr"], v["tz"], v["after"]) for v in map(json.loads, VECTORS.read_text().splitlines())
    ]
    rows = []
    for name, questions in (("them and of rare ones", rare), ("all vectors", vectors)):
        value, expr, zone = max(
            (conn.value("select pg_temp.search(%s, %s, %s, 10)", question), *question[:2])
            for question in questions
        )
        rows.append(
            Row(
                f"slowest search of {name}: `{expr}` in {zone}",
                f"{value:.0f} µs",
                must="at most 1 ms",
                ok=value <= 1000,
            )
        )
    return rows


def moved(conn: Database) -> Row:
    """The next slot of a dense schedule that leaves out weekends, on each day of a week."""
    spec = "lenses.fn_cron_move_to(lenses.fn_cron_parse('* * * * *'), c.id, %s)"
    query = (
        f"select lenses.fn_cron_next_after_spec({spec}, 'America/New_York', %s) "
        "from lenses.schedule_calendars as c where c.name = 'weekdays'"
    )
    times = [
        medians(3, lambda at=START + timedelta(day), on=word: conn.execute(query, (on, at)))[0]
        for day in range(7)
        for word in ("before", "after")
    ]
    return Row("slowest next slot that may move, every minute, weekends closed", ms(max(times)))


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


def run(conn: Database) -> list[Row]:
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

    rows += slowest(conn)
    rows.append(moved(conn))

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
