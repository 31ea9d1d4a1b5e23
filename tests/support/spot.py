"""pgspot over the sources as the installer runs them: with its search_path in front of each file.

Ignored: PS002, PS015 (`create or replace` in a schema that pgspot does not know to be ours: the
installer refuses schemas and functions that it has not made).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lf_sql.bundle import Bundle, load

IGNORED = ("PS002", "PS015")
# Left out: without a SET clause in the file pgspot cannot know the path.
UNPINNED = {
    "sp_dispatch_tick": "commits, so it can have none; invoker, every name qualified",
    "sp_purge_history": "commits, so it can have none; invoker, every name qualified",
}
PRELUDE = "set search_path = pg_catalog, pg_temp;"


def texts(bundle: Bundle) -> dict[str, str]:
    found = {m.label: m.sql for m in bundle.migrations}
    found |= {s.label: s.sql for s in bundle.sources if s.name not in UNPINNED}
    return found | {f"{name}.sql": text for name, text in bundle.scripts.items()}


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for label, text in texts(load()).items():
            path = Path(folder) / label
            path.parent.mkdir(parents=True, exist_ok=True)
            # on the first line, so that line numbers stay
            path.write_text(f"{PRELUDE} {text}")
            paths.append(label)
        command = [str(Path(sys.executable).with_name("pgspot"))]
        command += [part for code in IGNORED for part in ("--ignore", code)]
        run = subprocess.run(
            [*command, *paths], cwd=folder, capture_output=True, text=True, check=False
        )
    # Its exit code tells of bodies that its parser cannot follow (fields of composite variables) too.
    if "TOTAL: Errors: 0 Warnings: 0" not in run.stdout:
        clean = re.compile(r"\S+\.sql: *\n+ *Errors: 0 Warnings: 0 Unknown: 0 *\n")
        print(clean.sub("", run.stdout), run.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
