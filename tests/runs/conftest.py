from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runs.world import World
from tests.support.database import Database, connect
from tests.support.state import State


@pytest.fixture(scope="session")
def world_db(state: State) -> Iterator[Database]:
    """One installed database for the tests that roll back."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        yield conn
    state.drop(name)


@pytest.fixture
def committed() -> None:
    """Asked for by tests that need other sessions, or time that goes on."""


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """In a transaction that is rolled back, unless the test is `committed`; the invariants must hold."""
    if "committed" in request.fixturenames:
        world = World(request.getfixturevalue("db"))
        yield world
        assert world.violations() == []
        return
    conn = request.getfixturevalue("world_db")
    with conn.transaction(force_rollback=True):
        world = World(conn)
        yield world
        assert world.violations() == []
