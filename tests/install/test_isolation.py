"""What undoes the isolation of tenants from outside our schemas: verify names it, install refuses or mends it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from lf_sql import bundle, export
from tests.install.test_verify import findings
from tests.support.cli import lf_sql, refused, succeeded
from tests.support.database import Database

# Roles are the whole server's, so each takes back what it did. What is done → what verify must name → the way back.
ISOLATION = {
    "a request role in another": (
        "grant service_role to authenticated",
        "membership authenticated in service_role: it gains what that role may do: "
        "revoke service_role from authenticated",
    ),
    "through a third": (
        "create role lf_test_between; grant service_role to lf_test_between; grant lf_test_between to anon",
        "membership anon in lf_test_between: it gains what service_role may do: "
        "revoke lf_test_between from anon",
    ),
    "anon in authenticated": (
        "grant authenticated to anon",
        "membership anon in authenticated: it gains what that role may do: revoke authenticated from anon",
    ),
    "files of the server": (
        "grant pg_write_server_files to service_role",
        "membership service_role in pg_write_server_files: it gains what that role may do: "
        "revoke pg_write_server_files from service_role",
    ),
    "past row security": (
        "alter role authenticated bypassrls",
        "role authenticated: has bypassrls: alter role authenticated nobypassrls",
    ),
    "a superuser": (
        "alter role anon superuser",
        "role anon: has superuser: alter role anon nosuperuser",
    ),
    "a maker of roles": (
        "alter role service_role createrole",
        "role service_role: has createrole: alter role service_role nocreaterole",
    ),
    "a login": (
        "alter role authenticated login",
        "role authenticated: has login: alter role authenticated nologin",
    ),
    "an owner who may log in": (
        "alter role lf_sql_engine login bypassrls",
        "role lf_sql_engine: has bypassrls, login: alter role lf_sql_engine nobypassrls nologin",
    ),
    "a foreign member": (
        "create role lf_test_between; grant lf_sql_engine to lf_test_between",
        "membership lf_test_between in lf_sql_engine: may act as it: revoke lf_sql_engine from lf_test_between",
    ),
    "one who may pass it on": (
        "create role lf_test_between; grant service_role to lf_test_between with admin option",
        "membership lf_test_between in service_role: may pass it on: "
        "revoke admin option for service_role from lf_test_between",
    ),
    "default privileges": (
        "alter default privileges for role lf_sql_owner in schema lenses grant select on tables to anon",
        "default privileges lf_sql_owner in lenses: what it makes is open to anon: alter default privileges "
        "for role lf_sql_owner in schema lenses revoke all on tables from anon",
    ),
    "default privileges everywhere": (
        "alter default privileges for role lf_sql_engine grant execute on functions to anon",
        "default privileges lf_sql_engine everywhere: what it makes is open to anon: alter default privileges "
        "for role lf_sql_engine revoke all on functions from anon",
    ),
    "a path in front of the catalogue": (
        "alter role service_role set search_path = public, pg_catalog",
        "setting search_path of service_role: is public, pg_catalog: alter role service_role reset search_path",
    ),
    "whom a session acts as": (
        "alter role all set role = 'none'",
        "setting role of the database: is none: alter role all reset role",
    ),
    "silent triggers": (
        "alter role service_role set session_replication_role = replica",
        "setting session_replication_role of service_role: is replica: "
        "alter role service_role reset session_replication_role",
    ),
    "somebody's claims for everybody": (
        "alter role authenticated set request.jwt.claims = '{}'",
        "setting request.jwt.claims of authenticated: is {}: alter role authenticated reset request.jwt.claims",
    ),
    "an event trigger of somebody else": (
        "create role lf_test_between; create function public.seer() returns event_trigger language plpgsql as "
        "'begin end'; alter function public.seer() owner to lf_test_between; "
        "create event trigger seer on ddl_command_end execute function public.seer()",
        "event trigger seer: runs a function of lf_test_between whenever an object is created or dropped: "
        "alter event trigger seer disable",
    ),
}  # fmt: skip


@pytest.fixture
def roles_as_before(db: Database) -> Iterator[Database]:
    yield db
    db.execute("drop event trigger if exists seer; drop function if exists public.seer()")
    db.execute("alter role anon nosuperuser nobypassrls nocreaterole nologin")
    db.execute("alter role authenticated nosuperuser nobypassrls nocreaterole nologin")
    db.execute("alter role service_role nosuperuser nobypassrls nocreaterole nologin")
    db.execute("alter role lf_sql_engine nosuperuser nobypassrls nocreaterole nologin")
    for name in ("anon", "authenticated", "service_role"):
        db.execute(f"alter role {name} reset all")
    db.execute("revoke service_role from authenticated; revoke authenticated from anon")
    db.execute(
        "revoke pg_write_server_files from service_role; drop role if exists lf_test_between"
    )


@pytest.mark.parametrize("damage", ISOLATION)
def test_what_undoes_isolation_from_outside(roles_as_before: Database, damage: str) -> None:
    """One line that names it and ends with the statement that mends it, and that does."""
    db = roles_as_before
    command, named = ISOLATION[damage]
    db.execute(command)
    lines = [line for line in findings(db).splitlines() if line.startswith(named.split(": ")[0])]
    assert named in lines
    for line in lines:
        remedy = line.rsplit(": ", 1)[1]
        if remedy.startswith(("alter ", "revoke ")):  # else the same, as the catalogue has it
            db.execute(remedy)
    succeeded(lf_sql("verify", dsn=db.dsn))


def test_who_has_installed_may_be_a_member(roles_as_before: Database) -> None:
    db = roles_as_before
    db.execute("create role lf_test_between; grant lf_sql_owner, lf_sql_engine to lf_test_between")
    assert "lf_test_between in lf_sql_owner" in findings(db)
    db.execute("update lf_sql.installs set installed_by = 'lf_test_between'")
    succeeded(lf_sql("verify", dsn=db.dsn))


FATAL = ("a request role in another", "past row security", "a superuser", "a maker of roles")


@pytest.mark.parametrize("damage", FATAL)
def test_nothing_is_installed_beside_it(
    roles_as_before: Database, empty_db: Database, damage: str
) -> None:
    command, named = ISOLATION[damage]
    roles_as_before.execute(command)
    what, remedy = named.split(": ")[0], named.rsplit(": ", 1)[1]
    for db in (empty_db, roles_as_before):
        db.execute("update lf_sql.installs set source_digest = ''" if db is not empty_db else "")
        refused(lf_sql("install", dsn=db.dsn), what, "not installed beside it", remedy)
    script = "".join(export.supabase_script(bundle.load()))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match=what):
        empty_db.execute(script)


def test_a_superuser_is_told_who_writes_what_he_runs(roles_as_before: Database) -> None:
    db = roles_as_before
    db.execute("create role lf_test_between createrole; grant lf_sql_owner to lf_test_between")
    told = "role lf_test_between may act as lf_sql_owner and is no superuser"
    assert told in lf_sql("verify", dsn=db.dsn).stdout
    db.execute("drop role lf_test_between")


def test_a_stranger_in_an_owner_role_before_us(
    roles_as_before: Database, empty_db: Database
) -> None:
    """Refused on a first install, unless he is said to be trusted; an upgrade leaves him to verify."""
    db = roles_as_before
    db.execute("create role lf_test_between; grant lf_sql_owner to lf_test_between")
    refused(lf_sql("install", dsn=empty_db.dsn), "lf_test_between in lf_sql_owner", "revoke")
    db.execute("update lf_sql.installs set source_digest = ''")
    succeeded(lf_sql("install", dsn=db.dsn))
    assert "lf_test_between in lf_sql_owner" in findings(db)
    succeeded(lf_sql("install", dsn=empty_db.dsn, env={"LF_SQL_OWNER": "lf_test_between"}))


@pytest.mark.parametrize("right", ["login", "superuser", "bypassrls", "createrole", "createdb"])
def test_an_owner_role_that_may_too_much_is_put_right_aloud(
    roles_as_before: Database, empty_db: Database, right: str
) -> None:
    db = roles_as_before
    db.execute(f"alter role lf_sql_engine {right}")
    run = lf_sql("install", dsn=empty_db.dsn)
    succeeded(run)
    assert (
        f"warning: role lf_sql_engine had more rights than it needs: alter role lf_sql_engine no{right}"
        in run.stderr
    )
    succeeded(lf_sql("verify", dsn=db.dsn))


def test_a_request_role_that_may_log_in_is_said_aloud(
    roles_as_before: Database, empty_db: Database
) -> None:
    roles_as_before.execute("alter role authenticated login")
    run = lf_sql("install", dsn=empty_db.dsn)
    succeeded(run)
    assert "warning: role authenticated may log in" in run.stderr


def test_an_owner_role_that_cannot_be_put_right_is_not_used(roles_as_before: Database) -> None:
    """By an installer who may make roles, of one that is a superuser."""
    db = roles_as_before
    db.execute("alter role lf_sql_engine superuser; create role lf_test_between login createrole")
    db.execute("create database lf_test_another owner lf_test_between")
    try:
        dsn = f"{db.dsn} dbname=lf_test_another user=lf_test_between"
        # It does without them, and says so: what stands for an owner role is never a superuser.
        assert "weaker: tables" in succeeded(lf_sql("install", dsn=dsn))
        assert db.value("select rolsuper from pg_roles where rolname = 'lf_sql_engine'")
    finally:
        db.execute("alter role lf_sql_engine nosuperuser")
        lf_sql("uninstall", "--yes", dsn=dsn)
        db.execute("drop database lf_test_another with (force)")
        db.execute("drop owned by lf_test_between")
