"""The page about cells: its commands, run from top to bottom, and the pooler that it describes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import psycopg

from lf_sql.cells import directory as directories
from lf_sql.embedded import unprivileged
from tests.support.database import wait_until
from tests.support.pages import ROOT, sections
from tests.support.state import State
from tests.surface.test_readme import environment, run

PAGE = ROOT / "installer/CELLS.md"
POOLER = """
%include {folder}/cells.ini
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
pool_mode = transaction
unix_socket_dir =
"""


def test_the_page_from_top_to_bottom(state: State, tmp_path: Path) -> None:
    home = state.fresh(installed=False)
    names = [state.fresh(installed=True) for _ in range(2)]
    host = f"{state.server.folder}/tmp"
    env = {
        **environment(tmp_path, "", host, state.server.port, "postgres"),
        directories.VARIABLE: state.server.dsn(home),
        "FIRST_DSN": state.server.dsn(names[0]),
        "SECOND_DSN": state.server.dsn(names[1]),
    }
    for blocks in sections(PAGE).values():
        for block in blocks:
            if block.is_run:
                run(block, env, tmp_path)
    port, process = _pooler(tmp_path)
    try:
        assert [_database(port, cell) for cell in ("berlin", "tokyo")] == names
    finally:
        process.terminate()
        process.wait(120)
    for name in (home, *names):
        state.drop(name)


def _pooler(folder: Path) -> tuple[int, subprocess.Popen[bytes]]:
    """PgBouncer with the list that the page writes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ini = folder / "pgbouncer.ini"
    ini.write_text(POOLER.format(folder=folder, port=port))
    for path in (folder, *folder.parents):
        if os.geteuid() == 0 and path != Path("/") and not path.stat().st_mode & 0o001:
            path.chmod(path.stat().st_mode | 0o055)
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    command = [*unprivileged(folder), "--", program, "-q", str(ini)]
    process = subprocess.Popen(command, cwd="/")

    def is_there() -> bool:
        with socket.socket() as door:
            return process.poll() is not None or door.connect_ex(("127.0.0.1", port)) == 0

    wait_until(is_there)
    assert process.poll() is None, "pgbouncer did not start"
    return port, process


def _database(port: int, cell: str) -> str:
    dsn = f"host=127.0.0.1 port={port} dbname={cell} user=postgres"
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=None) as conn:
        row = conn.execute("select current_database()").fetchone()
    assert row is not None
    return str(row[0])
