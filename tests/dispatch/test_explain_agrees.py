"""A random month is played; the explanation of each of its minutes agrees with what was recorded."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.support.scenario import MONDAY, Scenario

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
END = MONDAY + 28 * DAY
CRONS = [
    "0 9 * * *", "30 2 * * *", "0 */6 * * *", "15 8-17/3 * * 1-5", "0 12 L,1W * MON#2,FRIL",
    "45 23 13 * 5", "0 1,2,3 * * 0", "20 */8 * * *",
]  # fmt: skip
ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu"]
QUEUES = [
    {"mode": "parallel"},
    {"mode": "serial"},
    {"mode": "serial", "onOverlap": "queue"},
    {"mode": "serial", "onOverlap": "replace"},
    {"mode": "parallel", "maxConcurrency": 2, "onMissed": "run_once"},
    {"mode": "parallel", "onMissed": "backfill", "maxBackfill": 3},
    {"mode": "serial", "onMissed": "spread"},
]
FALSE = {"/last_24h_stats/total": {"gt": 1000}}
VERDICTS = {"ENQUEUED": "fired", "STARTED": "fired", "SUCCESS": "fired", "SKIPPED": "skipped"}
VERDICTS |= {"DEFERRED": "waiting"}


def any_schedule(scenario: Scenario, rng: random.Random, number: int) -> UUID:
    columns: dict[str, Any] = {"queue_policy": rng.choice(QUEUES), "timezone": rng.choice(ZONES)}
    if rng.random() < 0.6:
        days = rng.sample(range(28), rng.randint(2, 12))
        dates = [str((MONDAY + day * DAY).date()) for day in days]
        kind = rng.choice(["skip_dates", "skip_dates", "only_dates"])
        columns["calendar_id"] = scenario.make_calendar(
            kind,
            *dates,
            f"2030-01-{rng.randint(1, 28):02}",
            timezone=rng.choice(ZONES),
            name=f"days of {number}",
        )
        columns["on_holiday"] = rng.choice(["skip", "before", "after"])
    if rng.random() < 0.3:
        columns["end_at"] = MONDAY + rng.randint(10, 25) * DAY
    if rng.random() < 0.15:
        columns["pre_dispatch_condition"] = FALSE
    columns["start_at"] = MONDAY + rng.choice([0, 0, 3]) * DAY
    if rng.random() < 0.2:
        columns["on_holiday"] = "skip"  # intervals do not move
        return scenario.make_schedule(None, interval_ms=5 * 3_600_000, **columns)
    return scenario.make_schedule(rng.choice(CRONS), **columns)


def play(scenario: Scenario, rng: random.Random) -> None:
    """To the end of the month, from due time to due time; runs end when they like, servers fail."""
    now = MONDAY
    while now < END:
        due = scenario.db.value(
            "select min(due_at) from lenses.workflow_schedules where not is_deferred"
        )
        now = max(now + MINUTE, min(due or END, now + 12 * HOUR)) + rng.choice(
            [0, 1, 1]
        ) * timedelta(seconds=2)
        if rng.random() < 0.02:  # nothing ticks for some hours
            now += rng.randint(1, 40) * HOUR
        if now >= END:
            return
        scenario.tick(now)
        for run in scenario.db.column(
            "select id from lenses.workflow_runs where status = 'pending' and random() < %s",
            [rng.choice([0, 0.1, 0.7])],
        ):
            scenario.end(run, at=now)


def own_slots(scenario: Scenario, schedule: Any) -> set[datetime]:
    """What the rule alone says, before a calendar moves or a window cuts."""
    if schedule.interval_ms is not None:
        step = timedelta(milliseconds=schedule.interval_ms)
        count = int((END - schedule.start_at) / step) + 1
        return {schedule.start_at + n * step for n in range(count)}
    return set(
        scenario.db.column(
            "select n::timestamptz from lenses.fn_cron_next(%s, %s, %s, 3000) as n "
            "where n::timestamptz < %s",
            [schedule.cron_expr, schedule.timezone, MONDAY - MINUTE, END],
        )
    )


def explained(scenario: Scenario, schedule: UUID, minutes: list[datetime]) -> list[dict[str, Any]]:
    return scenario.db.column(
        "select lenses.fn_explain_schedule(%s, m) from unnest(%s::timestamptz[]) "
        "with ordinality as u (m, place) order by place",
        [schedule, minutes],
    )


def judged(scenario: Scenario, schedule: UUID, slot: datetime) -> tuple[str, str | None]:
    """What the tick's judge says of a slot that nobody has handled yet, as a verdict; and why."""
    row = scenario.db.row(
        "select d.decision, d.reason from lenses.fn_evaluate_slots("
        "array[row(%s, %s, %s, false, null)::lenses.slot_candidate], now(), 'preview') as d",
        [schedule, slot, slot],
    )
    words = {"dispatch": "fires", "skip": "would_skip", "defer": "would_wait"}
    return words[row.decision], row.reason


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 60))]
)
def test_each_minute_is_explained_as_it_was_recorded(scenario: Scenario, seed: int) -> None:
    rng = random.Random(seed)
    overlap = rng.choice(["skip", "queue", "replace"])
    scenario.db.execute(
        "select lenses.fn_set_dispatch_settings(%s), setseed(%s)",
        [Jsonb({"default_on_overlap": overlap}), rng.random()],
    )
    schedules = [any_schedule(scenario, rng, number) for number in range(5)]
    play(scenario, rng)
    told: Counter[str] = Counter()
    for schedule in schedules:
        row = scenario.schedule(schedule)
        slots = own_slots(scenario, row)
        ledger = scenario.db.rows(
            "select run_at, run_at_last, slot_count, status, reason, run_id "
            "from lenses.schedule_slots where schedule_id = %s",
            [schedule],
        )
        single = {entry.run_at: entry for entry in ledger if entry.slot_count == 1}
        dropped = [entry for entry in ledger if entry.slot_count > 1]
        # every slot of the rule, every recorded one, and minutes that are none
        beside = {
            slot + rng.choice([-1, 1]) * MINUTE
            for slot in rng.sample(sorted(slots), min(5, len(slots)))
        }
        minutes = sorted(slots | single.keys() | beside)
        in_drops: Counter[int] = Counter()
        for minute, answer in zip(minutes, explained(scenario, schedule, minutes), strict=True):
            verdict, at = answer["verdict"], f"{row.cron_expr} {minute} {answer}"
            told[verdict] += 1
            entry = single.get(minute)
            if entry is not None:
                expected = "fired" if entry.run_id else VERDICTS[entry.status]
                assert verdict == expected, at
                assert answer["ledger"].get("reason") == entry.reason, at
                assert answer["ledger"].get("run_id") == (
                    str(entry.run_id) if entry.run_id else None
                )
            elif verdict == "skipped":
                assert answer["ledger"]["reason"] == "missed", at
                first = datetime.fromisoformat(answer["ledger"]["slot"])
                in_drops[
                    next(
                        n
                        for n, d in enumerate(dropped)
                        if d.run_at == first and d.run_at_last >= minute
                    )
                ] += 1
            elif minute not in slots:
                assert verdict == "no_slot", at
            elif verdict == "moved":
                to = datetime.fromisoformat(answer["moved_to"])
                assert row.on_holiday != "skip" and to != minute, at
            elif verdict == "outside_window":
                assert minute < row.start_at or minute > (row.end_at or END), at
            else:
                expected, reason = judged(scenario, schedule, minute)
                assert verdict == expected, at
                assert reason is None or reason in answer["because"] or verdict == "would_wait", at
                assert row.next_run_at is not None and minute >= row.next_run_at, at
        # each dropped row speaks of as many slots as are explained by it, but for moved ones
        for n, entry in enumerate(dropped):
            if row.on_holiday == "skip" or row.calendar_id is None:
                assert in_drops[n] == entry.slot_count, f"{row.cron_expr} {entry}"
    assert told["fired"] > 0 and told["no_slot"] > 5 and told.total() > 50


@pytest.fixture(autouse=True)
def _soon_enough() -> None:
    assert datetime.now(UTC) < MONDAY
