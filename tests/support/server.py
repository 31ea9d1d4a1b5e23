"""The test server: testing.postgresql, with shims so that pytest may stay root."""

from __future__ import annotations

import atexit
import functools
import os
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from testing.postgresql import Postgresql

from lf_sql.embedded import Build, find_build, unprivileged
from tests.support.database import wait_until

SETTINGS: Mapping[str, str] = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "120",
    "max_worker_processes": "16",
    "shared_buffers": "64MB",
    "autovacuum_naptime": "1h",
    "log_min_messages": "warning",
    "timezone": "UTC",
}
INITDB = [
    "-U",
    "postgres",
    "-A",
    "trust",
    "-E",
    "UTF8",
    "--locale=C.UTF-8",
    "--lc-messages=C",
    "--no-sync",
]


def build() -> Build:
    """The PostgreSQL under test: LF_SQL_TEST_BINDIR (the version matrix), else the system's."""
    given = os.environ.get("LF_SQL_TEST_BINDIR")
    if not given:
        return find_build()
    bindir = Path(given)
    return Build(bindir, int(os.environ["LF_SQL_TEST_MAJOR"]), "LF_SQL_TEST_BINDIR")


def preload(*names: str) -> str:
    """Those of the libraries that this build has."""
    roots = [build().bindir.parent / "lib", build().bindir.parent / "lib" / "postgresql"]
    return ",".join(n for n in names if any((root / f"{n}.so").exists() for root in roots))


@functools.cache
def fresh_cluster(bindir: Path) -> Path:
    """What this initdb makes, made once a process: a copy of it costs a tenth of another."""
    home = Path(tempfile.mkdtemp(prefix="lf-cluster-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    home.chmod(0o755)
    command = [*unprivileged(home), "--", bindir / "initdb", "-D", home / "data", *INITDB]
    environment = {"HOME": "/tmp", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
    subprocess.run(command, check=True, capture_output=True, cwd="/", env=environment)
    return home / "data"


class TestServer:
    """One cluster; starts at once, `stop()` leaves nothing."""

    __test__ = False

    def __init__(
        self,
        settings: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.build = build()
        self._environment = environment or {}
        self._shims = Path(tempfile.mkdtemp(prefix="lf-shims-"))
        self._shims.chmod(0o755)
        options = {**SETTINGS, **(settings or {})}
        try:
            self._cluster = Postgresql(
                initdb=self._initdb(),
                postgres=self._postgres(options),
                postgres_args="-h 127.0.0.1",
                boot_timeout=60.0,
            )
        except BaseException:
            shutil.rmtree(self._shims, ignore_errors=True)
            raise

    @property
    def folder(self) -> Path:
        return Path(self._cluster.base_dir)

    @property
    def port(self) -> int:
        return int(self._cluster.dsn()["port"])

    @property
    def log(self) -> str:
        return (self.folder / "Postgresql.log").read_text(errors="replace")

    def dsn(self, dbname: str = "postgres", user: str = "postgres") -> str:
        return f"host={self.folder}/tmp port={self.port} dbname={dbname} user={user}"

    def url(self, dbname: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{dbname}"

    @property
    def is_alive(self) -> bool:
        return bool(self._cluster.is_alive())

    def restart(self) -> None:
        self._cluster.terminate()
        self._cluster.start()

    def kill(self) -> None:
        """kill -9, as a crash of the machine; returns when a new server may start."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        family = children(pid)
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.is_alive)
        # They hold its memory until they notice; a server that starts meanwhile refuses to.
        wait_until(lambda: not any(map(is_running, family)))

    def stop(self) -> None:
        self._cluster.stop(signal.SIGINT)
        shutil.rmtree(self._shims, ignore_errors=True)

    def _initdb(self) -> str:
        """`initdb -D FOLDER …` copies what an initdb has made."""
        lines = []
        if os.geteuid() == 0:
            owner = shlex.quote(str(self._shims))
            lines.append(f'chown -R --reference={owner} "$(dirname "$2")"')
        source = shlex.quote(f"{fresh_cluster(self.build.bindir)}/.")
        return self._shim("initdb", [*lines, f'exec {self._words} cp -a {source} "$2"'])

    def _postgres(self, options: Mapping[str, str]) -> str:
        """The server's program with its settings, an environment of its own, and no root."""
        program = self.build.bindir / "postgres"
        environment = {
            "HOME": "/tmp",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PATH": f"{program.parent}:/usr/bin:/bin",
            **self._environment,
        }
        libraries = program.parent.parent / "lib"
        if (
            libraries / "libpq.so.5"
        ).exists():  # postgres_fdw wants the libpq that it was built for
            environment.setdefault("LD_LIBRARY_PATH", str(libraries))
        words = ["env", "-i", *(f"{k}={v}" for k, v in environment.items()), str(program)]
        settings = [f"--{k}={v}" for k, v in options.items()]
        line = f'exec {self._words} {shlex.join(words)} "$@" {shlex.join(settings)}'
        return self._shim("postgres", [line])

    @property
    def _words(self) -> str:
        return shlex.join([*unprivileged(self._shims), "--"])

    def _shim(self, name: str, lines: Sequence[str]) -> str:
        """A script in the place of a server program."""
        path = self._shims / name
        path.write_text("\n".join(["#!/bin/sh", "set -e", "cd /", *lines]) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return str(path)


def children(pid: int) -> list[int]:
    return [int(word) for path in Path(f"/proc/{pid}/task").glob("*/children")
            for word in path.read_text().split()]  # fmt: skip


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
