"""A database with a tenant, an executor's role, and runs that nobody has to approve."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lf_sql import Executor, Outcome
from lf_sql.testing import run_all
from tests.support.database import Database, as_user, connect, make_tenant, wait_until
from tests.support.state import State
from tests.support.work import make_schedule


class Place:
    """`dsn` is that of a role with service_role's rights alone."""

    def __init__(self, db: Database, role: str) -> None:
        self.db = db
        self.dsn = f"{db.dsn} user={role}"
        self.owner = make_tenant(db)

    def workflow(self, title: str = "", definition: str = '{"nodes":[],"edges":[]}') -> uuid.UUID:
        return self.db.value(
            "insert into lenses.workflows (lenser_id, title, definition) values (%s, %s, %s) "
            "returning id",
            [self.owner.id, title or uuid.uuid4().hex, definition],
        )

    def start(
        self,
        title: str,
        count: int = 1,
        inputs: Any = None,
        limit: float | None = None,
        **retry: Any,
    ) -> list[uuid.UUID]:
        """Runs of a new workflow of that title; `retry` is its retry policy, without retries."""
        agent = None
        if limit is not None:
            agent = self.db.value(
                "insert into agents.ai_lensers (lenser_id, name) values (%s, 'a') returning id",
                [self.owner.id],
            )
            self.db.execute(
                "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
                "values (%s, %s, %s)",
                [agent, self.owner.id, limit],
            )
        policy = json.dumps({"maxRetries": 0, **retry})
        schedule = make_schedule(
            self.db, self.workflow(title), retry_policy=policy, assignee_id=agent
        )
        given = None if inputs is None else json.dumps(inputs)
        with as_user(self.db, self.owner):
            return self.db.column(
                "select r.id from generate_series(1, %s) as n "
                "cross join lateral public.fn_run_workflow_schedule_now(%s, case when n > 0 then %s::jsonb end) as r "
                "order by n",
                [count, schedule, given],
            )

    def row(self, run: uuid.UUID) -> Any:
        return self.db.row("select * from lenses.workflow_runs where id = %s", [run])

    def result(self, run: uuid.UUID) -> Any:
        return self.row(run).metadata.get("result")

    def count(self, status: str) -> int:
        return self.db.value(
            "select count(*) from lenses.workflow_runs where status = %s", [status]
        )

    def events(self, run: uuid.UUID) -> list[str]:
        return self.db.column(
            "select event_type from lenses.workflow_run_events where run_id = %s order by seq",
            [run],
        )

    def cancel(self, run: uuid.UUID) -> None:
        assert self.db.value("select lenses.fn_cancel_workflow_run(%s)", [run])

    def all(self, executor: Executor, **given: Any) -> list[Outcome]:
        return run_all(executor, self.dsn, **given)

    def ended(self, run: uuid.UUID) -> Any:
        wait_until(lambda: self.row(run).status not in ("pending", "running"))
        return self.row(run)


@pytest.fixture(scope="module")
def _place(state: State) -> Iterator[Place]:
    name = state.fresh(installed=True)
    role = f"executor_of_{name}"
    with connect(state.server.dsn(name)) as db:
        db.execute(f"create role {role} login; grant service_role to {role}")
        yield Place(db, role)
    state.drop(name)
    state.admin.execute(f"drop role {role}")  # type: ignore[call-overload]


@pytest.fixture
def place(_place: Place) -> Iterator[Place]:
    """One database a module; what a test leaves in flight is cancelled."""
    yield _place
    _place.db.execute(
        "update lenses.workflow_runs set status = 'cancelled' "
        "where status in ('pending', 'running')"
    )
    assert _place.db.rows("select * from lenses.fn_invariant_violations()") == []


@contextmanager
def at_work(executor: Executor) -> Iterator[threading.Thread]:
    """The executor in a thread of its own; stopped at the end."""
    thread = threading.Thread(target=lambda: asyncio.run(executor.serve()), daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        while thread.is_alive():
            executor.stop()
            thread.join(2.0)
