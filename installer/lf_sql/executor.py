"""A small executor: claims runs, gives each to a command, and says how it ended.

Whether a claim, a heartbeat or a result counts is the database's to say; a run whose lease is lost
is left alone, and its command ended. Restarts of the server are waited for.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from lf_sql import db, environment
from lf_sql.command import Ended, Running
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

CHANNEL = "lf_workflow_runs"
RESULT_MOST = 16 * 1024 * 1024  # bytes of a command's output that can become a result
NOT_STORABLE = ("22P05", "54001", "54000", "22021", "22003")


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    command: Sequence[str]
    concurrency: int = 1
    lease: float = 300.0  # seconds
    poll: float = 5.0  # seconds without a notification: retries and available_at make none
    once: bool = False  # end when there is nothing to claim


class Link:
    """One connection for all threads, made again for as long as the server is away."""

    def __init__(self, dsn: str | None, say: Callable[[str], None], gone: threading.Event) -> None:
        self._dsn = dsn
        self._say = say
        self._gone = gone
        self._lock = threading.Lock()
        self._conn: Connection | None = None

    def connect(self) -> Connection:
        conn = db.connect(self._dsn, application_name="lf-sql runs work")
        conn.execute("select pg_catalog.set_config('timezone', 'UTC', false)")
        return conn

    def rows(self, query: str, params: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Run one statement; each of ours may be repeated, since the lease guards it."""
        pause = 0.2
        while True:
            try:
                with self._lock:
                    if self._conn is None:
                        self._conn = self.connect()
                    return self._conn.execute(query.encode(), params).fetchall()
            except (psycopg.OperationalError, LfSqlError) as error:
                if not self._is_lost(error) or self._gone.is_set():
                    raise
                self._say(f"server away: {error}; next try in {pause:.1f} s")
            self._gone.wait(pause)
            pause = min(pause * 2, 5.0)

    def _is_lost(self, error: psycopg.OperationalError | LfSqlError) -> bool:
        """Whether the connection is; it is given up then."""
        with self._lock:
            if isinstance(error, psycopg.Error) and self._conn and not self._conn.broken:
                return bool(self._conn.closed)
            self._conn = None
        return True


class Executor:
    """`run` returns when `stop` is set and what was under way has ended."""

    def __init__(
        self, dsn: str | None, options: Options, stop: threading.Event, say: Callable[[str], None]
    ) -> None:
        self.options = options
        self.id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(6)}"
        self.failed = 0
        self.done = 0
        self._stop = stop
        self._say = say
        self._gone = threading.Event()  # set at the very end: nobody waits for the server then
        self._dsn = dsn
        self._link = Link(dsn, say, self._gone)
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()

    def run(self) -> None:
        """Claim and hand out until stopped, then wait for what is under way."""
        with self._link.connect() as conn:  # a wrong address is said at once, not waited for
            db.require_installed(conn)
        threading.Thread(target=self._listen, name="listen", daemon=True).start()
        threading.Thread(target=self._beat, name="heartbeat", daemon=True).start()
        self._say(f"executor {self.id} is waiting for runs")
        workers: list[threading.Thread] = []
        try:
            while not self._stop.is_set():
                workers = [thread for thread in workers if thread.is_alive()]
                claimed = self._claim(self.options.concurrency - len(workers))
                for run in claimed:
                    workers.append(threading.Thread(target=self._work, args=[run], name="run"))
                    workers[-1].start()
                if self.options.once and not claimed and not workers:
                    break
                if not claimed or len(workers) >= self.options.concurrency:
                    self._wait()
            if workers and self._stop.is_set():
                self._say(f"stopping: {len(workers)} runs are under way")
            for thread in workers:
                thread.join()
        finally:
            self._gone.set()

    def abandon(self) -> None:
        """The second signal: end the commands too; their runs fail and are retried by policy."""
        with self._lock:
            for running in self._running.values():
                running.end()

    def wake(self) -> None:
        """Look for runs now."""
        self._wake.set()

    def _wait(self) -> None:
        self._wake.wait(0.2 if self.options.once else self.options.poll)
        self._wake.clear()

    def _claim(self, limit: int) -> list[dict[str, Any]]:
        if limit < 1:
            return []
        return self._link.rows(
            "select pg_catalog.to_jsonb(r)::text as run, r.id::text as id, "
            "(r.policies #>> '{retry_policy,timeoutMs}')::float8 as timeout_ms, "
            "(r.policies #>> '{limits,spending_limit_credits}')::numeric as spending_limit "
            "from lenses.fn_claim_workflow_runs(%s, %s, pg_catalog.make_interval(secs => %s)) as r",
            [self.id, limit, self.options.lease],
        )

    def _work(self, run: dict[str, Any]) -> None:
        run_id = run["id"]
        try:
            self._finish(run_id, run, self._execute(run_id, run))
        except (psycopg.Error, LfSqlError) as error:
            text = db.describe(error)[0] if isinstance(error, psycopg.Error) else error.message
            self._say(f"run {run_id}: {text}; its lease decides")
        finally:
            self._wake.set()

    def _execute(self, run_id: str, run: dict[str, Any]) -> Ended:
        timeout = run["timeout_ms"] / 1000 if run["timeout_ms"] else None
        environ = {**environment.for_command(self._dsn), "LF_RUN_ID": run_id}
        try:
            running = Running(self.options.command, run["run"].encode(), environ, RESULT_MOST)
        except OSError as error:
            return Ended(code=127, error=f"{self.options.command[0]}: {error.strerror}")
        with self._lock:
            self._running[run_id] = running
        try:
            return running.wait(timeout)
        finally:
            with self._lock:
                del self._running[run_id]

    def _finish(self, run_id: str, run: dict[str, Any], ended: Ended) -> None:
        if ended.is_abandoned:
            self._say(f"run {run_id}: the lease is lost, left to whoever has it now")
            return
        cause, text, spent = self._judge(run, ended)
        if cause is None:
            rows = self._link.rows(
                "select lenses.fn_complete_workflow_run(%s, %s, %s::jsonb, %s) as is_ours",
                [run_id, self.id, text or None, spent],
            )
        else:
            rows = self._link.rows(
                "select lenses.fn_fail_workflow_run(%s, %s, %s, %s) as is_ours",
                [run_id, self.id, cause, text],
            )
        if not rows[0]["is_ours"]:
            self._say(f"run {run_id}: too late, the run is not ours any more")
        elif cause is None:
            self.done += 1
            self._say(f"run {run_id}: completed")
        else:
            self.failed += 1
            self._say(f"run {run_id}: failed: {text.splitlines()[0] if text else cause}")

    def _judge(self, run: dict[str, Any], ended: Ended) -> tuple[str | None, str, Any]:
        """Cause of the failure or None, result or error text, credits spent."""
        if ended.is_timed_out:
            return "timeout", f"no end after {run['timeout_ms']:.0f} ms", 0
        if ended.code:
            said = environment.clean(ended.error, self._dsn)
            return "provider_error", f"exit code {ended.code}: {said}".rstrip(": "), 0
        if ended.is_too_long:
            return "contract_violated", f"result is longer than {RESULT_MOST} bytes", 0
        try:
            text = ended.output.decode()
            if "\0" in text:
                raise UnicodeError
        except UnicodeError:
            return "contract_violated", "result not storable: it is no UTF-8 text", 0
        if not text.strip():
            return None, "", 0
        try:
            (row,) = self._link.rows(
                "select case pg_catalog.jsonb_typeof(v.result -> 'spent_credits') when 'number' "
                "then (v.result -> 'spent_credits')::numeric end as spent "
                "from (select %s::jsonb as result) as v",
                [text],
            )
        except psycopg.errors.InvalidTextRepresentation as error:
            detail = error.diag.message_detail or error.diag.message_primary
            return "contract_violated", f"result is no JSON: {detail}", 0
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded) as error:
            return "contract_violated", f"result not storable: {db.describe(error)[0]}", 0
        except psycopg.errors.StatementTooComplex as error:
            return "contract_violated", f"result not storable: {db.describe(error)[0]}", 0
        spent = max(row["spent"] or 0, 0)
        limit = run["spending_limit"]
        if limit is not None and spent > limit:
            return "budget_exceeded", f"spent {spent} credits, the limit is {limit}", spent
        return None, text, spent

    def _beat(self) -> None:
        """Keep the leases; end the command of a run whose lease is lost."""
        while not self._gone.wait(self.options.lease / 3):
            with self._lock:
                under_way = list(self._running.items())
            for run_id, running in under_way:
                try:
                    rows = self._link.rows(
                        "select lenses.fn_heartbeat_workflow_run("
                        "%s, %s, pg_catalog.make_interval(secs => %s)) as is_ours",
                        [run_id, self.id, self.options.lease],
                    )
                except (psycopg.Error, LfSqlError) as error:
                    self._say(f"heartbeat: {error}")
                    continue
                if not rows[0]["is_ours"]:
                    running.abandon()

    def _listen(self) -> None:
        """Wake the claims when the dispatcher says that there are runs."""
        pause = 0.2
        while not self._gone.is_set():
            try:
                with self._link.connect() as conn:
                    conn.execute(f"listen {CHANNEL}")
                    pause = 0.2
                    self._wake.set()
                    while not self._gone.is_set():
                        for _ in conn.notifies(timeout=1.0, stop_after=1):
                            self._wake.set()
            except (psycopg.Error, LfSqlError):
                self._gone.wait(pause)  # the claims say what is wrong, and poll meanwhile
                pause = min(pause * 2, 5.0)
