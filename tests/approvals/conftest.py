from __future__ import annotations

from tests.runs.conftest import committed, world, world_db

__all__ = ["committed", "world", "world_db"]
