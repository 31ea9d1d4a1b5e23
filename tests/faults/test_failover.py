"""The primary dies, its standby takes over: what was lost comes back under the same ids."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.faults.plant import Plant, plant, play
from tests.support.database import Database, connect, wait_until
from tests.support.servers import standby_of

STREAMING = {"wal_level": "replica", "max_wal_senders": "5", "hot_standby": "on"}
RUNS = "select id, schedule_id, scheduled_for from lenses.workflow_runs"


def ids(conn: Database) -> set[tuple[object, ...]]:
    return {tuple(row) for row in conn.rows(RUNS)}


@contextmanager
def promoted(dsn: str) -> Iterator[Database]:
    with connect(dsn) as conn:
        conn.execute("select pg_promote(true, 60)")
        wait_until(lambda: not conn.value("select pg_is_in_recovery()"))
        yield conn


def caught_up(primary: Database, standby: Database) -> bool:
    return standby.value(
        "select pg_last_wal_replay_lsn() >= %s::pg_lsn",
        [primary.value("select pg_current_wal_flush_lsn()::text")],
    )


def end(place: Plant, conn: Database, minutes: int) -> None:
    found = conn.rows(
        "select scheduled_for, count(*) as n, count(distinct schedule_id) as schedules "
        "from lenses.workflow_runs group by 1 order by 1"
    )
    assert [tuple(row) for row in found] == [
        (place.at(minute), place.count, place.count) for minute in range(minutes)
    ]
    assert conn.rows("select * from lenses.fn_invariant_violations()") == []


def test_an_asynchronous_standby_gives_lost_slots_their_ids_back() -> None:
    with plant(STREAMING) as place:
        place.fill(300)
        with standby_of(place.server) as dsn:
            with place.connect() as primary, connect(dsn) as standby:
                play(primary, place.at(0))
                wait_until(lambda: caught_up(primary, standby))
                # From here on nothing reaches the standby: its receiver is stopped.
                receiver = standby.value("select pid from pg_stat_wal_receiver")
                os.kill(receiver, signal.SIGSTOP)
                play(primary, place.at(1))
                lost = ids(primary)
                assert len(lost) == 600
            place.lose(postmaster=True)
            os.kill(receiver, signal.SIGCONT)
            with promoted(dsn) as conn:
                assert len(ids(conn)) == 300
                assert play(conn, place.at(1)) == 300
                assert ids(conn) == lost
                end(place, conn, 2)


def test_a_synchronous_standby_loses_nothing() -> None:
    with plant({**STREAMING, "synchronous_commit": "remote_apply"}) as place:
        place.fill(2_000)
        with standby_of(place.server) as dsn:
            with place.connect() as primary:
                primary.execute("alter system set synchronous_standby_names = '*'")
                primary.execute("select pg_reload_conf()")
                wait_until(
                    lambda: primary.value("select sync_state from pg_stat_replication") == "sync"
                )
                play(primary, place.at(0))
                # Killed between two batches that its client has seen committed.
                tick = primary.value("select lenses.fn_begin_tick_at('play', %s)", [place.at(1)])
                for _ in range(4):
                    primary.execute(
                        "select lenses.fn_dispatch_pass(%s, %s, 200, 100)", [tick, place.at(1)]
                    )
                seen = ids(primary)
                assert len(seen) == 2_800
            place.lose(postmaster=True)
            with promoted(dsn) as conn:
                conn.execute("set synchronous_commit = 'local'")
                assert ids(conn) == seen
                play(conn, place.at(1))
                end(place, conn, 2)


def test_a_standby_refuses_to_tick() -> None:
    with plant(STREAMING) as place:
        place.fill(10)
        with standby_of(place.server) as dsn, connect(dsn) as standby:
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                standby.execute("call lenses.sp_dispatch_tick()")
