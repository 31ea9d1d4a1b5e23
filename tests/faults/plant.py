"""A server of its own that may be killed, full of schedules, and dispatchers that play the clock."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.bench.load import SEEDS, multiply
from tests.support.database import Database, connect, make_tenant, wait_until
from tests.support.server import TestServer

# What is committed must survive a crash of the server.
DURABLE = {"synchronous_commit": "on", "restart_after_crash": "on"}
SLOTS_A_TICK = 100  # of a schedule at most
GONE = (psycopg.OperationalError, psycopg.InterfaceError)


def start_of_play() -> datetime:
    """A full hour ahead of the clock, so that only the played one makes anything due."""
    return datetime.now(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(days=2)


class Plant:
    """Minutely schedules from `start` on, and the minute that is being played."""

    def __init__(self, server: TestServer, *, install: bool = True) -> None:
        self.server = server
        self.start = start_of_play()
        self.count = 0
        if install:
            with product_db.connect(server.dsn()) as conn:
                apply.install(conn, bundle.load())

    def connect(self) -> Database:
        return connect(self.server.dsn())

    def at(self, minute: float) -> datetime:
        return self.start + timedelta(minutes=minute)

    def fill(self, count: int, *, policy: str = "{}", approval: str = "false") -> None:
        """So many, of ten tenants."""
        self.count = count
        seeds = min(count, SEEDS)
        with self.connect() as conn:
            tenants = [make_tenant(conn).id for _ in range(10)]
            conn.execute(
                "insert into lenses.workflows (lenser_id, title) select t, 'work' from unnest(%s::uuid[]) as t",
                [tenants],
            )
            conn.execute(
                "insert into lenses.workflow_schedules "
                "(workflow_id, cron_expr, approval_policy, queue_policy, start_at) "
                "select w.id, '* * * * *', jsonb_build_object('requiresApproval', %s::boolean), %s, %s "
                "from lenses.workflows as w cross join generate_series(1, %s / 10)",
                [approval, policy, self.start, seeds],
            )
            multiply(conn, count - seeds)
            conn.execute("vacuum analyze")

    def lose(self, postmaster: bool) -> None:
        """kill -9, of the whole server or of one that works."""
        if postmaster:
            self.server.kill()
            return
        with contextlib.suppress(*GONE), self.connect() as conn:
            pid = conn.value(
                "select pid from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() "
                "and backend_type = 'client backend' order by random() limit 1"
            )
            if pid:
                os.kill(pid, signal.SIGKILL)

    def back(self) -> None:
        """Up again, by itself or started."""

        def answers() -> bool:
            try:
                self.connect().close()
            except GONE:
                return False
            return True

        if self.server.is_alive:
            wait_until(answers)
            return

        self.server.restart()
        wait_until(answers)

    def drain(self, minute: int) -> None:
        """Tick at that minute until nothing is left; a server that is about to go down is waited for."""

        def drained() -> bool:
            try:
                with self.connect() as conn:
                    play(conn, self.at(minute), batch=1000)
            except GONE:
                return False
            return True

        wait_until(drained)

    def violations(self) -> list[Any]:
        with self.connect() as conn:
            return conn.rows("select * from lenses.fn_invariant_violations()")

    def check(self, minutes: int) -> None:
        """Each schedule has exactly one run a minute, of minutes 0 to `minutes` - 1, and all promises hold."""
        with self.connect() as conn:
            found = conn.rows(
                "select scheduled_for, count(*) as n, count(distinct schedule_id) as schedules "
                "from lenses.workflow_runs group by 1 order by 1"
            )
        assert [tuple(row) for row in found] == [
            (self.at(minute), self.count, self.count) for minute in range(minutes)
        ]
        assert self.violations() == []


def begun(conn: Database, at: datetime) -> int | None:
    """A tick's id. Up to version 0.2 the function has another name, and an upgrade may come between two tries."""
    for name in ("fn_begin_tick_at", "fn_open_tick"):
        with contextlib.suppress(psycopg.errors.UndefinedFunction):
            return conn.value(f"select lenses.{name}('play', %s)", [at])
    return conn.value("select lenses.fn_begin_tick_at('play', %s)", [at])


def play(conn: Database, at: datetime, batch: int = 200, cap: int = SLOTS_A_TICK) -> int:
    """A tick as a driver runs it, a batch a transaction; schedules handled."""
    tick_id = begun(conn, at)
    if tick_id is None:
        return 0
    handled = 0
    while taken := conn.value(
        "select lenses.fn_dispatch_pass(%s, %s, %s, %s)", [tick_id, at, batch, cap]
    ):
        handled += taken
    return handled


@contextmanager
def dispatching(
    plant: Plant, minute: Callable[[], int], dispatchers: int = 4
) -> Iterator[list[str]]:
    """Dispatchers that tick at the minute that is being played, whatever happens to their connections.

    Yields the errors that are no loss of a connection.
    """
    over = threading.Event()
    errors: list[str] = []

    def work() -> None:
        while not over.is_set():
            try:
                with plant.connect() as conn:
                    while not over.is_set():
                        if not play(conn, plant.at(minute())):
                            over.wait(0.02)
            except GONE:
                over.wait(0.05)
            except psycopg.Error as error:
                errors.append(f"{error.sqlstate}: {error}")
                over.wait(0.05)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(dispatchers)]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        over.set()
        for thread in threads:
            thread.join(60)


@contextmanager
def plant(settings: Mapping[str, str] | None = None, **more: Any) -> Iterator[Plant]:
    server = TestServer({**DURABLE, **(settings or {})}, **more)
    try:
        yield Plant(server)
    finally:
        server.stop()


def moment(least: float, most: float) -> None:
    """Let a random time pass: where in its work the server dies is to be anywhere."""
    threading.Event().wait(random.uniform(least, most))
