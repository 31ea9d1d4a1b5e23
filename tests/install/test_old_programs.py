"""Worker and executors of a release go on through the upgrade, and afterwards, on the newer database."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lf_sql import apply, bundle, verify
from lf_sql import db as product_db
from tests.install.releases import REFUSED_AT_COMMIT, SOME, Release
from tests.support.database import Database, Tenant, as_user, connect, make_tenant, wait_until
from tests.support.processes import Process, running
from tests.support.server import TestServer

HEAD = bundle.load()
# One answer at the moment of the commit: the call was under way, is refused, and may be made again.
ONCE = (*REFUSED_AT_COMMIT, "40P01", "55P03", "0A000")
SLOT = "2 1 1 1 *"  # nothing is due by the clock
OPEN = "select count(*) from lenses.workflow_runs where status <> 'completed'"


@dataclass
class Feed:
    """A tenant who saves schedules that are due at once, reads them, and starts runs by hand."""

    server: TestServer
    tenant: Tenant
    workflow: uuid.UUID
    schedules: list[uuid.UUID] = field(default_factory=list)
    by_hand: int = 0
    refusals: list[str] = field(default_factory=list)

    def once(self, conn: Database) -> None:
        """Each call as a client makes it: again where it was refused."""
        schedule = uuid.uuid4()
        self.call(
            conn,
            "select id from public.fn_upsert_workflow_schedule("
            "%s, %s, %s, p_approval_policy => '{\"requiresApproval\": false}')",
            [self.workflow, schedule, SLOT],
        )
        conn.execute(
            "update lenses.workflow_schedules set next_run_at = date_trunc('minute', now()) where id = %s",
            [schedule],
        )
        self.schedules.append(schedule)
        self.call(conn, "select * from public.fn_run_workflow_schedule_now(%s)", [schedule])
        self.by_hand += 1
        self.call(conn, "select * from public.fn_get_schedule_run_history(%s)", [schedule])

    def call(self, conn: Database, query: str, params: list[Any]) -> None:
        while True:
            try:
                with as_user(conn, self.tenant):
                    conn.execute(query, params).fetchall()
                return
            except psycopg.Error as error:
                self.refusals.append(f"{error.sqlstate}: {error}")

    @contextlib.contextmanager
    def going(self) -> Iterator[None]:
        over = threading.Event()

        def loop() -> None:
            with connect(self.server.dsn()) as conn:
                while not over.is_set():
                    self.once(conn)
                    over.wait(0.02)

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(120)


@dataclass
class Place:
    """A server with the release on it, its worker, two of its executors, and a feed."""

    release: Release
    folder: Path
    server: TestServer
    feed: Feed
    worker: Process
    executors: list[Process]

    @property
    def programs(self) -> list[Process]:
        return [self.worker, *self.executors]

    def all_is_done(self) -> bool:
        """Every schedule's slot and every run by hand has a run, and each is completed."""
        for program in self.programs:
            assert program.popen.poll() is None, program.output
        with connect(self.server.dsn()) as conn:
            runs = conn.value("select count(*) from lenses.workflow_runs")
            return runs == 2 * len(self.feed.schedules) and conn.value(OPEN) == 0


@pytest.fixture(params=SOME, ids=str)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    release: Release = request.param
    folder = release.unpack(tmp_path)
    env = {"PYTHONPATH": str(folder / "installer"), "TICK_MS": "100"}
    work = ("runs", "work", "--concurrency", "2", "--poll", "1s", "--", "true")
    server = TestServer({"synchronous_commit": "on"})
    try:
        done = release.install(folder, server.dsn())
        assert done.returncode == 0, done
        with connect(server.dsn()) as conn:
            tenant = make_tenant(conn)
            workflow = conn.value(
                "insert into lenses.workflows (lenser_id, title) values (%s, 'w') returning id",
                [tenant.id],
            )
        with contextlib.ExitStack() as stack:
            started = [
                stack.enter_context(running(server.dsn(), *args, env=env))
                for args in (("worker",), work, work)
            ]
            started[0].says("leading")
            for executor in started[1:]:
                executor.says("waiting for runs")
            feed = Feed(server, tenant, workflow)
            yield Place(release, folder, server, feed, started[0], started[1:])
    finally:
        server.stop()


def test_they_go_on_through_the_upgrade(place: Place) -> None:
    server, feed = place.server, place.feed
    with feed.going():
        wait_until(lambda: len(feed.schedules) > 20)
        with product_db.connect(server.dsn()) as conn:
            assert apply.install(conn, HEAD).plan.migrations
        upgraded = len(feed.schedules)
        wait_until(lambda: len(feed.schedules) > upgraded + 20)
    wait_until(place.all_is_done)
    with connect(server.dsn()) as conn:
        now = conn.value("select clock_timestamp()")
        beat = "select min(beat_at) from lenses.worker_heartbeats"
        wait_until(lambda: place.all_is_done() and conn.value(beat) > now)
    assert [line for line in feed.refusals if not line.startswith(ONCE)] == []
    assert len(feed.refusals) <= 1
    with connect(server.dsn()) as conn:
        attempts = conn.column("select distinct attempt from lenses.workflow_runs")
        assert attempts == [1]
        versions = conn.column("select version from lenses.worker_heartbeats")
        assert versions == [place.release.version]
    with product_db.connect(server.dsn()) as product:
        assert verify.verify(product, HEAD).findings == []
    for program in place.programs:
        program.stop()
        assert "Traceback" not in program.output
        assert program.popen.returncode == 0, program.output
