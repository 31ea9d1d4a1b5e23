from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.database import Database
from tests.support.fixtures import undone_db as db
from tests.support.run_scenario import RunScenario


@pytest.fixture
def scenario(db: Database) -> Iterator[RunScenario]:
    """After each test the invariants must hold."""
    scenario = RunScenario(db)
    yield scenario
    assert scenario.violations() == []
