"""The lanes of the worker that leads: connections that help with ticks of more than one batch.

Each lane is a thread with a connection of its own. It ticks only beside a tick of the leader, so
that an idle minute costs what one driver costs. A lane that is lost costs nothing but speed: what
it held is due again, and the leader and the other lanes take it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import psycopg

from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.link import words


class Lane:
    """One further lane. Its connection stays open between ticks."""

    def __init__(
        self,
        number: int,
        connect: Callable[[], Connection],
        stop: threading.Event,
        say: Callable[[str], None],
    ) -> None:
        self.number = number
        self._connect = connect
        self._stop = stop
        self._say = say
        self._conn: Connection | None = None
        self._thread: threading.Thread | None = None
        self.is_lost = False

    @property
    def is_busy(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def help(self, tick: int, max_catchup: int | None) -> None:
        """Tick beside this tick of the leader, unless the last one is still under way."""
        if not self.is_busy:
            self._thread = threading.Thread(
                target=self._serve,
                args=(tick, max_catchup),
                name=f"lane {self.number}",
                daemon=True,
            )
            self._thread.start()

    def leave(self) -> None:
        """Wait for the step at hand, and close the connection."""
        if self._thread is not None:
            self._thread.join()
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    def _serve(self, tick: int, max_catchup: int | None) -> None:
        try:
            if self._conn is None or self._is_dead(self._conn):
                self._conn = self._connect()
            self._tick(self._conn, tick, max_catchup)
        except (psycopg.Error, LfSqlError) as error:
            if not self.is_lost:
                self._say(f"lane {self.number}: {words(error)}; the others do its work")
            self.is_lost = True
        else:
            if self.is_lost:
                self._say(f"lane {self.number} is back")
            self.is_lost = False

    @staticmethod
    def _is_dead(conn: Connection) -> bool:
        """Also where this end has not been told yet."""
        try:
            conn.execute("select 1")
        except psycopg.Error:
            return True
        return False

    def _tick(self, conn: Connection, beside: int, max_catchup: int | None) -> None:
        row = conn.execute(
            "select pg_catalog.set_config('synchronous_commit', 'off', true), "
            "lenses.fn_tick_begin('worker', %s::integer, %s, %s) as tick",
            [max_catchup, self.number, beside],
        ).fetchone()
        tick = row["tick"] if row else None
        if tick is None:  # frozen, an upgrade, or lanes were taken away
            return
        goes_on = True
        while goes_on and not self._stop.is_set():
            row = conn.execute(
                "select lenses.fn_tick_step(%s::bigint) as goes_on", [tick]
            ).fetchone()
            goes_on = bool(row and row["goes_on"])
        conn.execute(
            "select pg_catalog.set_config('synchronous_commit', 'off', true), "
            "lenses.fn_tick_end(%s::bigint)",
            [tick],
        )


class Lanes:
    """Those that a leader has beneath it; lane 1 is its own."""

    def __init__(
        self, connect: Callable[[], Connection], stop: threading.Event, say: Callable[[str], None]
    ) -> None:
        self._connect = connect
        self._stop = stop
        self._say = say
        self._lanes: list[Lane] = []
        self.wanted = 1

    @property
    def living(self) -> int:
        """How many are of use, the leader's own included; one not needed yet counts."""
        return self.wanted - sum(lane.is_lost for lane in self._lanes)

    def fit(self, wanted: int) -> None:
        """As many as are set now; those too many end after their step."""
        self.wanted = wanted
        while len(self._lanes) > wanted - 1 and not self._lanes[-1].is_busy:
            self._lanes.pop().leave()
        for number in range(len(self._lanes) + 2, wanted + 1):
            self._lanes.append(Lane(number, self._connect, self._stop, self._say))

    def help(self, count: int, tick: int, max_catchup: int | None) -> None:
        """Let `count` lanes in all work on this tick of the leader."""
        for lane in self._lanes[: count - 1]:
            lane.help(tick, max_catchup)

    def leave(self) -> None:
        while self._lanes:
            self._lanes.pop().leave()
