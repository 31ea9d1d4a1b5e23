"""uninstall leaves nothing, takes nothing that is not ours, and does not cut a tick short."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from lf_sql import bundle, uninstall
from lf_sql import db as product_db
from tests.support.cli import lf_sql, refused, start, succeeded
from tests.support.database import Database, connect, make_tenant, wait_until
from tests.support.server import TestServer
from tests.support.snapshot import snapshot
from tests.support.state import State


@pytest.fixture
def own_server() -> Iterator[TestServer]:
    """A server of its own, since roles are the whole server's."""
    server = TestServer()
    yield server
    server.stop()


def test_the_catalogue_is_as_before(own_server: TestServer) -> None:
    dsn = own_server.dsn()
    with connect(dsn) as db:
        db.execute("alter default privileges grant all on tables to public")
        before = snapshot(db)
        succeeded(lf_sql("install", dsn=dsn))
        make_tenant(db)
        assert snapshot(db) != before
        said = succeeded(lf_sql("uninstall", "--yes", dsn=dsn))
        assert "role lf_sql_owner" in said
        assert snapshot(db) == before
        succeeded(lf_sql("install", dsn=dsn))
        succeeded(lf_sql("verify", dsn=dsn))


def test_roles_that_another_database_uses_stay(db: Database, state: State) -> None:
    assert state.template
    said = succeeded(lf_sql("uninstall", "--yes", dsn=db.dsn))
    for name in ("lf_sql_owner", "lf_sql_engine", "anon", "authenticated", "service_role"):
        assert f"kept: role {name}" in said
        assert db.value("select to_regrole(%s)", [name]) is not None


def test_what_stands_on_ours_is_a_refusal(db: Database) -> None:
    db.execute("create table public.mine (run_id uuid references lenses.workflow_runs (id))")
    db.execute("create view public.seen as select id from lenses.workflows")
    before = snapshot(db)
    said = refused(lf_sql("uninstall", "--yes", dsn=db.dsn), "depends on lf-sql")
    assert "table public.mine" in said
    assert "view public.seen" in said
    assert snapshot(db) == before
    db.execute("drop table public.mine; drop view public.seen")
    succeeded(lf_sql("uninstall", "--yes", dsn=db.dsn))


def test_others_functions_in_public_stay(db: Database) -> None:
    db.execute("create function public.mine() returns int language sql as 'select 1'")
    succeeded(lf_sql("uninstall", "--yes", dsn=db.dsn))
    left = "select proname from pg_proc where pronamespace = 'public'::regnamespace"
    assert db.column(left) == ["mine"]


def test_it_waits_for_a_running_tick(db: Database, state: State) -> None:
    """The tick is held up by a lock of ours; uninstall waits, and the database can be dropped then."""
    with db.another() as holder, db.another() as ticker:
        with holder.transaction():
            holder.execute("lock table lenses.dispatch_settings in access exclusive mode")
            thread = threading.Thread(
                target=lambda: ticker.execute("call lenses.sp_dispatch_tick()")
            )
            thread.start()
            wait_until(lambda: active(db, "sp_dispatch_tick"), what="the tick runs")
            run = start("uninstall", "--yes", dsn=db.dsn)
            assert run.stderr is not None
            assert run.stderr.readline() == "a tick is running: waiting for it to end\n"
            assert db.value("select to_regnamespace('lenses')") is not None
        thread.join(30)
        _, err = run.communicate(timeout=120)
    assert run.returncode == 0, err
    assert db.value("select to_regnamespace('lenses')") is None
    name = db.dbname
    db.close()
    state.admin.execute(f"drop database {name}")


def test_a_tick_that_does_not_end_is_cancelled(db: Database) -> None:
    told: list[str] = []
    with db.another() as holder, db.another() as ticker, holder.transaction():
        holder.execute("lock table lenses.dispatch_settings in access exclusive mode")
        cancelled: list[BaseException] = []

        def tick() -> None:
            try:
                ticker.execute("call lenses.sp_dispatch_tick()")
            except BaseException as error:
                cancelled.append(error)

        thread = threading.Thread(target=tick)
        thread.start()
        wait_until(lambda: active(db, "sp_dispatch_tick"), what="the tick runs")
        with product_db.connect(db.dsn) as conn:
            # the holder is in the way of the drop as well: only the tick is looked at here
            uninstall.let_tick_end(conn, 0.2, told.append)
        thread.join(30)
    assert told == ["a tick is running: waiting for it to end"]
    assert "cancel" in str(cancelled[0])


def active(db: Database, words: str) -> bool:
    query = "select count(*) from pg_stat_activity where state = 'active' and query like %s and pid <> pg_backend_pid()"
    return bool(db.value(query, [f"call %{words}%"]))


def test_the_bundle_knows_what_it_made() -> None:
    kinds = {row[0] for row in bundle.load().objects}
    assert kinds == {"function", "view"}
