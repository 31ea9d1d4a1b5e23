"""Who installs: a superuser, a managed service's own role, a role that may hardly anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest

from lf_sql import bundle
from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import Database, as_user, connect, make_tenant
from tests.support.platform import platform_server
from tests.support.server import TestServer
from tests.support.snapshot import snapshot

UNWANTED = """
select g.rolname || ' ' || o.what || ' ' || o.name
from (
  select 'function' as what, p.oid::regprocedure::text as name, p.proacl as acl from pg_proc as p
  where p.pronamespace in (select oid from pg_namespace where nspname in ('lensers', 'lenses', 'agents', 'automation', 'lf_sql'))
  union all
  select 'table', c.oid::regclass::text, c.relacl from pg_class as c
  where c.relnamespace in (select oid from pg_namespace where nspname in ('lensers', 'lenses', 'agents', 'automation', 'lf_sql', 'public'))
) as o
cross join lateral aclexplode(o.acl) as a
join pg_roles as g on g.oid = a.grantee
where g.rolname = 'anon' or (g.rolname = 'authenticated' and o.what = 'table' and a.privilege_type <> 'SELECT')
"""


@pytest.fixture(scope="module")
def platform() -> Iterator[TestServer]:
    with platform_server() as server:
        yield server


@pytest.fixture
def app(platform: TestServer) -> Iterator[Database]:
    """The managed database as its own role, which is no superuser."""
    with connect(platform.dsn("app", "dashboard")) as conn:
        yield conn
    lf_sql("uninstall", "--yes", dsn=platform.dsn("app"))


def test_on_a_managed_service(platform: TestServer, app: Database) -> None:
    """Full strength: owner roles of its own, and nothing of what the defaults give away."""
    said = succeeded(lf_sql("install", dsn=app.dsn))
    assert "weaker" not in said
    owner = (
        "select relowner::regrole::text from pg_class where oid = 'lenses.workflow_runs'::regclass"
    )
    assert app.value(owner) == "lf_sql_owner"
    assert app.column(UNWANTED) == []
    succeeded(lf_sql("verify", dsn=app.dsn))
    assert "nothing to do" in succeeded(lf_sql("install", dsn=app.dsn))
    # what was lent to hand things over is taken back
    for role in ("lf_sql_owner", "lf_sql_engine"):
        assert not app.value("select has_schema_privilege(%s, 'public', 'create')", [role])
    assert not app.value("select has_schema_privilege('lf_sql_engine', 'lenses', 'create')")


def test_a_tenant_on_a_managed_service(platform: TestServer, app: Database) -> None:
    succeeded(lf_sql("install", dsn=app.dsn))
    with connect(platform.dsn("app")) as admin:
        tenant = make_tenant(admin)
    with connect(platform.dsn("app", "authenticator")) as rest:
        with as_user(rest, tenant):
            rest.execute("select * from public.fn_get_workflows()")
        with pytest.raises(psycopg.errors.InsufficientPrivilege), as_user(rest, None, "anon"):
            rest.execute("select * from public.fn_get_workflows()")
    # the role that installed may tick, as pg_cron does for it
    app.execute("call lenses.sp_dispatch_tick()")
    assert app.value("select count(*) from lenses.dispatch_ticks") == 1


def test_an_upgrade_on_a_managed_service(app: Database) -> None:
    succeeded(lf_sql("install", dsn=app.dsn))
    app.execute("update lf_sql.installs set source_digest = 'another'")
    assert "sources changed" in succeeded(lf_sql("install", dsn=app.dsn))
    assert app.column(UNWANTED) == []


def test_uninstall_on_a_managed_service(app: Database, platform: TestServer) -> None:
    before = snapshot(app)
    succeeded(lf_sql("install", dsn=app.dsn))
    succeeded(lf_sql("uninstall", "--yes", dsn=app.dsn))
    assert snapshot(app) == before
    assert app.value("select to_regrole('service_role')") is not None


@pytest.fixture
def bare() -> Iterator[tuple[Database, Database]]:
    """A plain server, and a role with CREATE on the database and on public, and no more."""
    server = TestServer()
    try:
        with connect(server.dsn()) as admin:
            admin.execute('create role "o\'hara" login')
            admin.execute('grant create on database postgres to "o\'hara"')
            admin.execute('grant create on schema public to "o\'hara"')
            with connect(server.dsn(user="o\\'hara")) as conn:
                yield admin, conn
    finally:
        server.stop()


def test_weak_mode(bare: tuple[Database, Database]) -> None:
    """It works, says what is weaker, and verify goes on saying it."""
    admin, conn = bare
    said = succeeded(lf_sql("install", dsn=conn.dsn))
    assert "weaker: tables and definer functions belong to o'hara" in said
    assert "weaker: the roles anon, authenticated, service_role do not exist" in said
    said = succeeded(lf_sql("verify", dsn=conn.dsn))
    assert "belong to o'hara" in said
    assert "nothing to do" in succeeded(lf_sql("install", dsn=conn.dsn))
    assert conn.value("select count(*) from lensers.profiles") == 0
    tenant = make_tenant(conn)
    with conn.transaction():
        conn.execute(
            "select set_config('request.jwt.claims', %s, true)", [f'{{"sub": "{tenant.user_id}"}}']
        )
        assert conn.rows("select * from public.fn_get_workflows()") == []
    conn.execute("call lenses.sp_dispatch_tick()")
    assert admin.value("select count(*) from pg_roles where rolname like 'lf\\_sql%'") == 0


def test_weak_mode_grows_up(bare: tuple[Database, Database]) -> None:
    """A superuser's install over it makes the roles, and it is as strong as any.

    He says that he trusts the role that stands for them: what is its own runs with his rights.
    """
    admin, conn = bare
    succeeded(lf_sql("install", dsn=conn.dsn))
    refused(lf_sql("install", dsn=admin.dsn), "belongs to o'hara", "LF_SQL_OWNER=o'hara")
    said = succeeded(lf_sql("install", dsn=admin.dsn, env={"LF_SQL_OWNER": "o'hara"}))
    assert "roles changed" in said
    assert "weaker" not in succeeded(lf_sql("verify", dsn=admin.dsn))
    owner = (
        "select relowner::regrole::text from pg_class where oid = 'lenses.workflow_runs'::regclass"
    )
    assert admin.value(owner) == "lf_sql_owner"
    assert (
        admin.value(
            "select count(*) from pg_policy where (select oid from pg_roles where rolname like 'o%hara') = any(polroles)"
        )
        == 0
    )
    refused(lf_sql("install", dsn=conn.dsn), "installed here by another role")


def test_weak_mode_uninstalls(bare: tuple[Database, Database]) -> None:
    admin, conn = bare
    before = snapshot(admin)
    succeeded(lf_sql("install", dsn=conn.dsn))
    succeeded(lf_sql("uninstall", "--yes", dsn=conn.dsn))
    assert snapshot(admin) == before


def test_no_migration_needs_a_superuser() -> None:
    """Managed services have none: no extensions, no superuser's settings, no event triggers."""
    tree = bundle.load()
    texts = {m.label: m.sql for m in tree.migrations} | {s.label: s.sql for s in tree.sources}
    for label, text in (texts | tree.scripts).items():
        lowered = re.sub(r"--[^\n]*|'(?:[^']|'')*'", "", text.lower())
        for word in (
            "create extension",
            "event trigger",
            "alter system",
            "leakproof",
            "language c",
            "session_replication_role",
        ):
            assert not re.search(rf"\b{word}\b", lowered), f"{label}: {word}"
