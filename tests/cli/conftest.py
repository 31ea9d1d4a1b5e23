"""`lf(...)` runs a command in this process against the test's database."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.command import Command, commander
from tests.support.database import Database, Tenant


@pytest.fixture
def lf(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """`lf("schedule", "list", code=0)`; the exit code is checked."""
    return commander(capsys, monkeypatch, db.dsn)


@pytest.fixture
def owner(tenant: Callable[..., Tenant]) -> Tenant:
    """The only tenant, unless a test makes another."""
    return tenant("owner")


@pytest.fixture
def workflow(lf: Command, owner: Tenant) -> str:
    """A workflow called "Nightly report"."""
    return lf("workflow", "create", "Nightly report").first
