"""Indexes of an upgrade that are built before it locks anything: the same in the end, and nobody waits meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest

from lf_sql import ahead, apply, bundle, verify
from lf_sql import db as product_db
from lf_sql.bundle import Migration
from lf_sql.errors import Refusal
from tests.support.database import Database, make_tenant, wait_until
from tests.support.work import due_in, make_schedule, make_workflow

TREE = bundle.load()
LATER = replace(
    TREE,
    version="99.0.0",
    migrations=(
        *TREE.migrations,
        Migration(
            9000, "later",
            "alter table lenses.workflow_runs add column later integer;\n"
            "create index workflow_runs_later_idx on lenses.workflow_runs (later);\n"
            "create index workflow_runs_by_age_idx\n  on lenses.workflow_runs (created_at, id)\n"
            "  where status = 'pending';\n"
            "create unique index workflow_runs_once_idx on lenses.workflow_runs (id, (1));",
        ),
    ),
)  # fmt: skip
DEFINITIONS = {
    "workflow_runs_later_idx": "CREATE INDEX workflow_runs_later_idx ON lenses.workflow_runs USING btree (later)",
    "workflow_runs_by_age_idx": "CREATE INDEX workflow_runs_by_age_idx ON lenses.workflow_runs USING btree "
    "(created_at, id) WHERE (status = 'pending'::text)",
    "workflow_runs_once_idx": "CREATE UNIQUE INDEX workflow_runs_once_idx ON lenses.workflow_runs USING btree (id, (1))",
}
OF_ANOTHER_VERSION = "lf_ahead_0123456789abcdef"
BUILDING = (
    "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' "
    "and query like 'create %%index concurrently lf_ahead_%%'"
)


@pytest.fixture(autouse=True)
def every_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "LEAST_ROWS", -1)


def upgrade(db: Database, wait: float = 60.0) -> list[str]:
    """What it said."""
    said: list[str] = []
    with product_db.connect(db.dsn) as conn:
        apply.install(conn, LATER, say=said.append, wait=wait)
        assert verify.verify(conn, LATER).findings == []
    return said


def indexes(db: Database) -> dict[str, str]:
    rows = db.rows(
        "select c.relname, pg_get_indexdef(c.oid) from pg_class as c join pg_index as i on i.indexrelid = c.oid "
        "where i.indisvalid and (c.relname = any (%s) or c.relname like 'lf_ahead_%%')",
        [list(DEFINITIONS)],
    )
    return dict(rows)


@contextmanager
def looking(db: Database) -> Iterator[Database]:
    """A session that looks at the tables as they were, for as long as it likes."""
    with db.another() as reader, reader.transaction():
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select count(*) from lensers.profiles")
        yield reader


def test_every_index_of_the_migrations_is_seen() -> None:
    texts = [re.sub(r"--.*", "", migration.sql) for migration in TREE.migrations]
    names = [
        name for text in texts for name in re.findall(r"\bcreate (?:unique )?index (\w+)", text)
    ]
    assert len(names) > 50
    assert [index.name for index in ahead.indexes(TREE.migrations)] == names


def test_they_are_the_same_in_the_end(db: Database) -> None:
    said = upgrade(db)
    # The first one's column comes with the migration itself.
    assert [line for line in said if "beside" in line] == [
        f"index {name}, beside the work" for name in DEFINITIONS
    ]
    assert indexes(db) == DEFINITIONS


def test_small_tables_are_left_to_the_migration(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "LEAST_ROWS", 10_000)
    assert [line for line in upgrade(db) if "beside" in line] == []
    assert indexes(db) == DEFINITIONS


def test_nobody_waits_for_one_that_is_being_built(db: Database) -> None:
    schedule = make_schedule(db, make_workflow(db, make_tenant(db)))
    with ThreadPoolExecutor(1) as pool:
        with looking(db):
            work = pool.submit(upgrade, db)
            wait_until(lambda: db.value(BUILDING))
            early = db.value("select oid from pg_class where relname like 'lf_ahead_%'")
            db.execute("set lock_timeout = '5s'")
            due_in(db, schedule, -1)
            assert db.value("select public.fn_dispatch_tick()") == 1
            assert len(db.rows("select * from lenses.fn_claim_workflow_runs('w')")) == 1
        assert work.result(120)
    assert indexes(db) == DEFINITIONS
    assert db.value("select 'lenses.workflow_runs_by_age_idx'::regclass::oid") == early


def test_behind_a_session_that_does_not_end_the_migration_builds_it(db: Database) -> None:
    with db.another() as reader, reader.transaction():
        reader.execute("set transaction isolation level repeatable read")
        reader.execute(
            "select 1 from pg_class limit 1"
        )  # none of our tables: it is in nobody's way but an index's
        said = upgrade(db, wait=0.5)
        assert len([line for line in said if "beside" in line]) == 3
    assert indexes(db) == DEFINITIONS


def test_what_a_killed_upgrade_has_left_is_taken_or_cleared_away(db: Database) -> None:
    with ThreadPoolExecutor(1) as pool:
        with looking(db):
            work = pool.submit(upgrade, db)
            pid = wait_until(lambda: db.value(BUILDING))
            db.execute("select pg_terminate_backend(%s)", [pid])
            with pytest.raises(psycopg.OperationalError):
                work.result(120)
    left = "select count(*) from pg_class where relname like 'lf_ahead_%%'"
    assert db.value(left) == 1
    db.execute(f"create index {OF_ANOTHER_VERSION} on lenses.workflow_runs (priority)")
    upgrade(db)
    assert indexes(db) == DEFINITIONS
    assert db.value(left) == 0


def test_two_at_once(db: Database) -> None:
    with ThreadPoolExecutor(2) as pool:
        said = [work.result(120) for work in [pool.submit(upgrade, db) for _ in range(2)]]
    assert sorted(len([line for line in lines if "beside" in line]) for lines in said) == [0, 3]
    assert indexes(db) == DEFINITIONS


def test_what_is_left_is_told_and_cleared_away_by_any_install(db: Database) -> None:
    db.execute(f"create index {OF_ANOTHER_VERSION} on lenses.workflow_runs (priority)")
    with product_db.connect(db.dsn) as conn:
        [found] = verify.verify(conn, TREE).findings
        assert OF_ANOTHER_VERSION in str(found) and "lf-sql install drops it" in str(found)
        apply.install(conn, TREE)
        assert verify.verify(conn, TREE).findings == []


def test_behind_a_reader_of_the_table_the_upgrade_names_him_and_ends(db: Database) -> None:
    """Neither building nor clearing away gets on; what is left goes when he is gone."""
    with db.another() as reader, reader.transaction():
        reader.execute("set transaction isolation level repeatable read")
        reader.execute("select count(*) from lenses.workflow_runs")
        with pytest.raises(Refusal, match=f"process {reader.info.backend_pid}"):
            upgrade(db, wait=0.5)
    upgrade(db)
    assert indexes(db) == DEFINITIONS


def test_a_database_that_is_read_only_by_default(db: Database) -> None:
    db.execute(f'alter database "{db.dbname}" set default_transaction_read_only = on')
    assert len([line for line in upgrade(db) if "beside" in line]) == 3
    assert indexes(db) == DEFINITIONS


def test_names_that_only_look_like_ours_are_in_nobodys_way(db: Database) -> None:
    db.execute(
        'create index "lf_ahead_a b" on lenses.workflow_runs (priority); '
        "alter table lenses.outbox add constraint lf_ahead_fedcba9876543210 unique (id)"
    )
    with product_db.connect(db.dsn) as conn:
        apply.install(conn, LATER)
    names = "select relname from pg_class where relname like 'lf\\_ahead\\_%%' order by 1"
    assert db.column(names, []) == ["lf_ahead_a b", "lf_ahead_fedcba9876543210"]


def test_an_index_of_another_table_is_not_taken_for_ours(db: Database) -> None:
    once = next(
        one for one in ahead.indexes(LATER.migrations) if one.name == "workflow_runs_once_idx"
    )
    db.execute(f"create index {once.early_name} on lenses.workflows (title)")
    upgrade(db)
    assert indexes(db) == DEFINITIONS


@pytest.mark.parametrize(
    "change",
    [
        "alter table lenses.outbox rename to outbox_of_before;\n"
        "create table lenses.outbox (like lenses.outbox_of_before including all);\n",
        "alter table lenses.outbox drop column created_at, add column created_at timestamptz;\n",
    ],
    ids=["another table", "another column"],
)
def test_what_the_migration_puts_in_the_place_of_is_indexed(db: Database, change: str) -> None:
    sql = change + "create index outbox_age_idx on lenses.outbox (created_at);"
    version = replace(LATER, migrations=(*TREE.migrations, Migration(9000, "later", sql)))
    said: list[str] = []
    with product_db.connect(db.dsn) as conn:
        apply.install(conn, version, say=said.append)
    assert "index outbox_age_idx, beside the work" in said
    there = "select indrelid = 'lenses.outbox'::regclass from pg_index where indexrelid = 'lenses.outbox_age_idx'::regclass"
    assert db.value(there) is True
    assert db.column("select relname from pg_class where relname like 'lf_ahead_%%'", []) == []
