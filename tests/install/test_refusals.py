"""What cannot be installed on: one clear line and a way out, exit 1, nothing changed."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from psycopg import sql

from tests.support.cli import lf_sql, refused
from tests.support.database import Database, connect
from tests.support.server import TestServer
from tests.support.snapshot import snapshot
from tests.support.state import State


def test_no_server(tmp_path: Path) -> None:
    refused(
        lf_sql("install", dsn=f"host={tmp_path} port=5432"), "cannot connect", "no server answers"
    )
    refused(lf_sql("status", dsn="postgresql://127.0.0.1:1/x"), "cannot connect", "refused")


def test_no_such_database_or_role(server: TestServer) -> None:
    refused(lf_sql("install", dsn=server.dsn("nowhere")), 'database "nowhere" does not exist')
    refused(lf_sql("install", dsn=server.dsn(user="nobody")), 'role "nobody" does not exist')


def test_a_connection_string_that_cannot_be_read_is_not_repeated() -> None:
    said = refused(lf_sql("install", dsn="postgresql//me:s3cret@host/db"), "cannot be read")
    assert "s3cret" not in said


def test_where_the_connection_comes_from(server: TestServer) -> None:
    """--dsn before the command or after it, LF_SQL_DSN, DATABASE_URL, libpq's own."""
    for arguments, env in (
        (["--dsn", server.dsn("n1"), "status"], {}),
        (["status", "--dsn", server.dsn("n1")], {"LF_SQL_DSN": server.dsn("n2")}),
        (["status"], {"LF_SQL_DSN": server.dsn("n1"), "DATABASE_URL": server.dsn("n2")}),
        (["status"], {"DATABASE_URL": server.dsn("n1"), "PGDATABASE": "n2"}),
        (
            ["status"],
            {
                "PGHOST": f"{server.folder}/tmp",
                "PGPORT": str(server.port),
                "PGDATABASE": "n1",
                "PGUSER": "postgres",
            },
        ),
    ):
        refused(lf_sql(*arguments, env=env), 'database "n1" does not exist')


def test_a_wrong_password() -> None:
    server = TestServer()
    try:
        with connect(server.dsn()) as conn:
            conn.execute("create role sam login password 'right'")
            hba = Path(conn.value("show hba_file"))
            hba.write_text(
                "local all postgres trust\nhost all postgres all trust\nhost all all all scram-sha-256\n"
            )
            conn.execute("select pg_reload_conf()")
        url = f"postgresql://sam:wr%40ng@127.0.0.1:{server.port}/postgres"
        said = refused(lf_sql("install", dsn=url), "password authentication failed")
        assert "wr@ng" not in said
        assert "wr%40ng" not in said
        refused(lf_sql("install", dsn=url.replace(":wr%40ng", "")), "no password supplied")
    finally:
        server.stop()


class OldServer(socketserver.BaseRequestHandler):
    """As much of the protocol as a client sees of PostgreSQL 14.22 before its first statement."""

    def handle(self) -> None:
        while True:
            (length,) = struct.unpack("!I", self.request.recv(4))
            (code,) = struct.unpack("!I", self.request.recv(length - 4)[:4])
            if code not in (80877103, 80877104):  # no SSL, no GSS
                break
            self.request.sendall(b"N")

        def message(kind: bytes, body: bytes) -> bytes:
            return kind + struct.pack("!I", len(body) + 4) + body

        answer = message(b"R", struct.pack("!I", 0))
        for name, value in (("server_version", "14.22"), ("client_encoding", "UTF8")):
            answer += message(b"S", f"{name}\0{value}\0".encode())
        self.request.sendall(answer + message(b"Z", b"I"))
        self.request.recv(1)


@contextmanager
def old_server() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), OldServer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"host=127.0.0.1 port={server.server_address[1]} user=x dbname=x sslmode=disable"
        server.shutdown()


@pytest.mark.parametrize("command", ["install", "upgrade", "status", "verify"])
def test_an_old_server(command: str) -> None:
    with old_server() as dsn:
        refused(lf_sql(command, dsn=dsn), "PostgreSQL 14.22 is too old", "15 or newer")


@pytest.fixture
def plain_role(state: State, empty_db: Database) -> Iterator[Callable[[str], str]]:
    """A login role without any right, and the DSN of the empty database as it."""
    name = f"plain_{empty_db.dbname}"
    empty_db.execute(sql.SQL("create role {} login").format(sql.Identifier(name)))

    def dsn(grants: str = "") -> str:
        if grants:
            empty_db.execute(grants.format(role=name))
        return state.server.dsn(empty_db.dbname, name)

    yield dsn
    empty_db.execute(f"drop owned by {name}; drop role {name}")


def test_a_role_that_may_not_create_schemas(
    plain_role: Callable[..., str], empty_db: Database
) -> None:
    before = snapshot(empty_db)
    refused(
        lf_sql("install", dsn=plain_role()), "may not create schemas", "grant create on database"
    )
    assert snapshot(empty_db) == before


def test_a_role_that_may_not_create_in_public(
    plain_role: Callable[..., str], empty_db: Database
) -> None:
    dsn = plain_role(f"grant create on database {empty_db.dbname} to {{role}}")
    before = snapshot(empty_db)
    refused(
        lf_sql("install", dsn=dsn), "functions in schema public", "grant create on schema public"
    )
    assert snapshot(empty_db) == before


def test_a_role_that_did_not_install_it(state: State, db: Database) -> None:
    """It is told so whatever rights it has: none that it might be given would help."""
    name = f"other_{db.dbname}"
    db.execute(f"create role {name} login")
    dsn = state.server.dsn(db.dbname, name)
    for grant in (f"database {db.dbname}", "schema public"):
        for command in (["install"], ["install", "--dry-run"], ["verify"], ["uninstall", "--yes"]):
            refused(lf_sql(*command, dsn=dsn), "installed here by another role")
        db.execute(f"grant create on {grant} to {name}")
    refused(lf_sql("install", dsn=dsn), "installed here by another role")
    db.execute(f"drop owned by {name}; drop role {name}")


def test_without_schema_public(empty_db: Database) -> None:
    empty_db.execute("drop schema public cascade")
    refused(lf_sql("install", dsn=empty_db.dsn), "no schema public", "create schema public")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
@pytest.mark.parametrize("client", [None, "LATIN1", "SQL_ASCII"])
def test_another_encoding(state: State, encoding: str, client: str | None) -> None:
    state.admin.execute(
        f"create database other encoding '{encoding}' lc_collate 'C' lc_ctype 'C' template template0"
    )
    env = {} if client is None else {"PGCLIENTENCODING": client}
    run = lf_sql("install", dsn=state.server.dsn("other"), env=env)
    refused(run, f"encoding {encoding}", "UTF8")
    state.drop("other")


def test_wrong_usage_is_exit_2() -> None:
    for arguments, words in (
        (["--bogus"], "No such option"),
        (["install", "--bogus"], "No such option"),
        (["instal"], "Did you mean 'install'?"),
        (["verfy"], "Did you mean 'verify'?"),
        (["uninstall"], "say --yes"),
        (["install", "--wait", "soon"], "not a valid float"),
    ):
        run = lf_sql(*arguments)
        assert run.returncode == 2, run.stderr
        assert words in run.stderr


def test_without_arguments_it_explains_itself() -> None:
    run = lf_sql()
    assert run.returncode == 0
    assert "Examples:" in run.stdout
    assert "install" in run.stdout


@pytest.mark.parametrize("command", ["status", "verify", "uninstall"])
def test_nothing_installed(empty_db: Database, command: str) -> None:
    arguments = [command, "--yes"] if command == "uninstall" else [command]
    run = lf_sql(*arguments, dsn=empty_db.dsn)
    assert run.returncode == 1
    assert "not installed in this database" in run.stderr
