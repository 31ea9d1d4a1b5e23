"""kill -9 of the server, or of one of its processes, in the middle of ticks: nothing lost, nothing doubled."""

from __future__ import annotations

import pytest

from tests.faults.plant import Plant, dispatching, moment, plant


def rounds(place: Plant, count: int, longest: float) -> None:
    minute = 0
    with dispatching(place, lambda: minute) as errors:
        for round_ in range(count):
            minute = round_
            moment(0.02, longest)
            place.lose(postmaster=round_ % 3 != 2)
            place.back()
            place.drain(minute)
    place.drain(minute)
    assert errors == []
    place.check(count)


def test_kill_9_in_the_middle_of_ticks() -> None:
    with plant() as place:
        place.fill(2_000)
        rounds(place, 3, 0.3)


@pytest.mark.slow
def test_kill_9_twenty_times_under_load() -> None:
    with plant({"shared_buffers": "512MB", "max_wal_size": "4GB"}) as place:
        place.fill(20_000)
        rounds(place, 20, 3.0)
        with place.connect() as conn:
            conn.execute("create extension amcheck")
            conn.execute(
                "select bt_index_check(i.indexrelid, true) from pg_index as i "
                "join pg_class as c on c.oid = i.indexrelid join pg_am as a on a.oid = c.relam "
                "where a.amname = 'btree' and c.relnamespace in "
                "('lenses'::regnamespace, 'agents'::regnamespace)"
            )
