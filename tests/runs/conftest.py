from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.database import Database, connect
from tests.support.run_scenario import RunScenario
from tests.support.state import State


@pytest.fixture(scope="session")
def rolled_back(state: State) -> Iterator[Database]:
    """One installed database for the tests that roll back."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        yield conn
    state.drop(name)


@pytest.fixture
def committed() -> None:
    """Asked for by tests that need other sessions, or time that goes on."""


@pytest.fixture
def scenario(request: pytest.FixtureRequest) -> Iterator[RunScenario]:
    """In a transaction that is rolled back, unless the test is `committed`; the invariants must hold."""
    if "committed" in request.fixturenames:
        scenario = RunScenario(request.getfixturevalue("db"))
        yield scenario
        assert scenario.violations() == []
        return
    conn = request.getfixturevalue("rolled_back")
    with conn.transaction(force_rollback=True):
        scenario = RunScenario(conn)
        yield scenario
        assert scenario.violations() == []
