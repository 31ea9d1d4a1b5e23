"""What an install waits for: other installers, ticks and claims under way, readers of our tables.

Nothing here queues for an advisory lock: a wait for one and CREATE INDEX CONCURRENTLY deadlock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import psycopg

from lf_sql import bundle as bundles
from lf_sql.db import Connection

# The first half is 'lfsq' as an int4. The first is the installers'; while it is taken no work that
# writes begins (lenses.fn_admit_work). Work under way holds the second in share mode, and the
# installer waits for it.
LOCK_KEY = (1818653553, 1)
WORK_KEY = (1818653553, 2)
POLL = 0.1
WORK_WAIT = 10.0  # seconds in which nothing new begins; then all go on, and we try again
PAUSE = 1.0  # between two tries to lock the tables, so that sessions queued behind us go on
STATEMENT_LOCK_TIMEOUT = "1s"  # of other locks: no session waits longer behind us

What = Literal["installer", "work", "tables"]


class Busy(Exception):
    """Another session blocks us; give the transaction up and start again."""

    def __init__(self, what: What) -> None:
        super().__init__(what)
        self.what: What = what
        self.pause = POLL if what == "installer" else PAUSE


@dataclass(frozen=True)
class Holder:
    """The session in the way, as far as the connected role may see it."""

    pid: int | None
    words: str


def take(conn: Connection) -> None:
    """The installers' lock, then a moment in which no tick or claim is under way."""
    if not _try(conn, LOCK_KEY):
        raise Busy("installer")
    conn.execute(
        "select pg_catalog.set_config('lock_timeout', %s, true), "
        "pg_catalog.set_config('check_function_bodies', 'off', true)",
        [STATEMENT_LOCK_TIMEOUT],
    )
    try:
        conn.execute(bundles.query("lock_ledger").encode())
    except psycopg.errors.LockNotAvailable:
        raise Busy("tables") from None
    until = time.monotonic() + WORK_WAIT
    while not _try(conn, WORK_KEY):
        if time.monotonic() > until:
            raise Busy("work")
        time.sleep(POLL)


def _try(conn: Connection, key: tuple[int, int]) -> bool:
    row = conn.execute("select pg_catalog.pg_try_advisory_xact_lock(%s, %s) as got", key)
    return bool(row.fetchone()["got"])  # type: ignore[index]


def is_in_the_way(error: psycopg.Error) -> bool:
    """Of the step that locks the tables: its own timeout ended it, not a cancel request."""
    return error.sqlstate in ("55P03", "57014") and "user request" not in str(error)


def holder(conn: Connection, what: What) -> Holder | None:
    """The session that was in the way a moment ago; None if it has ended."""
    key = WORK_KEY if what == "work" else LOCK_KEY
    row = conn.execute(
        bundles.query("lock_holder").encode(),
        {"is_table": what == "tables", "class": key[0], "object": key[1]},
    ).fetchone()
    return Holder(row["pid"], _words(row)) if row else None


def _words(row: dict[str, Any]) -> str:
    if row["pid"] is None:
        return "a prepared transaction (see pg_prepared_xacts)"
    details = [f"role {row['role']}"] if row["role"] else []
    if row["application"]:
        details.append(f"application {row['application']}")
    if row["state"]:
        details.append(row["state"])
    if row["query_start"]:
        details.append(f"its query began at {row['query_start']:%Y-%m-%d %H:%M:%S} UTC")
    return f"process {row['pid']} of the server ({', '.join(details)})"


def refusal(what: What, found: Holder | None) -> tuple[str, str]:
    """The message and the hint after the last try."""
    who = found.words if found else "another process"
    pid = found.pid if found and found.pid else "PID"
    message = {
        "installer": f"another installer is at work: {who} holds the lock",
        "work": f"a tick or a claim does not end: {who} holds the lock",
        "tables": f"a table of lf-sql is in use: {who} holds it",
    }[what]
    return message, f"wait for it, or end it: select pg_terminate_backend({pid})"
