from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cells.fleet import Fleet, made_fleet
from tests.cells.scene import TwoCells
from tests.support.state import State


@pytest.fixture
def two_cells(state: State) -> Iterator[TwoCells]:
    """Two cells on one server, `one` and `two`; afterwards the invariants of both must hold."""
    cells = TwoCells.start(state)
    try:
        yield cells
        assert cells.violations() == []
    finally:
        cells.close()


@pytest.fixture
def fleet(state: State) -> Iterator[Fleet]:
    """Two cells, `a` and `b`, a directory, and commands that know it."""
    with made_fleet(state, "a", "b") as made:
        yield made
