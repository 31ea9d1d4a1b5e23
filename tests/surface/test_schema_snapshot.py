"""sql/schema.sql says what a fresh install has, and is no part of what is installed."""

from __future__ import annotations

from lf_sql import bundle
from tests.support import schema
from tests.support.database import Database


def test_the_snapshot_is_what_an_install_has(shared_db: Database) -> None:
    told = schema.FILE.read_text(encoding="utf-8")
    found = schema.text(shared_db)
    assert schema.without_style(told) == schema.without_style(found), "run `make schema`"


def test_the_snapshot_has_every_table(shared_db: Database) -> None:
    told = schema.FILE.read_text(encoding="utf-8")
    tables = shared_db.column(
        "select schemaname || '.' || tablename from pg_catalog.pg_tables where schemaname = any (%s)",
        [list(bundle.OWN_SCHEMAS)],
    )
    assert tables
    assert [name for name in tables if f"table {name} (" not in told] == []


def test_the_snapshot_is_not_installed() -> None:
    tree = bundle.load()
    assert "schema" not in tree.scripts
    banner = schema.BANNER.splitlines()[0]
    assert banner in schema.FILE.read_text(encoding="utf-8")
    texts = [source.sql for source in tree.sources] + [m.sql for m in tree.migrations]
    assert not [text for text in texts if banner in text]
