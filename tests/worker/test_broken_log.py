"""A log that cannot be written stops no work: its disk is full, or its reader is gone."""

from __future__ import annotations

import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.cookiejar import CookieJar

import pytest

from tests.executor.endpoint import JSON, Request, Server, answer
from tests.support.database import Database, Tenant, wait_until
from tests.support.processes import Process, running
from tests.support.work import make_schedule, make_workflow, run_now

TENANT = Callable[..., Tenant]
CUT = (
    "select pg_terminate_backend(pid) from pg_stat_activity "
    "where datname = current_database() and application_name like %s"
)


@pytest.fixture(params=["full", "unread"])
def log(request: pytest.FixtureRequest) -> Iterator[int]:
    """The number of a file that cannot be written."""
    if request.param == "full":
        file = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, file = os.pipe()
        os.close(reader)
    yield file
    os.close(file)


def run_of(db: Database, owner: Tenant) -> object:
    """A run that fails at once where its handler does."""
    schedule = make_schedule(db, make_workflow(db, owner), retry_policy='{"maxRetries": 0}')
    return run_now(db, owner, schedule)


def ends(db: Database, run: object, status: str, process: Process) -> None:
    """Wait until the run has this status; the process runs on."""
    now = "select status from lenses.workflow_runs where id = %s"
    wait_until(
        lambda: (
            process.popen.poll() is not None or db.value(now, [run]) not in ("pending", "running")
        )
    )
    assert process.popen.poll() is None
    assert db.value(now, [run]) == status


def test_the_worker_goes_on(db: Database, log: int) -> None:
    """Its log has a line when its session is ended, when it is back, and for each freeze."""
    newest = "select coalesce(max(id), 0) from lenses.dispatch_ticks where driver = 'worker'"

    def ticks(worker: Process) -> None:
        before = db.value(newest)
        wait_until(lambda: worker.popen.poll() is not None or db.value(newest) > before)
        assert worker.popen.poll() is None

    with running(db.dsn, "worker", env={"TICK_MS": "100"}, stderr=log) as worker:
        ticks(worker)
        db.execute(CUT, ["lf-sql worker%"])
        ticks(worker)
        db.execute("select lenses.fn_freeze_dispatch('x')")
        db.execute("select lenses.fn_unfreeze_dispatch()")
        ticks(worker)
        assert worker.stop() == 0


def test_an_executor_goes_on(db: Database, tenant: TENANT, log: int) -> None:
    owner = tenant()
    command = ("runs", "work", "--lease", "3s", "--poll", "200ms", "--", "sh", "-c")
    with running(db.dsn, *command, "exit ${CODE:-0}", stderr=log) as executor:
        ends(db, run_of(db, owner), "completed", executor)
        db.execute(CUT, ["lf-sql runs work%"])
        ends(db, run_of(db, owner), "completed", executor)
        assert executor.stop() == 0
    with running(db.dsn, *command, "exit 3", stderr=log) as executor:
        ends(db, run_of(db, owner), "failed", executor)
        assert executor.stop() == 0


def test_runs_are_delivered(db: Database, tenant: TENANT, log: int) -> None:
    async def fine(_: Server, request: Request) -> bytes:
        return answer("200 OK", "{}", JSON)

    async def gone(_: Server, request: Request) -> bytes:
        return answer("410 Gone", "", JSON)

    owner = tenant()
    with Server({"/fine": fine, "/gone": gone}) as server:
        for path, status in (("/fine", "completed"), ("/gone", "failed")):
            command = ("runs", "deliver", "--unsigned", "--poll", "200ms")
            url = server.url + path
            env = {"NO_PROXY": "127.0.0.1"}
            with running(db.dsn, *command, "--url", url, env=env, stderr=log) as executor:
                ends(db, run_of(db, owner), status, executor)
                assert executor.stop() == 0


def test_figures_are_served(db: Database, log: int) -> None:
    """Also after some could not be had, which is a line of the log."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    url = f"http://127.0.0.1:{port}/metrics"

    def status(process: Process) -> int:
        assert process.popen.poll() is None
        try:
            with urllib.request.urlopen(url, timeout=120) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except urllib.error.URLError:  # it does not listen yet
            return 0

    with running(db.dsn, "metrics", "--listen", f"127.0.0.1:{port}", stderr=log) as process:
        wait_until(lambda: status(process) == 200)
        db.execute("alter function lenses.fn_metrics() rename to fn_hidden")
        wait_until(lambda: status(process) == 503)
        db.execute("alter function lenses.fn_hidden() rename to fn_metrics")
        wait_until(lambda: status(process) == 200)
        assert process.stop() == 0


def test_the_console_answers(db: Database, tenant: TENANT, log: int) -> None:
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    command = ("console", "--as", str(tenant().user_id), "--port", "0")
    with running(db.dsn, *command, stderr=log) as process:
        process.says("?token=")
        with browser.open(process.output.strip(), timeout=120) as answer:
            assert answer.status == 200
        assert process.stop() == 0
