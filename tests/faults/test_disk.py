"""A disk that is full takes no result; the executor keeps it until there is room."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults.plant import plant
from tests.faults.rig import Rig, is_quiet
from tests.faults.test_limits import small_disk
from tests.support.database import wait_until
from tests.support.processes import running

RESULT = "import json, os; print(json.dumps(os.urandom(400_000).hex()))"


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(b"\0" * 4096)


@pytest.mark.slow
def test_a_result_waits_for_room(tmp_path: Path) -> None:
    with plant({"synchronous_commit": "on"}) as place, small_disk(place, 30) as disk:
        rig = Rig(place.server.dsn(), tmp_path)
        with place.connect() as conn:
            conn.execute(f"create tablespace small location '{disk}'")
            conn.execute("alter table lenses.workflow_runs set tablespace small")
            script = f"import sys; sys.stdin.read(); {RESULT}"
            args = ("runs", "work", "--lease", "1m", "--", sys.executable, "-c", script)
            runs = [rig.start() for _ in range(3)]
            fill(disk / "filler")
            with running(rig.dsn, *args) as process:
                process.says("the server cannot now", 60.0)
                process.says("53100")
                (disk / "filler").unlink()
                for run in runs:
                    wait_until(lambda: rig.row(run).status == "completed")  # noqa: B023
                    assert rig.row(run).attempt == 1
                    assert len(rig.row(run).metadata["result"]) == 800_000
                assert process.stop() == 0
                assert is_quiet(process), process.output
            conn.execute("alter table lenses.workflow_runs set tablespace pg_default")
            conn.execute("drop tablespace small")
