"""PgBouncer in front of a test server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from lf_sql.embedded import unprivileged
from tests.support.database import wait_until
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
        process.wait(120)


def answers(port: int) -> bool:
    try:
        psycopg.connect(f"host=127.0.0.1 port={port} user=postgres dbname=postgres").close()
    except psycopg.OperationalError:
        return False
    return True
