"""The nightly purge of history by a worker that leads, beside its ticks and never in their way."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg

from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.link import words
from lf_sql.trouble import kind_of

AT = timedelta(hours=3, minutes=17)  # UTC
AGAIN_FIRST, AGAIN_LAST = 5.0, 600.0  # seconds until another try where the server was busy
FIRST_AFTER = 60.0  # seconds of leading: so a worker that restarts often purges too


def seconds_until_next(now: datetime) -> float:
    """From `now` to the next nightly hour."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    due = midnight + AT
    if due <= now:
        due += timedelta(days=1)
    return (due - now).total_seconds()


class NightlyPurge:
    """A thread with a connection of its own, made when it has work."""

    def __init__(self, connect: Callable[[], Connection], say: Callable[[str], None]) -> None:
        self._connect = connect
        self._say = say
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._conn: Connection | None = None

    def lead(self) -> None:
        """Start, once; the thread goes on through reconnections."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="purge", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread, and a purge that is under way: its batches are committed as they come."""
        self._stop.set()
        conn = self._conn
        if conn is not None:
            conn.cancel()

    def _run(self) -> None:
        pause, tries = FIRST_AFTER, 0
        while not self._stop.wait(pause):
            try:
                self.once()
                tries = 0
            except (psycopg.Error, LfSqlError) as error:
                if self._stop.is_set():
                    return
                tries += 1
                if kind_of(error) == "server":
                    if tries == 1:
                        self._say(f"purge put off: {words(error)}")
                    pause = min(AGAIN_FIRST * 2 ** min(tries - 1, 10), AGAIN_LAST)
                    continue
                self._say(f"purge failed: {words(error)}")
            pause = seconds_until_next(datetime.now(UTC))

    def once(self) -> None:
        """One purge; safe beside another one, and beside pg_cron's."""
        with self._connect() as conn:
            self._conn = conn
            try:
                conn.execute("call lenses.sp_purge_history()")
            finally:
                self._conn = None
