"""A server prepared as Supabase prepares its own: API roles, default privileges, no superuser to be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.database import connect
from tests.support.server import TestServer

# `dashboard` is what Supabase calls postgres: it owns the database and may make roles, and is no superuser.
PLATFORM = """
create role dashboard login createrole createdb noinherit;
alter role dashboard inherit;
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit;
grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role to dashboard with admin option;
"""
DATABASE = """
create schema auth authorization postgres;
create function auth.uid() returns uuid language sql stable
as $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
grant usage on schema auth to anon, authenticated, service_role;
grant usage on schema public to anon, authenticated, service_role;
"""
DEFAULTS = """
alter default privileges for role {role} in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role {role} in schema public grant all on functions to anon, authenticated, service_role;
alter default privileges for role {role} in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges for role {role} grant all on tables to anon, authenticated, service_role;
alter default privileges for role {role} grant execute on functions to anon, authenticated, service_role;
"""


@contextmanager
def platform_server() -> Iterator[TestServer]:
    """Its database `app` belongs to `dashboard`; nothing is installed."""
    server = TestServer()
    try:
        with connect(server.dsn()) as admin:
            admin.execute(PLATFORM)
            admin.execute("create database app owner dashboard")
        with connect(server.dsn("app")) as admin:
            admin.execute(DATABASE)
            for role in ("dashboard", "postgres"):
                admin.execute(DEFAULTS.format(role=role))
        yield server
    finally:
        server.stop()
