"""What others on the machine and the network can take of a process of ours: threads, connections, secrets."""

from __future__ import annotations

import json
import os
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from lf_sql import environment, metrics_server
from tests.support.cli import lf_sql
from tests.support.database import Database, Tenant, wait_until
from tests.support.processes import Process, running
from tests.support.work import make_schedule, make_workflow


@contextmanager
def listening(db: Database) -> Iterator[tuple[Process, int]]:
    with running(db.dsn, "metrics", "--listen", "127.0.0.1:0") as process:
        process.says("listening on http://127.0.0.1:", timeout=60)
        yield process, int(process.output.split("127.0.0.1:")[1].split("/")[0])


def scrape(port: int, timeout: float = 60) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=timeout) as answer:
        return answer.read().decode()


def connections(db: Database) -> int:
    return db.value(
        "select count(*) from pg_stat_activity where application_name = 'lf-sql metrics' "
        "and datname = current_database()"
    )


def test_scrapes_and_idle_clients_take_no_more_than_there_is(db: Database) -> None:
    with listening(db) as (process, port), ExitStack() as stack:
        for _ in range(20):
            assert "runs_emitted" in scrape(port)
        wait_until(lambda: connections(db) <= metrics_server.THREADS)  # one ends after its client
        for _ in range(60):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.settimeout(60)
            client.sendall(b"GET /metrics HTTP/1.1\r\nX-Slow: ")
        assert len(list(Path(f"/proc/{process.pid}/task").iterdir())) < 4 * metrics_server.THREADS
        # The last of them is sent away when it would wait behind all others, or when its time is up.
        assert client.recv(1) == b""

        def is_served() -> bool:
            try:
                return "runs_emitted" in scrape(port)
            except (OSError, urllib.error.URLError):
                return False

        wait_until(is_served, timeout=120)
        wait_until(lambda: connections(db) <= metrics_server.THREADS)  # one ends after its client


def test_a_byte_now_and_then_holds_nobody(db: Database) -> None:
    """Not each read has a time, but the request."""
    with (
        listening(db) as (_, port),
        socket.create_connection(("127.0.0.1", port)) as client,
    ):
        client.settimeout(0.3)
        client.sendall(b"GET /metrics HTTP/1.1\r\n")

        def is_ended() -> bool:
            try:
                client.sendall(b"X: y\r\n")
                return client.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        wait_until(is_ended)


def test_what_is_wrong_is_no_answer(db: Database) -> None:
    with listening(db) as (process, port):
        assert scrape(port)
        db.execute("alter function lenses.fn_metrics() rename to fn_hidden_figures")
        with pytest.raises(urllib.error.HTTPError) as refused:
            scrape(port)
        assert refused.value.code == 503
        assert refused.value.read().decode() == metrics_server.UNAVAILABLE
        assert "Python" not in str(refused.value.headers)
        process.says("no figures: function lenses.fn_metrics() does not exist")
        db.execute("alter function lenses.fn_hidden_figures() rename to fn_metrics")
        db.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where application_name = 'lf-sql metrics' and datname = current_database()"
        )
        wait_until(lambda: connections(db) == 0)
        assert "runs_emitted" in scrape(port)


PASSWORD = "s3cret/pass word"
DSN = f"host=/tmp user=postgres password='{PASSWORD}'"


@pytest.mark.parametrize(
    "given",
    [
        {"LF_SQL_DSN": DSN},
        {"DATABASE_URL": "postgresql://u:s3cret%2Fpass%20word@h/d"},
        {"PGPASSWORD": PASSWORD, "PGPASSFILE": "/nowhere/.pgpass", "PGSERVICE": "prod"},
        {"LF_SQL_DSN": DSN, "MY_COPY": DSN, "OTHER": f"x{PASSWORD}y"},
    ],
)
def test_no_secret_is_handed_on(given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LF_SQL_DSN", "DATABASE_URL", "PGPASSWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    handed = environment.for_command(None, {**given, "PATH": "/bin", "PGHOST": "h"})
    assert handed == {"PATH": "/bin", "PGHOST": "h"}
    meant = environment.for_command(None, {**given, environment.FOR_COMMANDS: "host=other"})
    assert meant == {"DATABASE_URL": "host=other"}


def test_not_what_is_named_on_the_command_line() -> None:
    assert environment.for_command(DSN, {"X": PASSWORD, "Y": "y"}) == {"Y": "y"}
    said = environment.clean(f"no\x1b[2J {PASSWORD}\n\u202eline", DSN)
    assert said == "no\\x1b[2J ********\n\\u202eline"


def test_a_command_sees_and_says_none(db: Database, tenant: Callable[..., Tenant]) -> None:
    """`runs work`: what it is handed, and what of its stderr is kept for the tenant."""
    schedule = make_schedule(db, make_workflow(db, tenant()), retry_policy='{"maxRetries": 0}')
    owner = db.row("select lenser_id from lenses.workflow_schedules where id = %s", [schedule])
    db.execute(
        "insert into lenses.workflow_runs (lenser_id, workflow_id, schedule_id) "
        "select lenser_id, workflow_id, id from lenses.workflow_schedules where id = %s",
        [schedule],
    )
    assert owner
    prints = (
        "import os, sys; sys.stderr.write('\\x1b[2J\\u202e' + os.environ.get('SAID', '') * 3 "
        "+ chr(10) + repr(dict(os.environ))); sys.exit(3)"
    )
    dsn = f"{db.dsn} password='{PASSWORD}'"
    done = lf_sql(
        "runs", "work", "--once", "--", sys.executable, "-c", prints,
        env={"LF_SQL_DSN": dsn, "PGPASSWORD": PASSWORD, "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert done.returncode == 1
    error = db.value("select metadata #>> '{result,error}' from lenses.workflow_runs")
    assert "exit code 3" in error
    assert "\\x1b[2J" in error
    for secret in (PASSWORD, "s3cret", "LF_SQL_DSN", "\x1b", "\u202e"):
        assert secret not in error
    assert "\x1b" not in done.stderr
    assert json.dumps(error)
