from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.callers import Caller
from tests.support.database import Database, Tenant
from tests.support.fixtures import undone_db as db


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
