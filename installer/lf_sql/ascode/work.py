"""From files to a plan, and from a plan to the database; what `apply` and `diff` have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from lf_sql import streams
from lf_sql.ascode import model, perform, plan, present, source
from lf_sql.ascode.model import Wanted
from lf_sql.ascode.plan import Plan
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError


def wanted(files: Sequence[str], with_environment: bool) -> Wanted:
    """All files as one wish; `-` is standard input."""
    environ = os.environ if with_environment else None
    read = []
    for name in files:
        try:
            if name == "-":
                data, shown = streams.read(), "<stdin>"
            else:
                data, shown = Path(name).read_bytes(), name
        except OSError as error:
            raise LfSqlError(f"{name}: {error.strerror}") from None
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise LfSqlError(f"{shown}:{line}: this is not UTF-8", "save it in UTF-8") from None
        read.append(source.read(text, shown, environ))
    return model.merge(read)


def made(conn: Connection, user_id: UUID, what: Wanted, prune: bool, holding: bool) -> Plan:
    """The plan by what is there now; `holding`: no other apply runs until the transaction ends."""
    if holding:
        perform.lock(conn, user_id)
    return plan.make(what, present.read(conn, what), prune)
