"""The image's entrypoint, run on this machine's PostgreSQL: first start, later ones, those that are cut off; the health check."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lf_sql.embedded import unprivileged
from tests.support.cli import environment, process
from tests.support.database import wait_until
from tests.support.server import build

pytestmark = pytest.mark.pg_cron

DOCKER = Path(__file__).resolve().parents[2] / "docker"
DOCKERFILE = (DOCKER / "Dockerfile").read_text()
HEALTHCHECK = json.loads(re.search(r"^HEALTHCHECK .*\\\n +CMD (\[.*\])$", DOCKERFILE, re.M)[1])
STOPSIGNAL = signal.Signals[re.search(r"^STOPSIGNAL (\w+)$", DOCKERFILE, re.M)[1]]
# Port 5432 of every address is the image's own; here it may be someone else's.
SERVE = ("postgres", "-c", "listen_addresses=")


@dataclass
class Volume:
    """The image's data folder, and its variables."""

    folder: Path
    database: str = "app"
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def initdb(self) -> Path:
        return self.folder / "initdb.d"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self, *command: str, password: str = "") -> subprocess.Popen[str]:
        prefix = unprivileged(self.folder)
        if os.geteuid() == 0:  # this checkout may be where only root may look
            prefix += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        user = self.folder.owner()
        programs = f"{Path(sys.prefix) / 'bin'}:{build().bindir}"
        env = {
            **environment(),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "LANG": "C.UTF-8",
            "PGDATA": str(self.data),
            "PGHOST": str(self.folder),
            "PGUSER": user,
            "PGDATABASE": self.database,
            "POSTGRES_PASSWORD": password,
            "INITDB_D": str(self.initdb),
        }
        process = subprocess.Popen(
            # A test run in the background ignores SIGINT, and so would all that it starts.
            ["env", "--default-signal=INT", *prefix, "--", str(DOCKER / "entrypoint.sh"), *command],
            env=env, cwd="/", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.started.append(process)
        return process

    def run(self, *command: str) -> tuple[int, str]:
        process = self.start(*command)
        said, _ = process.communicate(timeout=120)
        return process.returncode, said

    def serving(
        self, password: str = "", command: tuple[str, ...] = SERVE
    ) -> subprocess.Popen[str]:
        """Started, and PostgreSQL has taken the entrypoint's place."""
        process = self.start(*command, password=password)
        pid = self.data / "postmaster.pid"

        def serves() -> bool:
            lines = pid.read_text().splitlines() if pid.exists() else []
            return lines[:1] == [str(process.pid)] and lines[-1].strip() == "ready"

        wait_until(lambda: serves() or process.poll() is not None)
        assert process.poll() is None, process.communicate()[0]
        return process


@pytest.fixture
def volume() -> Iterator[Volume]:
    with tempfile.TemporaryDirectory(prefix="lf-", dir="/tmp") as name:
        volume = Volume(Path(name))
        yield volume
        for process in volume.started:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=120)


def stopped(process: subprocess.Popen[str], how: signal.Signals) -> str:
    """What it said to the end."""
    process.send_signal(how)
    said, _ = process.communicate(timeout=120)
    return said


def test_it_comes_up_is_healthy_stops_and_comes_up_again(volume: Volume) -> None:
    volume.database = "other"
    password = """it's "a" \\ secret, with $HOME """
    volume.initdb.mkdir()
    (volume.initdb / "1.sql").write_text("create table public.one ();")
    (volume.initdb / "2.sh").write_text("lf-sql tenant create me | cut -c1-4")
    (volume.initdb / "ignored.txt").write_text("nothing")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    options = ("-c", "listen_addresses=127.0.0.1", "-c", f"port={port}")
    first = volume.serving(password, options)
    dsn = f"host=127.0.0.1 port={port} user={volume.folder.owner()} dbname=other"
    asked = process("tenant", "list", "--dsn", dsn, env={"PGPASSWORD": password})
    refused = process("tenant", "list", "--dsn", dsn, env={"PGPASSWORD": "another"})
    said = stopped(first, STOPSIGNAL)
    assert "first install" in said
    assert re.findall(r"^ran (.*)$", said, re.M) == ["1.sql", "2.sh"]
    assert said.rstrip().endswith("database system is shut down")
    assert first.returncode == 0
    assert (asked.returncode, "me" in asked.stdout) == (0, True), asked.stderr
    assert refused.returncode == 1

    second = volume.serving()
    assert volume.run(*HEALTHCHECK)[0] == 0
    assert volume.run("lf-sql", "verify")[0] == 0
    jobs = "select jobname from cron.job where active"
    assert "dispatch-scheduled-workflows" in volume.run("psql", "-XAtc", jobs)[1].split()
    said = stopped(second, signal.SIGTERM)
    assert "nothing to do" in said
    assert "ran " not in said


@pytest.mark.slow
def test_a_file_of_the_first_start_that_fails_is_run_again_with_all_others(volume: Volume) -> None:
    volume.initdb.mkdir()
    (volume.initdb / "1.sql").write_text("create table if not exists public.one ();")
    (volume.initdb / "2.sh").write_text("exit 3")
    first = volume.start(*SERVE, password="secret")
    said, _ = first.communicate(timeout=120)
    assert (first.returncode, "ran 1.sql" in said) == (3, True), said
    (volume.initdb / "2.sh").write_text("true")
    said = stopped(volume.serving(), STOPSIGNAL)
    assert re.findall(r"^ran (.*)$", said, re.M) == ["1.sql", "2.sh"]


def test_a_first_start_that_was_killed_leaves_nothing_that_looks_like_a_cluster(
    volume: Volume,
) -> None:
    process = volume.start(*SERVE, password="secret")
    wait_until(lambda: (volume.folder / "data.new" / "PG_VERSION").exists())
    process.kill()
    process.communicate()
    assert not volume.data.exists()
    assert "first install" in stopped(volume.serving("secret"), STOPSIGNAL)
    assert not (volume.folder / "data.new").exists()
    settings = (volume.data / "postgresql.conf").read_text()
    assert settings.count("shared_preload_libraries = 'pg_cron'") == 1


def test_a_stop_during_the_install_is_a_clean_one(volume: Volume) -> None:
    process = volume.start(*SERVE, password="secret")
    wait_until((volume.data / "start.log").exists)
    wait_until(lambda: "ready" in (volume.data / "start.log").read_text())
    said = stopped(process, STOPSIGNAL)
    assert process.returncode == 130, said
    assert not (volume.data / "postmaster.pid").exists()
    assert "installed in" in stopped(volume.serving(), STOPSIGNAL)


def test_without_a_password_there_is_no_first_start(volume: Volume) -> None:
    code, said = volume.run(*SERVE)
    assert code == 1
    assert "set POSTGRES_PASSWORD" in said
    assert list(volume.folder.iterdir()) == []


def test_another_command_is_run_as_it_stands(volume: Volume) -> None:
    assert volume.run("sh", "-c", 'echo "$PGDATABASE"') == (0, "app\n")


def test_what_the_image_copies_is_in_the_build_s_context() -> None:
    """Dockerfile.dockerignore lets in what it names alone."""
    lines = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        word
        for line in re.findall(r"^COPY (?!--from)(?:--\S+ )?(.*) \S+$", DOCKERFILE, re.M)
        for word in line.split()
    }
    assert copied == let_in
    assert all((DOCKER.parent / name).exists() for name in let_in)
