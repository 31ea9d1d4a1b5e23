"""The worker's own housekeeping: history once a night, and its idle ticks."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from lf_sql import purge, worker
from tests.support.database import Database, wait_until


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 3, 1, 3, 16, tzinfo=UTC), 1 / 60),
        (datetime(2026, 3, 1, 3, 17, tzinfo=UTC), 24),
        (datetime(2026, 3, 1, 0, 17, tzinfo=UTC), 3),
        (datetime(2026, 12, 31, 23, 17, tzinfo=UTC), 4),
    ],
)
def test_the_next_night(now: datetime, hours: float) -> None:
    assert purge.seconds_until_next(now) == pytest.approx(hours * 3600)


def test_a_leader_purges_beside_its_ticks(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "FIRST_AFTER", 0.0)
    db.execute(
        "insert into lenses.dispatch_ticks (driver, started_at) "
        "values ('pg_cron', now() - interval '40 days')"
    )
    old = "select count(*) from lenses.dispatch_ticks where started_at < now() - interval '30 days'"
    lines: list[str] = []
    stop = threading.Event()
    leader = worker.Worker(db.dsn, worker.Settings(tick_ms=100), stop, lines.append)
    thread = threading.Thread(target=leader.run)
    thread.start()
    try:
        wait_until(lambda: db.value(old) == 0)
    finally:
        stop.set()
        thread.join(10)
    assert not any("failed" in line for line in lines), lines
    assert db.value("select ticks from lenses.dispatch_totals") == 1


def test_of_idle_ticks_one_a_minute_stays(db: Database) -> None:
    db.execute(
        "insert into lenses.dispatch_ticks (driver, started_at, finished_at, due, note) "
        "select d, at, at, case when n = 5 then 1 else 0 end, case when n = 7 then 'x' end "
        "from generate_series(0, 59) as n, unnest(array['worker', 'pg_cron']) as d, "
        "lateral (select date_trunc('minute', now()) - interval '15 minutes' "
        "+ make_interval(secs => n) as at) as t"
    )
    beat = "select lenses.fn_worker_heartbeat('w', 'h', 1, %s, '')"
    db.execute(beat, [False])
    assert db.value("select count(*) from lenses.dispatch_ticks") == 120
    db.execute(beat, [True])
    left = dict(db.rows("select driver, count(*)::int from lenses.dispatch_ticks group by 1"))
    assert left == {"pg_cron": 60, "worker": 3}, "the first, the busy one, the one with a note"
    assert db.value("select ticks from lenses.dispatch_totals") == 57
