"""Behind PgBouncer: transaction pooling is refused, session pooling works."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from lf_sql import db as product_db
from lf_sql.embedded import unprivileged
from lf_sql.pooler import is_transaction_pooled
from tests.support.database import Database, wait_until
from tests.support.processes import running
from tests.support.server import TestServer

INI = """
[databases]
* = host={host} port={port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
server_round_robin = {round_robin}
ignore_startup_parameters = extra_float_digits,options
unix_socket_dir =
"""


@contextmanager
def pgbouncer(
    server: TestServer, folder: Path, mode: str, size: int = 5, round_robin: int = 0
) -> Iterator[int]:
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        listen = free.getsockname()[1]
    folder.chmod(0o755)
    ini = folder / "pgbouncer.ini"
    ini.write_text(
        INI.format(
            host="127.0.0.1",
            port=server.port,
            listen=listen,
            mode=mode,
            size=size,
            round_robin=round_robin,
        )
    )
    for parent in [ini, *ini.parents]:
        if not parent.stat().st_mode & 0o004 and os.geteuid() == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o055)
    process = subprocess.Popen(
        [*unprivileged(folder), "--", program, "-q", str(ini)],
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: answers(listen) or process.poll() is not None)
        assert process.poll() is None, "pgbouncer did not start"
        yield listen
    finally:
        process.terminate()
        process.wait(10)


def answers(port: int) -> bool:
    try:
        psycopg.connect(f"host=127.0.0.1 port={port} user=postgres dbname=postgres").close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.mark.parametrize(("size", "round_robin"), [(1, 0), (5, 0), (5, 1)])
def test_transaction_pooling_is_refused(
    db: Database, server: TestServer, tmp_path: Path, size: int, round_robin: int
) -> None:
    with pgbouncer(server, tmp_path, "transaction", size, round_robin) as port:
        dsn = f"host=127.0.0.1 port={port} user=postgres dbname={db.dbname}"
        with running(dsn, "worker") as worker:
            assert worker.ends() == 1
            assert "transaction pooler" in worker.output
            assert "port 5432" in worker.output
            assert "Traceback" not in worker.output


def test_session_pooling_works(db: Database, server: TestServer, tmp_path: Path) -> None:
    with pgbouncer(server, tmp_path, "session") as port:
        dsn = f"host=127.0.0.1 port={port} user=postgres dbname={db.dbname}"
        with running(dsn, "worker") as worker:
            worker.says("leading")
            assert worker.stop() == 0


def test_a_direct_connection_is_no_pooler(shared_db: Database) -> None:
    assert not is_transaction_pooled(lambda: product_db.connect(shared_db.dsn))
