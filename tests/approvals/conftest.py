from __future__ import annotations

from tests.runs.conftest import db, scenario

__all__ = ["db", "scenario"]
