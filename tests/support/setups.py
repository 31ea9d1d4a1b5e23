"""The two set-ups that lf-sql runs in: a plain PostgreSQL, and one prepared like Supabase's."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import psycopg

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.support.database import Database, connect
from tests.support.server import TestServer
from tests.support.state import State
from tests.support.tenants import populate

HERE = Path(__file__).parent
NAMES = ("plain", "supabase")
AUTHENTICATOR = "authenticator"  # the login that becomes the request roles, as PostgREST has it
STRANGER = "lf_test_stranger"  # a role of the same server that nobody has granted anything


class Setup:
    """`superuser` looks and prepares, `installer` is who ran `lf-sql install`."""

    name = "plain"
    superuser = "postgres"
    installer = "postgres"

    def __init__(self, state: State) -> None:
        self._state = state
        self._numbers = itertools.count(1)

    @property
    def server(self) -> TestServer:
        return self._state.server

    @cached_property
    def populated(self) -> str:
        """An installed database with ALICE and BOB in it; only copied from."""
        name = self._state.create(f"{self.name}_two_tenants", self._state.template)
        with connect(self.dsn(name)) as conn:
            add_roles(conn)
            populate(conn)
        return name

    def dsn(self, dbname: str, user: str | None = None) -> str:
        return self.server.dsn(dbname, user or self.superuser)

    @contextmanager
    def database(self, user: str | None = None) -> Iterator[Database]:
        """A fresh one of these."""
        name = self._state.create(f"{self.name}{next(self._numbers)}", self.populated)
        try:
            with connect(self.dsn(name, user)) as conn:
                yield conn
        finally:
            self._state.drop(name)

    def close(self) -> None:
        """The server is the session's."""


class SupabaseState(State):
    """A State whose server is prepared like Supabase's and whose installer is no superuser."""

    @cached_property
    def admin(self) -> psycopg.Connection[tuple[object, ...]]:
        with psycopg.connect(self.server.dsn(), autocommit=True) as conn:
            conn.execute("create role supabase_admin superuser login createrole createdb bypassrls")
        with psycopg.connect(self.server.dsn(user="supabase_admin"), autocommit=True) as conn:
            conn.execute("alter role postgres rename to bootstrap")
            conn.execute((HERE / "supabase_roles.sql").read_bytes())
        return psycopg.connect(self.server.dsn(user="supabase_admin"), autocommit=True)

    def prepared(self, name: str) -> str:
        """A database of postgres's, before the install."""
        self.create(name, None)
        self.admin.execute(f"alter database {name} owner to postgres".encode())
        with psycopg.connect(self.server.dsn(name, "supabase_admin"), autocommit=True) as conn:
            conn.execute((HERE / "supabase_database.sql").read_bytes())
        return name

    @cached_property
    def template(self) -> str:
        name = self.prepared("supabase_template")
        with product_db.connect(self.server.dsn(name, "postgres")) as conn:
            apply.install(conn, bundle.load())
        return name


class SupabaseSetup(Setup):
    name = "supabase"
    superuser = "supabase_admin"

    def __init__(self) -> None:
        super().__init__(SupabaseState())

    def close(self) -> None:
        self._state.close()


def add_roles(conn: Database) -> None:
    if not conn.value("select to_regrole(%s)", [STRANGER]):
        conn.execute(f"create role {STRANGER} nologin".encode())
    if not conn.value("select to_regrole(%s)", [AUTHENTICATOR]):
        conn.execute(f"create role {AUTHENTICATOR} login noinherit".encode())
        conn.execute(f"grant anon, authenticated, service_role to {AUTHENTICATOR}".encode())


@contextmanager
def acting(conn: Database, role: str, claims: str | None = None) -> Iterator[Database]:
    """A transaction as PostgREST opens it, undone at its end; `claims` is the raw text."""
    with conn.transaction(force_rollback=True):
        conn.execute(
            "select set_config('request.jwt.claims', %s, true) as claims, set_config('role', %s, true) as role",
            [claims or "", role],
        )
        yield conn


class WeakSetup(Setup):
    """A managed service whose role may make no roles: it stands for both owners itself."""

    name = "weak"
    installer = "lf_test_admin"

    @cached_property
    def populated(self) -> str:
        _ = self._state.template  # makes the request roles, which a platform has
        admin = self._state.admin
        admin.execute(f"create role {self.installer} login nocreaterole nosuperuser".encode())
        name = self._state.create("weak_two_tenants", None)
        admin.execute(f"alter database {name} owner to {self.installer}".encode())
        with product_db.connect(self.dsn(name, self.installer)) as conn:
            apply.install(conn, bundle.load())
        with connect(self.dsn(name)) as conn:
            add_roles(conn)
            populate(conn)
        return name
