"""A tenant, the stand-in of pg_net, and the tick's deliveries, played."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.delivery.sender import SECRET, Sender
from tests.support.database import Database, as_user, connect
from tests.support.run_scenario import RunScenario
from tests.support.state import State

HERE = Path(__file__).parent
URL = "https://hooks.example.com/run"
MINUTE = timedelta(minutes=1)


class Post(RunScenario):
    """`now` is when the played beats take place: the real one, plus what a test lets pass."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.net = Sender(db)
        self.late = timedelta()

    @property
    def now(self) -> datetime:
        return datetime.now(UTC) + self.late

    def set(self, **patch: Any) -> Any:  # type: ignore[override]
        with as_user(self.db, None, "service_role") as conn:
            return conn.execute(
                "select * from lenses.fn_set_delivery(%s)", [Jsonb(patch)]
            ).fetchone()

    def delivered_to(self, **patch: Any) -> Any:
        """A delivery of runs, signed."""
        self.db.execute("select lenses.fn_set_delivery_secret('key', %s)", [SECRET])
        return self.set(**{"url": URL, "secret_name": "key", **patch})

    def beat(self) -> int:
        return self.db.value("select lenses.fn_deliver_part(%s, 1000)", [self.now])

    def delivery(self, name: str = "default") -> Any:
        return self.db.row("select * from lenses.deliveries where name = %s", [name])

    def events(self, delivery: str = "watch") -> list[Any]:
        return self.db.rows(
            "select * from lenses.outbox where delivery = %s order by id", [delivery]
        )

    def kinds(self, delivery: str = "watch") -> list[str]:
        return [event.event_type for event in self.events(delivery)]

    def take(self, limit: int = 10, worker: str = "w", delivery: str = "watch") -> list[Any]:
        with as_user(self.db, None, "service_role") as conn:
            return conn.execute(
                "select * from lenses.fn_claim_events(%s, %s, %s)", [delivery, worker, limit]
            ).fetchall()

    def ack(self, *ids: int, worker: str = "w") -> list[int]:
        with as_user(self.db, None, "service_role") as conn:
            rows = conn.execute("select lenses.fn_ack_events(%s, %s)", [worker, list(ids)])
            return [row[0] for row in rows]

    def fail_event(self, number: int, error: str = "no", worker: str = "w") -> bool:
        with as_user(self.db, None, "service_role") as conn:
            row = conn.execute(
                "select lenses.fn_fail_event(%s, %s, %s)", [number, worker, error]
            ).fetchone()
            return bool(row[0])

    def emit(self, kind: str = "run.failed", schedule: UUID | None = None, **data: Any) -> None:
        event = {"lenser_id": str(self.tenant.id), "workflow_id": str(self.workflow), "data": data}
        if schedule:
            event["schedule_id"] = str(schedule)
        self.db.execute("select lenses.fn_emit_events(%s, %s, now())", [kind, Jsonb([event])])


def with_net(db: Database) -> Database:
    db.execute((HERE / "net.sql").read_bytes())
    return db


@pytest.fixture(scope="session")
def post_db(state: State) -> Iterator[Database]:
    """One installed database with the stand-in, for the tests that roll back."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        yield with_net(conn)
    state.drop(name)


@pytest.fixture
def post(request: pytest.FixtureRequest) -> Iterator[Post]:
    """Undone afterwards, unless the test is `committed`; the invariants must hold."""
    if "committed" in request.fixturenames:
        post = Post(with_net(request.getfixturevalue("db")))
        yield post
        assert post.violations() == []
        return
    conn = request.getfixturevalue("post_db")
    with conn.transaction(force_rollback=True):
        post = Post(conn)
        yield post
        assert post.violations() == []
