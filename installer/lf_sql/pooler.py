"""Does a connection keep its server process between transactions? Some poolers change it."""

from __future__ import annotations

from collections.abc import Callable

from lf_sql.db import Connection
from lf_sql.errors import LfSqlError

ROUNDS = 5


def server_pid(conn: Connection) -> int:
    """The server process that answers this very statement."""
    row = conn.execute("select pg_catalog.pg_backend_pid() as pid").fetchone()
    assert row is not None
    return int(row["pid"])


def is_transaction_pooled(connect: Callable[[], Connection]) -> bool:
    """True where two connections share one server process, or one is moved to another.

    A pooler that hands out its newest idle server shares it at once; one that goes round moves us.
    Nothing is locked and nothing waits, even with a pool of one.
    """
    with connect() as ours:
        mine = server_pid(ours)
        for _ in range(ROUNDS):
            with connect() as other:
                if server_pid(other) == mine:
                    return True
                with other.transaction():
                    server_pid(other)
                    if server_pid(ours) != mine:
                        return True
    return False


def refuse_pooler(connect: Callable[[], Connection]) -> None:
    """Raise where a session's lock would not be ours for as long as we are connected."""
    if is_transaction_pooled(connect):
        raise LfSqlError(
            "this is a transaction pooler: it lends a server process for one transaction only, "
            "and the leader's lock needs one of its own",
            "connect to PostgreSQL itself, or to a pooler in session mode (Supabase: port 5432)",
        )
