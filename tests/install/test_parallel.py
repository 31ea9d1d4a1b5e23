"""Many installers at once, and installers that are killed: a complete install, or none."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from lf_sql import apply, bundle, locks, verify
from lf_sql import db as product_db
from tests.support.cli import lf_sql, refused, start, succeeded
from tests.support.database import Database, wait_until

TREE = bundle.load()


def assert_complete(db: Database) -> None:
    rows = db.column("select version from lf_sql.migrations order by version")
    assert rows == [m.version for m in TREE.migrations]
    with product_db.connect(db.dsn) as conn:
        assert verify.verify(conn, TREE).findings == []


def test_twenty_at_once(empty_db: Database) -> None:
    """In one process, so that they really meet; each has its own connection."""

    def one(_: int) -> bool:
        with product_db.connect(empty_db.dsn) as conn:
            return apply.install(conn, TREE).plan.is_pending

    with ThreadPoolExecutor(20) as pool:
        worked = list(pool.map(one, range(20)))
    assert worked.count(True) == 1
    assert_complete(empty_db)
    assert empty_db.value("select count(*) from lf_sql.installs") == 1


def test_processes_with_an_offset(empty_db: Database) -> None:
    """The second starts while the first is held up in the middle of its work."""
    with empty_db.another() as blocker, blocker.transaction():
        blocker.execute("select pg_advisory_xact_lock(%s, %s)", locks.LOCK_KEY)
        runs = [start("install", dsn=empty_db.dsn)]
        wait_until(lambda: waiting(empty_db) == 1, what="the first installer waits")
        runs += [start("install", dsn=empty_db.dsn) for _ in range(2)]
        wait_until(lambda: waiting(empty_db) == 3, what="all three wait")
        assert empty_db.value("select to_regnamespace('lf_sql')") is None
    said = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], said
    assert sorted("nothing to do" in out for out, _ in said) == [False, True, True]
    assert_complete(empty_db)


def waiting(db: Database) -> int:
    return int(
        db.value(
            "select count(*) from pg_stat_activity where datname = current_database() "
            "and application_name = 'lf-sql install'"
        )
    )


def test_the_wait_for_the_lock_is_bounded(empty_db: Database) -> None:
    with empty_db.another() as blocker, blocker.transaction():
        blocker.execute("select pg_advisory_xact_lock(%s, %s)", locks.LOCK_KEY)
        pid = blocker.info.backend_pid
        said = refused(
            lf_sql("install", "--wait", "0.3", dsn=empty_db.dsn), "another installer is at work"
        )
        assert str(pid) in said


def test_no_statement_waits_in_front_of_the_users(db: Database) -> None:
    """A long reader holds a table: the installer gives way and tries again, and then succeeds."""
    db.execute("alter table lenses.workflows disable row level security")
    with db.another() as reader:
        with reader.transaction():
            reader.execute("lock table lenses.workflows in access share mode")
            run = start("install", dsn=db.dsn)
            wait_until(
                lambda: db.value(
                    "select count(*) from pg_stat_activity where datname = current_database() "
                    "and application_name = 'lf-sql install' and wait_event_type = 'Lock'"
                ),
                what="the installer waits for the table",
            )
        out, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert "mended" in out
    assert_complete(db)


def test_killed_at_twenty_moments(empty_db: Database) -> None:
    """Whatever kill -9 leaves, the next install completes; in between there is all or nothing."""
    started = time.monotonic()
    succeeded(lf_sql("install", dsn=empty_db.dsn))
    length = time.monotonic() - started
    empty_db.execute("drop schema lenses, agents, automation, lensers, lf_sql cascade")
    for name in public_functions(empty_db):
        empty_db.execute(f"drop routine {name}")
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    for number in range(20):
        run = start("install", dsn=empty_db.dsn)
        try:
            run.wait(moments.uniform(0.15, 1.0) * length)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
        run.communicate()
        wait_until(lambda: waiting(empty_db) == 0, what="its session is gone")
        migrations = empty_db.value("select to_regclass('lf_sql.migrations')") and empty_db.value(
            "select count(*) from lf_sql.migrations"
        )
        assert migrations in (None, len(TREE.migrations)), f"seed {seed}, kill {number}"
        if migrations and number < 19:
            empty_db.execute("drop schema lenses, agents, automation, lensers, lf_sql cascade")
            for name in public_functions(empty_db):
                empty_db.execute(f"drop routine {name}")
    succeeded(lf_sql("install", dsn=empty_db.dsn))
    assert_complete(empty_db)


def public_functions(db: Database) -> list[str]:
    return db.column(
        "select oid::regprocedure::text from pg_proc where pronamespace = 'public'::regnamespace"
    )
