"""To a newer PostgreSQL, by the manual's own commands: pg_upgrade, and logical replication. Servers are PyPI's wheels."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lf_sql.embedded import unprivileged
from tests.security.rpcs import snapshot
from tests.support.cli import environment, lf_sql, succeeded
from tests.support.database import Database, connect, make_tenant, wait_until
from tests.support.matrix import WHEELS, unpacked
from tests.support.pages import MANUAL, sections
from tests.support.processes import running
from tests.support.setups import add_roles
from tests.support.tenants import ALICE, BOB, populate
from tests.support.work import due_in, make_schedule, make_workflow

pytestmark = pytest.mark.slow

BY_UPGRADE, AFTER_UPGRADE = sections(MANUAL)["A new PostgreSQL by pg_upgrade"]
COPY, SWITCH = sections(MANUAL)["A new PostgreSQL by logical replication"]
UPGRADES = [(15, 16), (15, 17), (15, 18), (16, 18), (17, 18)]
REPLICATIONS = [(15, 18), (17, 18)]
INITDB = ["-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums", "--no-sync"]


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[int, Path]]:
    """The bin folders, by major version."""
    with tempfile.TemporaryDirectory(prefix="lf-pg-") as name:
        Path(name).chmod(0o755)
        found = {}
        for major in WHEELS:
            folder = Path(name) / str(major)
            folder.mkdir()
            found[major] = unpacked(major, folder)
        yield found


@dataclass
class Cluster:
    """A server in a folder that belongs to a plain user; reached by the folder's socket."""

    bindir: Path
    home: Path
    data: Path
    port: int = 5432

    @property
    def dsn(self) -> str:
        return f"host={self.home} port={self.port} dbname=postgres user=postgres"

    def env(self, **more: str) -> dict[str, str]:
        return environment(
            {
                "LD_LIBRARY_PATH": str(self.bindir.parent / "lib"),
                "PATH": f"{Path(sys.executable).parent}:{self.bindir}:{os.environ['PATH']}",
                "HOME": str(self.home), "LC_ALL": "C.UTF-8",
                "PGHOST": str(self.home), "PGPORT": str(self.port), "PGUSER": "postgres", "PGDATABASE": "postgres",
                **more,
            }
        )  # fmt: skip

    def as_server(self, *command: str | Path, **env: str) -> None:
        """As the plain user, in its folder."""
        words = [str(word) for word in (*unprivileged(self.home), "--", *command)]
        log = self.home / "said"
        with log.open("ab") as file:
            done = subprocess.run(
                words, cwd=self.home, env=self.env(**env), stdout=file, stderr=file, check=False
            )
        assert done.returncode == 0, log.read_text(errors="replace")[-4000:]

    def start(self, **settings: str) -> None:
        """A new cluster."""
        self.as_server(self.bindir / "initdb", "-D", self.data, "-A", "trust", *INITDB)
        lines = {"listen_addresses": "", "unix_socket_directories": self.home, "port": self.port,
                 "fsync": "off", "max_worker_processes": 32, **settings}  # fmt: skip
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in lines.items())
        self.as_server(
            self.bindir / "pg_ctl", "-D", self.data, "-w", "-l", self.data / "start.log", "start"
        )

    def stop(self) -> None:
        with suppress(AssertionError):
            self.as_server(self.bindir / "pg_ctl", "-D", self.data, "-w", "-m", "immediate", "stop")


@contextmanager
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lf-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def filled(dsn: str) -> None:
    """Two tenants with a row in every table, a day's partition, and a schedule that fires each minute."""
    with connect(dsn) as conn:
        add_roles(conn)
        populate(conn)
        conn.execute(
            "select lenses.fn_add_partitions('agents.action_logs', date_trunc('day', now(), 'UTC') - interval '1 day', 1)"
        )
        conn.execute(
            "insert into agents.action_logs (lenser_id, action_type, occurred_at) "
            "select id, 'yesterday', now() - interval '1 day' from lensers.profiles"
        )
        make_schedule(
            conn,
            make_workflow(conn, make_tenant(conn, "minutely")),
            cron_expr="* * * * *",
            description="often",
        )


def everything(conn: Database) -> tuple[Any, ...]:
    seeds = conn.column("select to_jsonb(c)::text from lenses.schedule_calendars as c order by 1")
    return snapshot(conn, ALICE), snapshot(conn, BOB), seeds


def moved(dsn: str, before: tuple[Any, ...]) -> None:
    """All rows are there, and guards, sequences and ticks work."""
    with connect(dsn) as conn:
        assert everything(conn) == before
        assert conn.rows("select * from lenses.fn_invariant_violations()") == []
        often = conn.value("select id from lenses.workflow_schedules where description = 'often'")
        done = "select count(*) from lenses.workflow_runs where schedule_id = %s and status = 'completed'"
        known = conn.value(done, [often])
        due_in(conn, often, -1)
        wait_until(lambda: conn.value(done, [often]) > known)
        twice = "select schedule_id, scheduled_for from lenses.workflow_runs where scheduled_for is not null group by 1, 2 having count(*) > 1"
        assert conn.rows(twice) == []


@pytest.mark.parametrize(("old", "new"), UPGRADES)
def test_pg_upgrade(old: int, new: int, builds: Mapping[int, Path]) -> None:
    with home() as folder:
        before, after = (Cluster(builds[v], folder, folder / str(v)) for v in (old, new))
        try:
            before.start()
            succeeded(lf_sql("install", dsn=before.dsn))
            filled(before.dsn)
            with (
                running(before.dsn, "worker", env={"TICK_MS": "200"}) as worker,
                running(before.dsn, "runs", "work", "--poll", "1s", "--", "true") as executor,
            ):
                worker.says("leading")
                executor.says("waiting for runs")
                with connect(before.dsn) as conn:
                    was = everything(conn)
                after.as_server(
                    "bash", "-ec", BY_UPGRADE.text, OLD_BIN=str(before.bindir), NEW_BIN=str(after.bindir),
                    OLD_DATA=str(before.data), NEW_DATA=str(after.data),
                )  # fmt: skip
                shell(AFTER_UPGRADE.text, after, LF_SQL_DSN=after.dsn)
                with connect(after.dsn) as conn:
                    assert conn.info.server_version // 10000 == new
                    reason = conn.value(
                        "select reason from lf_sql.installs order by id desc limit 1"
                    )
                    assert reason == f"server moved from {old} to {new}"
                moved(after.dsn, was)
                assert worker.stop() == 0
                assert executor.stop() == 0
        finally:
            before.stop()
            after.stop()


@pytest.mark.parametrize(("old", "new"), REPLICATIONS)
def test_logical_replication(old: int, new: int, builds: Mapping[int, Path]) -> None:
    with home() as folder:
        source = Cluster(builds[old], folder, folder / str(old))
        target = Cluster(builds[new], folder, folder / str(new), port=5433)
        dsns = {"OLD_DSN": source.dsn, "NEW_DSN": target.dsn}
        try:
            source.start(wal_level="logical")
            target.start(max_logical_replication_workers="8")
            succeeded(lf_sql("install", dsn=source.dsn))
            filled(source.dsn)
            with (
                running(source.dsn, "worker", env={"TICK_MS": "200"}) as worker,
                connect(source.dsn) as conn,
            ):
                worker.says("leading")
                shell(COPY.text, target, **dsns)
                often = conn.value(
                    "select id from lenses.workflow_schedules where description = 'often'"
                )
                due_in(conn, often, -1)  # while it copies
                made = "select count(*) from lenses.workflow_runs where schedule_id = %s"
                wait_until(lambda: conn.value(made, [often]) > 0)
                assert worker.stop() == 0
                was = everything(conn)
            shell(SWITCH.text, target, **dsns)
            with connect(source.dsn) as a, connect(target.dsn) as b:
                query = "select to_jsonb(r) from {} as r order by to_jsonb(r)::text"
                for table in (
                    "lenses.workflow_runs",
                    "lenses.workflow_run_events",
                    "agents.action_logs",
                    "lenses.schedule_due",
                ):
                    assert a.rows(query.format(table)) == b.rows(query.format(table))
                days = "select parent::text, from_at from lenses.fn_partitions()"
                assert len(a.rows(days)) > 0 and a.rows(days) == b.rows(days)
            with (
                running(target.dsn, "worker", env={"TICK_MS": "200"}),
                running(target.dsn, "runs", "work", "--poll", "1s", "--", "true"),
            ):
                moved(target.dsn, was)
        finally:
            target.stop()
            source.stop()


def shell(text: str, cluster: Cluster, **env: str) -> None:
    """As the operator runs it, each command checked."""
    done = subprocess.run(
        ["bash", "-ec", text],
        cwd=cluster.home,
        env=cluster.env(**env),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
