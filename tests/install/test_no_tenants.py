"""Installed by a role that may not become `authenticated`: what is said, and what mends it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

import pytest

from tests.support.cli import Run, lf_sql, refused, succeeded
from tests.support.database import Database, Tenant, connect, make_tenant
from tests.support.server import TestServer

# The hint and the line begin the same; what is a statement stands between semicolons.
REMEDY = re.compile(r"as a superuser: (.*?)(?:; then.*)?$", re.MULTILINE)


@pytest.fixture
def admin() -> Iterator[Database]:
    """A plain server without our roles, and a database that belongs to `o'hara`."""
    server = TestServer()
    try:
        with connect(server.dsn()) as conn:
            conn.execute('create role "o\'hara" login')
            conn.execute('create database app owner "o\'hara"')
        with connect(server.dsn("app")) as conn:
            conn.execute('alter schema public owner to "o\'hara"')
            yield conn
    finally:
        server.stop()


def installed(admin: Database) -> Tenant:
    """Installed as o'hara, and a tenant."""
    said = succeeded(owner(admin, "install"))
    assert "weaker: commands cannot act as a tenant" in said
    with connect(owner_dsn(admin)) as conn:
        return make_tenant(conn)


def owner_dsn(admin: Database) -> str:
    return f"{admin.dsn} user=o\\'hara"


def owner(admin: Database, *line: str) -> Run:
    return lf_sql(*line, dsn=owner_dsn(admin))


def commands(tenant: Tenant) -> list[list[str]]:
    user = str(tenant.user_id)
    return [
        shlex.split(line)
        for line in (
            f"workflow create W --as {user}",
            f"schedule calendar create C --dates 2027-01-01 --as {user}",
            f"gateway create G --as {user}",
            f"schedule list --as {user}",
            f"console --as {user} --port 0",
            "export --yaml",
        )
    ]


def all_refused(admin: Database, tenant: Tenant, *words: str) -> str:
    """Every command that acts as a tenant; the statements of the hint."""
    for line in commands(tenant):
        said = refused(owner(admin, *line), *words)
        assert "service_role" not in said
    (remedy,) = REMEDY.findall(said)
    return remedy


def test_the_role_does_not_exist(admin: Database) -> None:
    tenant = installed(admin)
    problem = "the role authenticated does not exist"
    remedy = all_refused(admin, tenant, f"acts as a tenant, and {problem}", "lf-sql install")
    assert remedy == 'create role authenticated nologin; grant authenticated to "o\'hara"'
    assert problem in succeeded(owner(admin, "verify"))
    admin.execute(remedy)
    assert "cannot act" not in succeeded(owner(admin, "install"))
    assert "cannot act" not in succeeded(owner(admin, "verify"))
    succeeded(owner(admin, *commands(tenant)[0]))
    assert "W" in succeeded(owner(admin, "export", "--yaml"))


def test_the_role_is_of_others(admin: Database) -> None:
    admin.execute(
        "create role authenticated nologin; create role anon nologin;"
        'create role service_role nologin; grant service_role to "o\'hara"'
    )
    tenant = installed(admin)
    problem = "role o'hara is no member of the role authenticated"
    remedy = all_refused(admin, tenant, f"acts as a tenant, and {problem}")
    assert remedy == 'grant authenticated to "o\'hara"'
    (line,) = [
        row["problem"]
        for row in json.loads(succeeded(owner(admin, "verify", "--json")))
        if problem in row["problem"]
    ]
    assert REMEDY.findall(line) == [remedy]
    admin.execute(remedy)
    assert "cannot act" not in succeeded(owner(admin, "verify"))
    succeeded(owner(admin, *commands(tenant)[0]))


def test_a_role_that_only_operates(admin: Database) -> None:
    """Not who installed, but who is connected."""
    succeeded(lf_sql("install", dsn=admin.dsn))
    tenant = make_tenant(admin)
    admin.execute("create role clerk login; grant service_role to clerk")
    clerk = f"{admin.dsn} user=clerk"
    line = commands(tenant)[0]
    said = refused(lf_sql(*line, dsn=clerk), "role clerk is no member of the role authenticated")
    assert "grant authenticated to clerk" in said
