"""What has caused an error: the server, wrong use, or the work; as lenses.fn_error_kind.

`server` passes by itself and is waited for; `usage` ends a process with one line; `run` counts
against the run, or schedule, that raised it.
"""

from __future__ import annotations

import re
from typing import Literal

import psycopg

from lf_sql.errors import CannotConnect, LfSqlError

Kind = Literal["server", "usage", "run"]

SERVER = ("08", "25", "40", "53", "55", "57", "58")  # SQLSTATE classes, as is the next
USAGE = ("28", "3D", "3F", "42")
QUOTA = "53400"  # what a tenant's quotas are refused with
READ_ONLY = "25006"
NOTIFY_AT_COMMIT = "PreCommit_Notify"  # the server's function that finds the queue full

# What servers and poolers say while they accept no connection, whatever is wrong with other hosts.
MOMENTS = re.compile(
    r"too many (clients|connections)|remaining connection slots|max(imum)? client"
    r"|no more connections|starting up|not yet accepting|not (currently )?accepting connections"
    r"|recovery mode|shutting down|hot standby|read-only|administrator command|terminating"
    r"|server login|cannot connect to server|query_wait_timeout",
    re.IGNORECASE,
)
STANDBY = re.compile("hot standby|session is read-only")
NOBODY = re.compile(
    r"refused|No such file|could not translate|timeout|timed out|unreachable|No route"
    r"|Name or service|resolve|name resolution|Is the server running|closed the connection"
    r"|reset by peer|server is down",
    re.IGNORECASE,
)
REFUSALS = re.compile(
    r"password authentication|no password supplied|authentication failed|does not exist"
    r"|no pg_hba.conf entry|not permitted to log in|permission denied|invalid"
    r"|certificate|SSL is not enabled|server does not support",
    re.IGNORECASE,
)


def kind_of_state(sqlstate: str) -> Kind:
    """By the SQLSTATE alone."""
    if sqlstate == QUOTA:
        return "run"
    if sqlstate[:2] in SERVER:
        return "server"
    return "usage" if sqlstate[:2] in USAGE else "run"


def kind_of(error: Exception) -> Kind:
    """Of anything that a statement or a connection raised."""
    if isinstance(error, CannotConnect):
        return "usage" if error.kind == "usage" else "server"
    if isinstance(error, LfSqlError):
        return "usage"
    if not isinstance(error, psycopg.Error):
        return "run"
    if error.sqlstate is None:  # psycopg's own: the connection went away, or what it was given
        is_away = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return "server" if is_away else "run"
    if error.sqlstate == "54000" and error.diag.source_function == NOTIFY_AT_COMMIT:
        return "server"
    return kind_of_state(error.sqlstate)


def kind_of_refusal(text: str) -> str:
    """Of a connection that was not made, where the server's words are all there is."""
    if MOMENTS.search(text):
        return "server"
    if NOBODY.search(text):
        return "nobody"
    return "usage" if REFUSALS.search(text) else "nobody"


def is_read_only(error: Exception) -> bool:
    """Whether a server answers but allows no writes."""
    if isinstance(error, psycopg.Error):
        return error.sqlstate == READ_ONLY
    return isinstance(error, CannotConnect) and bool(STANDBY.search(error.message))


def ends_session(error: Exception) -> bool:
    """Whether another session would fare better: this one is gone, or may not write."""
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate is None or error.sqlstate == READ_ONLY or error.sqlstate.startswith("08"):
        return True
    return error.diag.severity_nonlocalized in ("FATAL", "PANIC")
