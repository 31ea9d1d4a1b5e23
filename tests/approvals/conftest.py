from __future__ import annotations

from tests.runs.conftest import committed, rolled_back, scenario

__all__ = ["committed", "rolled_back", "scenario"]
