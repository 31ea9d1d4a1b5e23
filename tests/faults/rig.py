"""A tenant with runs, executors that give them to the recorder, and what must be true at the end."""

from __future__ import annotations

import sys
import uuid
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.support.database import Database, Tenant, connect, make_tenant, wait_until
from tests.support.processes import Process, running
from tests.support.work import make_schedule, make_workflow, run_now

RECORDER = Path(__file__).with_name("recorder.py")
OURS = "application_name in ('lf-sql runs work', 'lf-sql worker')"
LOST = ("connection lost", "the server cannot now", "waiting for the server")


class Rig:
    """`folder` has the recorder's log; every run may be tried three times more, at once."""

    def __init__(self, dsn: str, folder: Path, **policies: str) -> None:
        self.dsn = dsn
        self.folder = folder
        folder.chmod(0o777)
        with self.connect() as db:
            self.owner: Tenant = make_tenant(db)
            self.workflow = make_workflow(db, self.owner)
            values = {"retry_policy": '{"maxRetries": 3, "backoffMs": 0}', **policies}
            self.schedule = make_schedule(db, self.workflow, **values)

    def connect(self) -> Database:
        return connect(self.dsn)

    def start(self) -> uuid.UUID:
        with self.connect() as db:
            return run_now(db, self.owner, self.schedule)

    def work(
        self,
        *options: str,
        dsn: str = "",
        seconds: float | None = None,
        is_stubborn: bool = False,
        **env: str,
    ) -> AbstractContextManager[Process]:
        command = [sys.executable, str(RECORDER), str(self.folder)]
        command += ["gate" if seconds is None else str(seconds)]
        command += ["stubborn"] if is_stubborn else []
        return running(
            dsn or self.dsn, "runs", "work", "--poll", "200ms", *options, "--", *command, env=env
        )

    def log(self) -> list[list[str]]:
        path = self.folder / "log"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def notes(self, what: str, run: uuid.UUID | None = None) -> list[int]:
        """The attempts that the recorder has noted so."""
        return [
            int(attempt)
            for noted, run_id, attempt, _ in self.log()
            if noted == what and run in (None, uuid.UUID(run_id))
        ]

    def begun(self, run: uuid.UUID, attempts: int = 1) -> None:
        wait_until(lambda: len(self.notes("start", run)) >= attempts)

    def open(self) -> None:
        (self.folder / "gate").touch()

    def row(self, run: uuid.UUID) -> Any:
        with self.connect() as db:
            return db.row("select * from lenses.workflow_runs where id = %s", [run])

    def completed(self, run: uuid.UUID, attempt: int = 1) -> None:
        """Its end is that attempt's, its commands came one after the other, nothing else was lost."""
        wait_until(lambda: self.row(run).status == "completed", what=str(self.log()))
        row = self.row(run)
        assert (row.attempt, row.metadata["result"]) == (attempt, {"attempt": attempt})
        assert self.notes("doubled") == []
        assert self.notes("start", run) == list(range(1, attempt + 1))
        assert self.notes("end", run) == [attempt]
        with self.connect() as db:
            assert db.rows("select * from lenses.fn_invariant_violations()") == []


def end_sessions(db: Database, who: str = OURS) -> int:
    return db.value(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity "
        f"where {who} and datname = current_database()"
    )


def losses(process: Process) -> int:
    return sum(process.output.count(text) for text in LOST)


def is_quiet(process: Process) -> bool:
    """One line when the server is lost, one when it is back, no traceback."""
    backs = process.output.count("the server is back")
    return losses(process) - backs in (0, 1) and "Traceback" not in process.output
