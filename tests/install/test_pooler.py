"""Through PgBouncer in transaction mode: nothing rests on a session, so an install is safe there."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lf_sql import bundle, locks
from tests.support.bouncer import pgbouncer
from tests.support.cli import lf_sql, start, succeeded
from tests.support.database import Database, wait_until
from tests.support.server import TestServer


@pytest.fixture(params=[(1, 0), (5, 1)], ids=["one connection", "round robin"])
def pooled(
    request: pytest.FixtureRequest, server: TestServer, empty_db: Database, tmp_path: Path
) -> Iterator[str]:
    size, round_robin = request.param
    with pgbouncer(server, tmp_path, "transaction", size, round_robin) as port:
        yield f"host=127.0.0.1 port={port} user=postgres dbname={empty_db.dbname}"


def test_every_command_of_the_installer(pooled: str) -> None:
    assert "installed in" in succeeded(lf_sql("install", dsn=pooled))
    assert "nothing to do" in succeeded(lf_sql("install", dsn=pooled))
    succeeded(lf_sql("status", dsn=pooled))
    succeeded(lf_sql("verify", dsn=pooled))
    succeeded(lf_sql("uninstall", "--yes", dsn=pooled))


def test_four_at_once(pooled: str, empty_db: Database) -> None:
    runs = [start("install", dsn=pooled) for _ in range(4)]
    said = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0] * 4, said
    assert sum("installed in" in out for out, _ in said) == 1
    versions = empty_db.column("select version from lf_sql.migrations order by 1")
    assert versions == [m.version for m in bundle.load().migrations]


def test_a_killed_installer_leaves_no_lock(pooled: str, empty_db: Database) -> None:
    with empty_db.another() as blocker, blocker.transaction():
        blocker.execute("create schema lenses")  # the first installer waits for this name
        run = start("install", dsn=pooled)
        wait_until(lambda: holders(empty_db) == 1, what="the installer holds the lock")
        run.send_signal(signal.SIGKILL)
        run.communicate()
        blocker.execute("drop schema lenses")
    wait_until(lambda: holders(empty_db) == 0, what="the lock is gone with the client")
    succeeded(lf_sql("install", dsn=pooled))


def holders(db: Database) -> int:
    return int(
        db.value(
            "select count(*) from pg_locks where locktype = 'advisory' and granted "
            "and classid = %s and objid = %s and database = "
            "(select oid from pg_database where datname = current_database())",
            locks.LOCK_KEY,
        )
    )
