"""The pgTAP files through pg_prove, as anybody may run them: `make pgtap`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.state import State


def main() -> int:
    state = State()
    try:
        name = state.tap_database()
        where = ["-h", f"{state.server.folder}/tmp", "-p", str(state.server.port), "-U", "postgres"]
        files = sys.argv[1:] or [str(Path(__file__).parents[1] / "sql")]
        return subprocess.run(
            ["pg_prove", *where, "-d", name, "--ext", ".sql", "-r", *files],
            check=False,
            env={**os.environ, "PGOPTIONS": ""},
        ).returncode
    finally:
        state.close()


if __name__ == "__main__":
    sys.exit(main())
