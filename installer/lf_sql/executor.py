"""A small executor: claims runs, gives each to a command, and says how it ended.

Whether a claim, a heartbeat or a result counts is the database's to say; a run whose lease is lost
is left alone, and its command ended. What the server goes through is waited for.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import psycopg

from lf_sql import db, environment
from lf_sql.claims import Claims
from lf_sql.command import Ended, Running
from lf_sql.db import Connection
from lf_sql.delivery import Delivery, Untold
from lf_sql.errors import LfSqlError, Stopped
from lf_sql.judge import RESULT_MOST, judge
from lf_sql.leases import Attempt, Leases
from lf_sql.link import Link, Outage, connect, first_connection, pauses, words
from lf_sql.trouble import kind_of

APPLICATION = "lf-sql runs work"
CHANNEL = "lf_workflow_runs"
PATIENCE = 30.0  # seconds with an address where nobody answers, at the start


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    command: Sequence[str]
    concurrency: int = 1
    lease: float = 300.0  # seconds
    poll: float = 5.0  # seconds without a notification: retries and available_at make none
    once: bool = False  # end when there is nothing to claim


class Executor:
    """`run` returns when `stop` is set and what was under way has ended."""

    def __init__(
        self, dsn: str | None, options: Options, stop: threading.Event, say: Callable[[str], None]
    ) -> None:
        self.options = options
        self.id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(6)}"
        self.failed = 0
        self.done = 0
        self.lost = 0  # neither: the lease was gone, or nobody took the result
        self._dsn = dsn
        self._stop = stop
        self._say = say
        self._gone = threading.Event()  # set at the very end: nobody waits for the server then
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._trouble: LfSqlError | None = None
        self._outage = Outage(say)
        self._link = Link("work", self._connect, self._outage, self._gone)
        self._beats = Link("heartbeat", self._connect, self._outage, self._gone)
        self._leases = Leases(self._beats, self._outage, options.lease, self._gone, self._give_up)
        self._claims = Claims(self.id, self._link, self._leases, options.lease, stop)
        self._delivery = Delivery(self._link, say)

    def run(self) -> None:
        """Claim and hand out until stopped, then wait for what is under way."""
        self._check()
        threading.Thread(target=self._listen, name="listen", daemon=True).start()
        self._leases.start()
        self._say(f"executor {self.id} is waiting for runs")
        threads: list[threading.Thread] = []
        try:
            while not self._stop.is_set():
                threads = [thread for thread in threads if thread.is_alive()]
                begun = self._take(self.options.concurrency - len(threads))
                threads += begun
                if self.options.once and not threads:
                    break
                if not begun or len(threads) >= self.options.concurrency:
                    self._wait()
            if threads and self._stop.is_set():
                self._say(f"stopping: {len(threads)} runs are under way")
            for thread in threads:
                thread.join()
        finally:
            self._gone.set()
            self._leases.close()
            self._link.close()
        if self._trouble is not None:
            raise self._trouble

    def abandon(self) -> None:
        """The second signal: end the commands too; their runs fail and are retried by policy."""
        for attempt in self._leases.held():
            attempt.end()

    def leave(self) -> None:
        """The third: what the server has not taken yet is left undelivered."""
        self._gone.set()

    def wake(self) -> None:
        """Look for runs now."""
        self._wake.set()

    def _connect(self) -> Connection:
        return connect(self._dsn, APPLICATION, {"timezone": "UTC"})

    def _check(self) -> None:
        """A server that is not ready is waited for, an address where nobody answers for a while."""
        patience = 0.0 if self.options.once else PATIENCE
        for pause in pauses():
            with first_connection(self._connect, self._outage, self._stop, patience) as conn:
                try:
                    return db.require_installed(conn)
                except psycopg.Error as error:
                    if kind_of(error) != "server" or self._stop.wait(pause):
                        raise
        return None

    def _give_up(self, error: Exception) -> None:
        """Wrong use: no more claims, and the process ends with this line."""
        with self._lock:
            if self._trouble is None:
                hint = db.describe(error)[1] if isinstance(error, psycopg.Error) else None
                if isinstance(error, LfSqlError):
                    self._trouble = error
                else:
                    self._trouble = LfSqlError(words(error), hint or "see lf-sql verify")
        self._stop.set()
        self._wake.set()

    def _wait(self) -> None:
        self._wake.wait(0.2 if self.options.once else self.options.poll)
        self._wake.clear()

    def _take(self, limit: int) -> list[threading.Thread]:
        """Claim up to `limit` runs, and begin with each."""
        if limit < 1:
            return []
        try:
            runs, sent_at = self._claims.claim(limit)
        except (psycopg.Error, LfSqlError) as error:
            self._give_up(error)
            return []
        begun = []
        for run in runs:
            attempt, earlier = self._leases.add(run, sent_at)
            begun.append(threading.Thread(target=self._work, args=[attempt, earlier], name="run"))
            begun[-1].start()
        return begun

    def _work(self, attempt: Attempt, earlier: list[Attempt]) -> None:
        try:
            for other in earlier:  # two commands of a run never work side by side
                other.over.wait()
            ended = self._execute(attempt)
            if ended is None:
                self._lose(attempt, "the lease is lost, left to whoever has it now")
            else:
                self._finish(attempt, ended)
        except Stopped as error:
            self._lose(attempt, f"left undelivered: {error.message}")
        except (psycopg.Error, LfSqlError) as error:
            self._lose(attempt, f"{words(error)}; its lease decides")
            if kind_of(error) == "usage" and not isinstance(error, Untold):
                self._give_up(error)
        finally:
            attempt.over.set()
            self._leases.drop(attempt)
            self._wake.set()

    def _execute(self, attempt: Attempt) -> Ended | None:
        """How the command ended; None where that is nobody's business any more."""
        run = attempt.run
        timeout = run["timeout_ms"] / 1000 if run["timeout_ms"] else None
        environ = {**environment.for_command(self._dsn), "LF_RUN_ID": attempt.id}
        command = self.options.command
        try:
            running = attempt.begin(
                lambda: Running(command, run["run"].encode(), environ, RESULT_MOST)
            )
        except OSError as error:
            return Ended(code=127, error=f"{command[0]}: {error.strerror}")
        if running is None:
            return None
        ended = running.wait(timeout)
        is_lost = ended.is_abandoned or attempt.is_lost
        attempt.ended()
        return None if is_lost else ended

    def _finish(self, attempt: Attempt, ended: Ended) -> None:
        ended = replace(ended, error=environment.clean(ended.error, self._dsn))
        verdict = judge(partial(self._link.rows, who=attempt.id), attempt.run, ended)
        told = self._delivery.deliver(attempt, verdict)
        if told is None:
            self._lose(attempt, "too late, the run is not ours any more")
        elif told.cause is None:
            with self._lock:
                self.done += 1
            self._say(f"run {attempt.id}: completed")
        else:
            with self._lock:
                self.failed += 1
            said = told.text.splitlines()[0] if told.text else told.cause
            self._say(f"run {attempt.id}: failed: {said}")

    def _lose(self, attempt: Attempt, said: str) -> None:
        with self._lock:
            self.lost += 1
        self._say(f"run {attempt.id}: {said}")

    def _listen(self) -> None:
        """Wake the claims when the dispatcher says that there are runs."""
        tries = pauses()
        while not self._gone.is_set():
            try:
                with self._connect() as conn:
                    conn.execute(f"listen {CHANNEL}")
                    self._outage.back("listen")
                    tries = pauses()
                    self._wake.set()
                    while not self._gone.is_set():
                        for _ in conn.notifies(timeout=1.0, stop_after=1):
                            self._wake.set()
            except (psycopg.Error, LfSqlError) as error:
                if kind_of(error) == "server":  # else the claims say what is wrong
                    self._outage.lost("listen", error)
                self._gone.wait(next(tries))  # the claims poll meanwhile
