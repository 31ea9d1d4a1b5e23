from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runs.world import World
from tests.support.database import Database


@pytest.fixture
def world(db: Database) -> Iterator[World]:
    """After each test the invariants must hold."""
    world = World(db)
    yield world
    assert world.violations() == []
