"""Servers that are not as they should be: without pg_cron's files, a standby of another."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lf_sql.embedded import unprivileged
from tests.support.database import connect, wait_until
from tests.support.server import TestServer, build


@contextmanager
def without_pg_cron() -> Iterator[Path]:
    """A bin folder of the same PostgreSQL, relocated, that has never heard of pg_cron."""
    source = build().bindir.resolve()
    config = subprocess.run(
        [source / "pg_config", "--sharedir", "--pkglibdir"],
        capture_output=True,
        text=True,
        check=True,
    )
    share, library = map(Path, config.stdout.split())
    # The server finds its folders by how they lie to each other.
    root = Path(os.path.commonpath([source, share, library]))
    with tempfile.TemporaryDirectory(prefix="lf-plain-") as name:
        copy = Path(name)
        copy.chmod(0o755)
        for folder in (share, library):
            shutil.copytree(
                folder,
                copy / folder.relative_to(root),
                symlinks=True,
                ignore=lambda _, names: [n for n in names if n.startswith(("pg_cron", "bitcode"))],
                dirs_exist_ok=True,
            )
        bindir = copy / source.relative_to(root)
        bindir.mkdir(parents=True, exist_ok=True)
        for program in ("postgres", "initdb", "pg_config", "pg_ctl"):
            shutil.copy2(source / program, bindir / program)
        yield bindir


@contextmanager
def standby_of(primary: TestServer) -> Iterator[str]:
    """A streaming standby; yields its DSN (of database postgres)."""
    with tempfile.TemporaryDirectory(prefix="lf-standby-") as name:
        folder = Path(name)
        prefix = unprivileged(folder)
        if os.geteuid() == 0:
            shutil.chown(folder, *_owner(primary.folder / "data"))
        data = folder / "data"
        run = {"cwd": "/", "check": True, "capture_output": True}
        subprocess.run(
            [
                *prefix,
                *("--", str(primary.build.bindir / "pg_basebackup"), "-R", "-X", "stream"),
                *("-c", "fast", "-D", str(data), "-d", primary.dsn()),
            ],
            **run,
        )
        process = subprocess.Popen(
            [
                *prefix,
                *("--", str(primary.build.bindir / "postgres"), "-D", str(data), "-F"),
                *("-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"),
                *("-c", "port=5432", "-c", "max_connections=120"),
                *("-c", "max_worker_processes=16", "-c", "hot_standby=on"),
            ],
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        dsn = f"host={folder} port=5432 dbname=postgres user=postgres"
        try:
            wait_until(lambda: _answers(dsn) or process.poll() is not None)
            yield dsn
        finally:
            process.terminate()
            process.wait(120)


def _owner(path: Path) -> tuple[str, str]:
    return path.owner(), path.group()


def _answers(dsn: str) -> bool:
    try:
        connect(dsn).close()
    except Exception:  # any reason: it is not there yet
        return False
    return True
