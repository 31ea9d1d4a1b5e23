from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.support.callers import Caller
from tests.support.database import Database, Tenant, connect
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
def db(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A superuser's connection, in a transaction that is rolled back unless the test is `committed`."""
    if "committed" not in request.fixturenames:
        conn = request.getfixturevalue("rolled_back")
        with conn.transaction(force_rollback=True):
            yield conn
        return
    state = request.getfixturevalue("state")
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        yield conn
    state.drop(name)


@pytest.fixture
def alice(db: Database, tenant: Callable[..., Tenant]) -> Caller:
    return Caller(db, tenant("alice"))


@pytest.fixture
def bob(db: Database, tenant: Callable[..., Tenant]) -> Caller:
    return Caller(db, tenant("bob"))


@pytest.fixture
def nobody(db: Database) -> Caller:
    return Caller(db, None)


@pytest.fixture
def operator(db: Database) -> Caller:
    return Caller(db, None, "service_role")
