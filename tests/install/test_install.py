"""One installer on one database: first install, again, upgrade, and what it refuses."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from lf_sql import apply, bundle, verify
from lf_sql import db as product_db
from lf_sql.bundle import Bundle, Migration, Source
from lf_sql.errors import LfSqlError, Refusal
from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import Database, connect
from tests.support.snapshot import snapshot
from tests.support.state import State

TREE = bundle.load()


def install(db: Database, tree: Bundle = TREE) -> apply.Outcome:
    with product_db.connect(db.dsn) as conn:
        return apply.install(conn, tree)


def grown(tree: Bundle = TREE, version: str = "99.0.0") -> Bundle:
    """The next version: a table more, and a function."""
    migration = Migration(
        9000,
        "novelty",
        "create table lenses.novelties (id bigint generated always as identity "
        "constraint novelties_pkey primary key, said text);",
    )
    policy = Source(
        "lenses/policies/novelties.sql",
        "policy",
        "lenses",
        "novelties",
        "alter table lenses.novelties enable row level security;\n"
        "alter table lenses.novelties force row level security;\n"
        "drop policy if exists novelties_engine_all on lenses.novelties;\n"
        "create policy novelties_engine_all on lenses.novelties to lf_sql_engine using (true);\n",
    )
    return replace(
        tree,
        version=version,
        migrations=(*tree.migrations, migration),
        sources=(*tree.sources, policy),
    )


@pytest.fixture
def ledger(empty_db: Database) -> Iterator[Database]:
    """An installed database that no template made."""
    install(empty_db)
    return empty_db


def test_the_command_installs_and_says_so(empty_db: Database) -> None:
    said = succeeded(lf_sql("install", dsn=empty_db.dsn))
    assert said.startswith(f"lf-sql {TREE.version} installed in ")
    rows = empty_db.rows("select version, slug, checksum from lf_sql.migrations order by version")
    assert [(r.version, r.slug, r.checksum) for r in rows] == [
        (m.version, m.slug, m.checksum) for m in TREE.migrations
    ]
    assert succeeded(lf_sql("verify", dsn=empty_db.dsn)) is not None


def test_a_second_install_does_nothing(ledger: Database) -> None:
    before = snapshot(ledger)
    rows = ledger.rows("select * from lf_sql.installs")
    said = succeeded(lf_sql("install", dsn=ledger.dsn))
    assert said.startswith(f"lf-sql {TREE.version} is up to date, nothing to do")
    assert snapshot(ledger) == before
    assert ledger.rows("select * from lf_sql.installs") == rows


def test_a_second_install_takes_no_strong_lock(ledger: Database) -> None:
    """Beside a reader of every table; measured from a third session all the while."""
    tables = ledger.column(
        "select oid::regclass::text from pg_class where relkind = 'r' and relnamespace in "
        "('lenses'::regnamespace, 'agents'::regnamespace, 'lensers'::regnamespace)"
    )
    seen: set[str] = set()
    done = threading.Event()

    def watch() -> None:
        with ledger.another() as watcher:
            while not done.is_set():
                seen.update(
                    watcher.column(
                        "select l.mode from pg_locks as l join pg_stat_activity as a using (pid) "
                        "where a.application_name = 'lf-sql install' and l.locktype = 'relation' "
                        "and a.datname = current_database()"
                    )
                )

    thread = threading.Thread(target=watch)
    with ledger.another() as reader, reader.transaction():
        reader.execute(f"lock table {', '.join(tables)} in access share mode")
        thread.start()
        try:
            with product_db.connect(ledger.dsn, application_name="lf-sql install") as conn:
                outcomes = [apply.install(conn, TREE) for _ in range(5)]
        finally:
            done.set()
            thread.join()
    assert all(not outcome.plan.is_pending for outcome in outcomes)
    assert seen <= {"AccessShareLock", "RowShareLock", "RowExclusiveLock"}


def test_an_upgrade_adds_what_is_new(ledger: Database) -> None:
    outcome = install(ledger, grown())
    assert [m.version for m in outcome.plan.migrations] == [9000]
    assert ledger.value("select count(*) from lenses.novelties") == 0
    assert ledger.column("select product_version from lf_sql.installs order by id") == [
        TREE.version,
        "99.0.0",
    ]
    with product_db.connect(ledger.dsn) as conn:
        assert verify.verify(conn, grown()).findings == []


def test_an_older_installer_refuses_a_newer_database(ledger: Database) -> None:
    install(ledger, grown())
    before = snapshot(ledger)
    refused(lf_sql("install", dsn=ledger.dsn), "the database is newer", "99.0.0")
    refused(lf_sql("upgrade", dsn=ledger.dsn), "the database is newer")
    assert snapshot(ledger) == before


def test_a_newer_version_with_the_same_sources_is_recorded(ledger: Database) -> None:
    install(ledger, replace(TREE, version="0.99.0"))
    with pytest.raises(Refusal, match="the database is newer"):
        install(ledger)


def test_a_broken_upgrade_changes_nothing(ledger: Database) -> None:
    before = snapshot(ledger)
    tree = grown()
    broken = replace(
        tree.migrations[-1], version=9001, sql="create table lenses.b (id int); select 1/0;"
    )
    with pytest.raises(LfSqlError, match=r"9001_novelty\.sql:1: division by zero"):
        install(ledger, replace(tree, migrations=(*tree.migrations, broken)))
    assert snapshot(ledger) == before


def test_an_upgrade_that_breaks_a_rule_changes_nothing(ledger: Database) -> None:
    before = snapshot(ledger)
    tree = grown()
    with pytest.raises(LfSqlError, match="row security is not on"):
        install(ledger, replace(tree, sources=tree.sources[:-1]))
    assert snapshot(ledger) == before


def test_an_edited_migration_is_refused(ledger: Database) -> None:
    edited = replace(TREE.migrations[2], sql=TREE.migrations[2].sql + "\nselect 1;")
    changed = (*TREE.migrations[:2], edited, *TREE.migrations[3:])
    with pytest.raises(Refusal, match="its text has changed"):
        install(ledger, replace(TREE, migrations=changed))


def test_the_path_and_the_line_ends_do_not_count(
    ledger: Database, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("moved") / "else" / "where"
    for path in bundle.sql_root().rglob("*.sql"):
        copy = elsewhere / path.relative_to(bundle.sql_root())
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert not install(ledger, bundle.load(elsewhere)).plan.is_pending


def test_a_changed_source_replays_all(ledger: Database) -> None:
    ledger.execute("drop view lenses.schedule_slots cascade")
    victim = next(s for s in TREE.sources if s.name == "get_auth_lenser_id")
    changed = replace(victim, sql=victim.sql + "\n-- a remark\n")
    sources = tuple(changed if s is victim else s for s in TREE.sources)
    outcome = install(ledger, replace(TREE, sources=sources))
    assert "sources changed" in outcome.plan.reasons
    assert ledger.value("select count(*) from lenses.schedule_slots") == 0


@pytest.mark.parametrize("schema", ["lensers", "lenses", "agents", "automation", "lf_sql"])
def test_a_foreign_schema_is_refused(empty_db: Database, schema: str) -> None:
    empty_db.execute(f"create schema {schema}")
    before = snapshot(empty_db)
    refused(lf_sql("install", dsn=empty_db.dsn), f"schema {schema} exists already")
    assert snapshot(empty_db) == before


def test_a_foreign_function_of_our_name_is_refused(empty_db: Database) -> None:
    empty_db.execute(
        "create function public.fn_get_workflows() returns int language sql as 'select 1'"
    )
    before = snapshot(empty_db)
    refused(
        lf_sql("install", dsn=empty_db.dsn), "function public.fn_get_workflows() exists already"
    )
    assert snapshot(empty_db) == before


def test_dry_run_prints_and_changes_nothing(empty_db: Database) -> None:
    before = snapshot(empty_db)
    said = succeeded(lf_sql("install", "--dry-run", dsn=empty_db.dsn))
    assert "create schema lenses authorization lf_sql_owner" in said
    assert "create or replace function public.fn_upsert_workflow_schedule" in said
    assert snapshot(empty_db) == before
    install(empty_db)
    assert succeeded(lf_sql("install", "--dry-run", dsn=empty_db.dsn)) == "-- nothing to do\n"


def psql(dsn: str, text: str, folder: Path) -> None:
    path = folder / "install.sql"
    path.write_text(text)
    done = subprocess.run(
        ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-f", str(path)],
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def remembered(conn: Database) -> list[object]:
    """The ledger, without whoever and whenever."""
    return [
        conn.rows(
            "select version, slug, checksum, checksum_algorithm, product_version "
            "from lf_sql.migrations order by 1"
        ),
        conn.rows(
            "select product_version, source_digest, digest_algorithm, server_major, role_map, "
            "reason from lf_sql.installs order by id"
        ),
        conn.rows("select * from lf_sql.sources order by 1, 2, 3"),
        conn.rows("select * from lf_sql.expected_objects order by 1, 2"),
    ]


def objects(conn: Database) -> set[tuple[str, str]]:
    return {row for row in snapshot(conn, roles=False) if row[0] != "database"}


@pytest.fixture
def weak_role(empty_db: Database) -> Iterator[str]:
    """A role that may make no roles: it stands for the owners."""
    empty_db.execute(
        "create role weakling login; grant create on schema public to weakling with grant option"
    )
    empty_db.execute(f"grant create on database {empty_db.dbname} to weakling")
    yield "weakling"
    empty_db.execute("drop owned by weakling cascade; drop role weakling")


@pytest.mark.parametrize("is_weak", [False, True])
def test_what_a_dry_run_prints_installs(
    is_weak: bool, empty_db: Database, state: State, weak_role: str, tmp_path: Path
) -> None:
    """By psql, on an empty database and at an upgrade: the catalogue and ledger of an install."""
    name = state.fresh(installed=False)
    dsns = [empty_db.dsn, state.server.dsn(name)]
    with connect(dsns[1]) as twin:
        twin.execute("grant create on schema public to weakling with grant option")
        twin.execute(f"grant create on database {name} to weakling")
        if is_weak:
            dsns = [f"{dsn} user={weak_role}" for dsn in dsns]
        for tree in (TREE, grown()):
            with product_db.connect(dsns[0]) as conn:
                text = "".join(apply.script(tree, apply.prepare(conn, tree).plan))
                psql(dsns[0], text, tmp_path)
                assert not apply.install(conn, tree).plan.is_pending
                assert verify.verify(conn, tree).findings == []
            with product_db.connect(dsns[1]) as conn:
                apply.install(conn, tree)
            assert objects(empty_db) == objects(twin)
            assert remembered(empty_db) == remembered(twin)
        twin.execute("drop owned by weakling cascade")
    state.drop(name)


def test_a_weak_install_beside_a_strong_one_has_days_of_its_own(
    empty_db: Database, state: State, weak_role: str
) -> None:
    """The server's lf_sql_engine is the other database's: here the installing role stands for it."""
    assert state.template, "installed by who may make roles"
    assert empty_db.value("select to_regrole('lf_sql_engine') is not null")
    with product_db.connect(f"{empty_db.dsn} user={weak_role}") as conn:
        apply.install(conn, TREE)
        conn.execute("select lenses.fn_make_partitions(false)")
        assert verify.verify(conn, TREE).findings == []
    days = "select count(*) from lenses.fn_partitions()"
    assert empty_db.value(days) > 0


def test_the_order_is_one(tmp_path: Path) -> None:
    """No source stands before one that its text names, whatever the files' names."""
    made = set()
    for source in TREE.sources:
        head = re.sub(r"^--.*$", "", source.sql, flags=re.MULTILINE).partition("$$")[0]
        named = {
            f"{s.schema}.{s.name}"
            for s in TREE.sources
            if s.kind in ("function", "view") and re.search(rf"\b{s.schema}\.{s.name}\b", head)
        }
        made |= {f"{source.schema}.{source.name}"} if source.kind in ("function", "view") else set()
        assert named <= made, source.label
    assert [s.kind for s in TREE.sources][-2:] == ["seed", "seed"]
    one, two = (
        Source(f"lenses/views/{name}.sql", "view", "lenses", name, f"select from lenses.{other}")
        for name, other in (("a", "b"), ("b", "a"))
    )
    assert [s.name for s in bundle.ordered([replace(two, sql=""), one])] == ["b", "a"]
    with pytest.raises(LfSqlError, match="sources need each other"):
        bundle.ordered([one, two])


def test_settings_of_the_role_and_the_database_do_not_matter(empty_db: Database) -> None:
    hostile = {
        "search_path": "evil, public",
        "standard_conforming_strings": "off",
        "default_transaction_isolation": "serializable",
        "default_transaction_read_only": "on",
        "statement_timeout": "1",
        "quote_all_identifiers": "on",
        "transform_null_equals": "on",
        "datestyle": "german, dmy",
        "timezone": "Asia/Kathmandu",
        "default_tablespace": "",
        "xmloption": "document",
        "check_function_bodies": "on",
    }
    empty_db.execute("create schema evil")
    empty_db.execute(
        "create function evil.unnest(anyarray) returns setof anyelement language sql as 'select null'"
    )
    for name, value in hostile.items():
        empty_db.execute(f"alter database {empty_db.dbname} set {name} = '{value}'")
    succeeded(lf_sql("install", dsn=empty_db.dsn))
    succeeded(lf_sql("install", dsn=empty_db.dsn))
    succeeded(lf_sql("verify", dsn=empty_db.dsn))


def test_an_invalid_file_name_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("tree")
    (folder / "migrations").mkdir()
    (folder / "migrations" / "1_short.sql").write_text("select 1;")
    with pytest.raises(LfSqlError, match="NNNN_slug"):
        bundle.load(folder)


def test_ledger_is_hidden_from_clients(db: Database) -> None:
    for role in ("anon", "authenticated"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), db.transaction():
            db.execute(f"set local role {role}")
            db.execute("select 1 from lf_sql.migrations")
