"""Drivers side by side, answers lost and late, and a server that is killed between request and answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from psycopg.types.json import Jsonb

from tests.delivery.conftest import Post, with_net
from tests.delivery.sender import Answer, Request, Sender
from tests.faults.plant import DURABLE, Plant
from tests.support.database import Database, wait_until
from tests.support.server import TestServer

RUNS = 40
OVER = (
    "select count(*) from lenses.workflow_runs where status in ('completed', 'failed', 'timed_out')"
)


class Unsteady(Sender):
    """Every fifth answer is lost, every seventh comes after its lease, every eleventh is a 503."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self._kept: list[tuple[int, Answer]] = []

    def batch(self) -> None:
        with self.db.transaction():
            requests = self.queue()
            self.db.execute("delete from net.http_request_queue where id = any (%s)",
                            [[request.id for request in requests]])  # fmt: skip
            for request in requests:
                self.received.append(request)
                self._answer(request)
        for number, answer in list(self._kept):
            known = "select exists (select from lenses.delivery_requests where request_id = %s)"
            if not self.db.value(known, [number]):
                self.record(number, answer)
                self._kept.remove((number, answer))

    def _answer(self, request: Request) -> None:
        n = len(self.received)
        answer = Answer(200, f'{{"attempt": {request.json["attempt"]}}}')
        if n % 7 == 0:
            self._kept.append((request.id, answer))
        elif n % 11 == 0:
            self.record(request.id, Answer(503))
        elif n % 5 != 0:
            self.record(request.id, answer)


@contextmanager
def driving(post: Post, count: int, errors: list[Exception]) -> Iterator[None]:
    """Drivers side by side, each committing its beats."""
    stop = threading.Event()

    def drive() -> None:
        try:
            with post.db.another() as conn:
                while not stop.is_set():
                    conn.execute("select lenses.fn_reap_workflow_runs()")
                    conn.execute("select lenses.fn_deliver()")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=drive) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.usefixtures("committed")
def test_every_run_is_delivered_and_none_is_settled_by_an_old_attempt(post: Post) -> None:
    post.delivered_to(max_in_flight=20, timeout_ms=100, lease_ms=1000)
    schedule = post.make_schedule(queue_policy={"mode": "parallel", "maxConcurrency": 2})
    for n in range(RUNS):
        post.run(schedule if n % 3 == 0 else None,
                 policies=post.policies(retry={"maxRetries": 50}))  # fmt: skip
    errors: list[Exception] = []
    with driving(post, 2, errors), post.db.another() as conn:
        sender = Unsteady(conn)

        def is_over() -> bool:
            sender.batch()
            return bool(post.db.value(OVER) == RUNS)

        wait_until(is_over, 60, what="all runs over")
    assert errors == []
    rows = post.db.rows("select * from lenses.workflow_runs")
    assert {row.status for row in rows} == {"completed"}
    asked = [request.headers["webhook-id"] for request in sender.received]
    assert len(asked) == len(set(asked))  # each attempt once
    for row in rows:
        assert f"{row.id}:{row.attempt}" in asked
        assert row.metadata["result"] == {"attempt": row.attempt}
    assert max(row.attempt for row in rows) > 1


@pytest.fixture(scope="module")
def plant() -> Iterator[Plant]:
    server = TestServer(DURABLE)
    try:
        yield Plant(server)
    finally:
        server.stop()


@pytest.mark.slow
def test_a_server_that_is_killed_between_request_and_answer(plant: Plant) -> None:
    with plant.connect() as conn:
        post = Post(with_net(conn))
        post.delivered_to()
        runs = [post.run(policies=post.policies(retry={"maxRetries": 1})) for _ in range(2)]
        post.set(name="watch", url="https://mail.example.com", sends=["run.failed"])
        post.emit()
        assert post.beat() == 3
        with conn.transaction():
            conn.execute("select pg_catalog.pg_current_xact_id()")  # flushed before the crash
    plant.lose(postmaster=True)
    plant.back()
    with plant.connect() as conn:
        post.db = conn
        post.net = Sender(conn)
        assert post.net.queue() == []
        assert [post.row(run).status for run in runs] == ["running", "running"]
        # Numbers begin anew: 1 and 2 are a stranger's now.
        conn.execute(
            "select net.http_post('https://elsewhere.example.com', %s) from generate_series(1, 3)",
            [Jsonb({})],
        )
        assert [r.id for r in post.net.send(lambda _r: Answer(200, '{"of": "a stranger"}'))] == [
            1,
            2,
            3,
        ]
        post.beat()
        assert [post.row(run).status for run in runs] == ["running", "running"]
        assert len(post.events()) == 1

        conn.execute("update lenses.workflow_runs set lease_expires_at = now()")
        conn.execute("update lenses.outbox set lease_expires_at = now()")
        conn.execute("select lenses.fn_reap_workflow_runs()")
        post.beat()
        post.net.send(lambda request: Answer(200, '{"of": "ours"}'))
        post.beat()
        assert [post.row(run).metadata["result"] for run in runs] == [{"of": "ours"}] * 2
        assert post.events() == []
