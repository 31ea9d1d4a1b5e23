"""Fixtures: one server a session, one database a test, made from an installed template."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.database import Database, Tenant, connect, make_tenant
from tests.support.fixtures import (
    _populated,
    _weakly_populated,
    committed,
    own_two_tenants,
    rolled_back,
    setup,
    setups,
    two_tenants,
    weak,
    weak_two_tenants,
)
from tests.support.memory import use_memory
from tests.support.pgtap import TapFile
from tests.support.server import TestServer
from tests.support.state import State, close_state, state_of
from tests.support.without_cron import (
    leave_out,
    pytest_terminal_summary,
    pytest_testnodedown,
)


def pytest_configure() -> None:
    use_memory()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out(config, items)
    items.sort(key=lambda item: item.get_closest_marker("clock") is None)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".sql" and "sql" in file_path.relative_to(parent.config.rootpath).parts:
        return TapFile.from_parent(parent, path=file_path)
    return None


def pytest_unconfigure(config: pytest.Config) -> None:
    close_state(config)


@pytest.fixture(scope="session")
def state(pytestconfig: pytest.Config) -> State:
    return state_of(pytestconfig)


@pytest.fixture(scope="session")
def server(state: State) -> TestServer:
    """The session's server; `server.dsn(dbname, user)`."""
    return state.server


@pytest.fixture(scope="session")
def dsn_for(server: TestServer) -> Callable[..., str]:
    """`dsn_for(dbname, user="postgres")`."""
    return server.dsn


@pytest.fixture
def db(state: State) -> Iterator[Database]:
    """A superuser's connection to a fresh, installed database."""
    with state.borrowed() as conn:
        yield conn


@pytest.fixture
def empty_db(state: State) -> Iterator[Database]:
    """A superuser's connection to a fresh database in which nothing is installed."""
    name = state.fresh(installed=False)
    with connect(state.server.dsn(name)) as conn:
        yield conn
    state.drop(name)


@pytest.fixture(scope="session")
def shared_db(state: State) -> Iterator[Database]:
    """One installed database for all tests that change nothing; writes are refused."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        conn.execute("set default_transaction_read_only = on")
        yield conn


@pytest.fixture
def tenant(db: Database) -> Callable[..., Tenant]:
    """`tenant(handle=None)` makes a lenser in `db`."""
    return lambda handle=None: make_tenant(db, handle)
