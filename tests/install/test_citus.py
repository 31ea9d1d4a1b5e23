"""Citus copies DDL to its other nodes unless told not to: none of ours may be copied.

No registry has Citus: its setting stands in for it, and an event trigger asks for it at each command.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lf_sql import apply
from lf_sql import db as product_db
from tests.install.test_install import grown
from tests.support.cli import lf_sql, succeeded
from tests.support.database import Database
from tests.support.server import build

SETTING = "citus.enable_ddl_propagation"
WATCH = f"""
create table public.seen (tag text, value text);
create function public.watch() returns event_trigger language plpgsql security definer as $$
begin
  insert into public.seen values (tg_tag, current_setting('{SETTING}', true));
end $$;
create event trigger watch on ddl_command_end execute function public.watch();
"""


@pytest.fixture
def watched(empty_db: Database) -> Iterator[Database]:
    """A database that seems to have Citus, and writes down how each DDL command was run."""
    name = empty_db.value("select current_database()")
    empty_db.execute(f'alter database "{name}" set {SETTING} = on')
    empty_db.execute(WATCH)
    yield empty_db
    empty_db.execute("drop event trigger watch")


def propagated(db: Database) -> list[str]:
    """The kinds of commands that were copied; there is at least one command in all."""
    assert db.value("select count(*) from public.seen") > 0
    found = db.column("select distinct tag from public.seen where value is distinct from 'off'")
    db.execute("truncate public.seen")
    return found


def test_install_upgrade_and_uninstall_copy_nothing(watched: Database) -> None:
    succeeded(lf_sql("install", dsn=watched.dsn))
    assert propagated(watched) == []
    with product_db.connect(watched.dsn) as conn:
        assert apply.install(conn, grown()).plan.is_pending
    assert propagated(watched) == []
    succeeded(lf_sql("uninstall", "--yes", dsn=watched.dsn))
    assert propagated(watched) == []


def test_what_a_dry_run_prints_copies_nothing(watched: Database, tmp_path: Path) -> None:
    script = tmp_path / "install.sql"
    script.write_text(succeeded(lf_sql("install", "--dry-run", dsn=watched.dsn)))
    psql = [build().bindir / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", script, watched.dsn]
    subprocess.run(psql, check=True, capture_output=True)
    assert propagated(watched) == []
