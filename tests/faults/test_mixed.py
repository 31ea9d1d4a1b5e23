"""All faults, one after the other and at random, over executors, a worker and their server.

LF_SQL_FAULT_SEED and LF_SQL_FAULT_MINUTES give another run; `-s` shows its figures.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from lf_sql import apply, bundle
from lf_sql import db as product_db
from tests.faults.rig import Rig
from tests.faults.test_server_away import stop_at_once
from tests.support.database import Database, wait_until
from tests.support.processes import Process, running
from tests.support.server import TestServer

ROLE = "a_mixed_executor"
GONE = (psycopg.OperationalError, psycopg.InterfaceError)


class Mixer:
    """Two executors, a worker, and what befalls them."""

    def __init__(
        self, server: TestServer, rig: Rig, seed: int, stack: contextlib.ExitStack
    ) -> None:
        self.server, self.rig = server, rig
        self.random = random.Random(seed)
        self.dsn = f"{rig.dsn} user={ROLE}"
        self.faults: Counter[str] = Counter()
        self.outputs: list[Process] = []
        self._stack = stack
        self.executors = [self.executor(), self.executor()]
        self.worker = stack.enter_context(running(rig.dsn, "worker", env={"TICK_MS": "200"}))

    def executor(self) -> Process:
        options = ("--concurrency", "3", "--lease", "6s")
        work = self.rig.work(*options, dsn=self.dsn, seconds=0.5)
        process = self._stack.enter_context(work)
        self.outputs.append(process)
        process.says(
            "waiting for runs", 30.0
        )  # at its start an address where nobody answers is wrong
        return process

    def hold(self, most: float = 8.0) -> None:
        threading.Event().wait(self.random.uniform(0.3, most))

    @contextlib.contextmanager
    def setting(self, on: str, off: str) -> Iterator[None]:
        """For sessions that are made from now on; the old ones end."""
        ours = f"select pg_terminate_backend(pid) from pg_stat_activity where usename = '{ROLE}'"
        with self.rig.connect() as db:
            db.execute(on)
            db.execute(ours)
            yield
            db.execute(off)
            db.execute(ours)

    def locked_table(self) -> None:
        with self.rig.connect() as db, db.transaction():
            db.execute("set local lock_timeout = '5s'")
            db.execute("lock table lenses.workflow_runs in access exclusive mode")
            self.hold()

    def locked_rows(self) -> None:
        with self.rig.connect() as db, db.transaction():
            db.execute("select from lenses.workflow_runs where status = 'running' for update")
            self.hold(3.0)

    def ended_sessions(self) -> None:
        with self.rig.connect() as db:
            for _ in range(self.random.randint(1, 30)):
                db.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                    f"where usename = '{ROLE}' and (state = 'active' or random() < 0.1)"
                )

    def statement_timeout(self) -> None:
        on = f"alter role {ROLE} set statement_timeout = '5ms'"
        with self.setting(on, f"alter role {ROLE} reset statement_timeout"):
            self.hold()

    def read_only(self) -> None:
        on = f"alter role {ROLE} set default_transaction_read_only = on"
        with self.setting(on, f"alter role {ROLE} reset default_transaction_read_only"):
            self.hold()

    def no_connections(self) -> None:
        on = f"alter role {ROLE} connection limit 0"
        with self.setting(on, f"alter role {ROLE} connection limit -1"):
            self.hold()

    def shutdown(self) -> None:
        stop_at_once(self.server)
        self.hold()
        self.server.restart()

    def stopped_executor(self) -> None:
        process = self.random.choice(self.executors)
        process.signal(signal.SIGSTOP)
        self.hold(10.0)
        process.signal(signal.SIGCONT)

    def killed_executor(self) -> None:
        process = self.executors.pop(0)
        process.signal(signal.SIGKILL)
        self.executors.append(self.executor())

    def killed_keeper(self) -> None:
        process = self.random.choice(self.executors)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            if b"keeper.py" in Path(f"/proc/{child}/cmdline").read_bytes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)

    @property
    def kinds(self) -> list[Callable[[], None]]:
        return [
            self.locked_table, self.locked_rows, self.ended_sessions, self.statement_timeout,
            self.read_only, self.no_connections, self.shutdown, self.stopped_executor,
            self.killed_executor, self.killed_keeper,
        ]  # fmt: skip

    def fault(self, kind: Callable[[], None]) -> None:
        self.faults[kind.__name__] += 1
        kind()
        for process in [*self.executors, self.worker]:
            assert process.popen.poll() is None, process.output


def feed(rig: Rig, runs: list[uuid.UUID], over: threading.Event) -> None:
    """Some runs wait, always."""
    waiting = "select count(*) from lenses.workflow_runs where status = 'pending'"
    while not over.wait(0.2):
        with contextlib.suppress(*GONE), rig.connect() as db:
            db.execute("set lock_timeout = '1s'")
            if db.value(waiting) < 6:
                runs.append(rig.start())


def finished_and_lost(rig: Rig, db: Database) -> list[tuple[str, str]]:
    """Attempts that came to their end, were not accepted, and had not lost their lease either."""
    reaped = {
        (str(row.run_id), row.attempt)
        for row in db.rows(
            "select run_id, payload ->> 'attempt' as attempt from lenses.workflow_run_events "
            "where payload ->> 'cause' = 'timeout'"
        )
    }
    accepted = {
        (str(row.id), str(row.attempt))
        for row in db.rows(
            "select id, attempt from lenses.workflow_runs where status = 'completed'"
        )
    }
    ends = {(run, attempt) for what, run, attempt, _ in rig.log() if what == "end"}
    return sorted(ends - accepted - reaped)


@pytest.mark.slow
def test_faults_at_random_double_nothing_and_lose_nothing(tmp_path: Path) -> None:
    seed = int(os.environ.get("LF_SQL_FAULT_SEED", "1"))
    minutes = float(os.environ.get("LF_SQL_FAULT_MINUTES", "3"))
    server = TestServer({"synchronous_commit": "on"})
    over = threading.Event()
    runs: list[uuid.UUID] = []
    try:
        with product_db.connect(server.dsn()) as conn:
            apply.install(conn, bundle.load())
            conn.execute(f"create role {ROLE} login; grant service_role to {ROLE}".encode())
        rig = Rig(server.dsn(), tmp_path, retry_policy='{"maxRetries": 1000, "backoffMs": 0}')
        feeder = threading.Thread(target=feed, args=[rig, runs, over])
        with contextlib.ExitStack() as stack:
            mixer = Mixer(server, rig, seed, stack)
            feeder.start()
            until = time.monotonic() + minutes * 60
            while time.monotonic() < until or len(mixer.faults) < len(mixer.kinds):
                kinds = mixer.kinds
                mixer.random.shuffle(kinds)
                for kind in kinds:
                    mixer.fault(kind)
                    mixer.hold(2.0)
            over.set()
            feeder.join()
            open_runs = "select count(*) from lenses.workflow_runs where status <> 'completed'"
            with rig.connect() as db:
                wait_until(lambda: db.value(open_runs) == 0, 120.0)
                lost = finished_and_lost(rig, db)
                assert db.rows("select * from lenses.fn_invariant_violations()") == []
                executed = db.column("select id from lenses.workflow_runs")
            for process in [*mixer.executors, mixer.worker]:
                assert process.stop() == 0
            doubled = rig.notes("doubled")
            print(
                f"\nseed {seed}: {minutes:g} minutes, {mixer.faults.total()} faults "
                f"({dict(mixer.faults)}), {len(executed)} runs executed in {len(rig.notes('start'))} "
                f"attempts, {len(doubled)} doubled, {len(lost)} finished and lost"
            )
            assert (doubled, lost) == ([], [])
            # A stop of the server may swallow the answer to a start: that run is there all the same.
            assert runs and set(runs) <= set(executed)
            assert len(executed) - len(runs) <= mixer.faults["shutdown"]
            assert not any("Traceback" in process.output for process in mixer.outputs)
            per_run = Counter((run, n) for what, run, n, _ in rig.log() if what == "start")
            assert set(per_run.values()) == {1}
    finally:
        over.set()
        server.stop()
