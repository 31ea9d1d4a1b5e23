"""The test server: testing.postgresql, with shims so that pytest may stay root."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from testing.postgresql import Postgresql

from lf_sql.embedded import Build, find_build, unprivileged

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
                initdb=self._shim("initdb", "", make_folder=True),
                postgres=self._shim(
                    "postgres", " ".join(shlex.quote(f"--{k}={v}") for k, v in options.items())
                ),
                initdb_args="-U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync",
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

    def stop(self) -> None:
        self._cluster.stop(signal.SIGINT)
        shutil.rmtree(self._shims, ignore_errors=True)

    def _shim(self, name: str, arguments: str, *, make_folder: bool = False) -> str:
        """A script in the place of a server program: drops root, ties the server's life to ours."""
        words = " ".join(map(shlex.quote, unprivileged(self._shims)))
        lines = ["#!/bin/sh", "set -e", "cd /"]
        if make_folder and os.geteuid() == 0:
            lines.append(f'chown -R --reference={shlex.quote(str(self._shims))} "$(dirname "$2")"')
        program = self.build.bindir / name
        environment = f"env -i HOME=/tmp LC_ALL=C.UTF-8 TZ=UTC PATH={program.parent}:/usr/bin:/bin"
        if name == "postgres":
            environment += "".join(f" {k}={shlex.quote(v)}" for k, v in self._environment.items())
        lines.append(f'exec {words} -- {environment} {shlex.quote(str(program))} "$@" {arguments}')
        path = self._shims / name
        path.write_text("\n".join(lines) + "\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return str(path)
