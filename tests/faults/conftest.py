from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.rig import Rig
from tests.support.database import Database


@pytest.fixture
def rig(db: Database, tmp_path: Path) -> Rig:
    return Rig(db.dsn, tmp_path)
