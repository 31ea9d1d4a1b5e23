"""A transaction held open elsewhere while ticks go on: dead entries of the due index pile up."""

from __future__ import annotations

import statistics

import pytest

from tests.bench.report import time_of
from tests.faults.plant import plant, play

AUTOVACUUM = {"autovacuum_naptime": "1s", "shared_buffers": "512MB", "max_wal_size": "4GB"}


@pytest.mark.slow
def test_an_idle_transaction_slows_the_empty_tick_bounded() -> None:
    """Each dead entry costs about a tenth of a microsecond a look; once it ends, all is as before."""
    with plant(AUTOVACUUM) as place:
        place.fill(10_000)
        with place.connect() as conn, place.connect() as holder:

            def empty(minute: int) -> float:
                return statistics.median(
                    time_of(lambda: play(conn, place.at(minute + 0.5))) for _ in range(5)
                )

            with holder.transaction():
                holder.execute("set transaction isolation level repeatable read")
                holder.execute("select count(*) from lensers.profiles")
                for minute in range(10):
                    assert play(conn, place.at(minute), batch=1000) == 10_000
                held = empty(9)
            conn.execute("vacuum lenses.schedule_due")
            after = empty(9)
        # 100,000 dead entries.
        assert held < 0.25
        assert after < 0.05
        place.check(10)
