"""Fixtures over the set-ups; tests/conftest.py takes them in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.database import Database, connect
from tests.support.setups import NAMES, Setup, SupabaseSetup, WeakSetup
from tests.support.state import State


@pytest.fixture(scope="session")
def setups(state: State) -> Iterator[dict[str, Setup]]:
    both = dict(zip(NAMES, (Setup(state), SupabaseSetup()), strict=True))
    yield both
    for one in both.values():
        one.close()


@pytest.fixture(scope="session", params=NAMES)
def setup(request: pytest.FixtureRequest, setups: dict[str, Setup]) -> Setup:
    """Each of the two: a test that takes it runs twice."""
    return setups[request.param]


@pytest.fixture(scope="session")
def _populated(setup: Setup) -> Iterator[Database]:
    with setup.database() as conn:
        yield conn


@pytest.fixture
def two_tenants(_populated: Database) -> Iterator[Database]:
    """A superuser's connection to a database with ALICE and BOB; what is done is undone."""
    with _populated.transaction(force_rollback=True):
        yield _populated


@pytest.fixture
def own_two_tenants(setup: Setup) -> Iterator[Database]:
    """The same in a database of the test's own, where a commit stays."""
    with setup.database() as conn:
        yield conn


@pytest.fixture(scope="session")
def weak(state: State) -> Setup:
    """The third: installed by a role that may make no roles."""
    return WeakSetup(state)


@pytest.fixture(scope="session")
def _weakly_populated(weak: Setup) -> Iterator[Database]:
    with weak.database() as conn:
        yield conn


@pytest.fixture
def weak_two_tenants(_weakly_populated: Database) -> Iterator[Database]:
    """`two_tenants` of the third set-up."""
    with _weakly_populated.transaction(force_rollback=True):
        yield _weakly_populated


@pytest.fixture
def committed() -> None:
    """Asked for by tests that need other sessions, or time that goes on, where tests roll back."""


@pytest.fixture(scope="session")
def rolled_back(state: State) -> Iterator[Database]:
    """One installed database for all tests that roll back."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        conn.forgiving = True
        yield conn
    state.drop(name)


@pytest.fixture
def undone_db(request: pytest.FixtureRequest) -> Iterator[Database]:
    """For a folder to import as `db`: what a test does is rolled back unless it is `committed`.

    A superuser's connection to an installed database, shared or, of a `committed` test, its own.
    """
    if "committed" not in request.fixturenames:
        conn = request.getfixturevalue("rolled_back")
        with conn.transaction(force_rollback=True):
            yield conn
        return
    state = request.getfixturevalue("state")
    with state.borrowed() as conn:
        yield conn
