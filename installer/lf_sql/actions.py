"""Runs the one node of a run, for `lf-sql runs work --shell` and `--sql`.

A command as any other of the executor's: the run as JSON on standard input, the result on standard
output, an exit code and a line on standard error where it fails. Its own process, so that the
executor ends it, and all it has started, when its time is over.
"""

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO, Any

ROWS = 100  # of the last statement, kept in the result
TAIL = 65536  # bytes of a command's output that are kept
CONFIG = 78  # exit code of what is not for this executor, as sysexits.h has it
# Of whom the statement could become: roles that may do more than a tenant's SQL should.
PRIVILEGED = """
select r.rolname
from pg_catalog.pg_roles as r
where r.rolname in (current_user, session_user) and exists (
  select from pg_catalog.pg_roles as o
  where pg_catalog.pg_has_role(r.oid, o.oid, 'member')
    and (
      o.rolsuper or o.rolbypassrls or o.rolcreaterole or o.rolcreatedb or o.rolreplication
      or o.rolname in ('lf_sql_owner', 'lf_sql_engine', 'service_role', 'authenticated', 'anon')
      or o.rolname like 'pg\\_%'  -- what the server gives away: all data, files, programs
      or o.oid in (
        select d.datdba from pg_catalog.pg_database as d
        where d.datname = pg_catalog.current_database())
    ))
"""


class Unfit(Exception):
    """This executor does not run it."""


def command(shell: bool, sql: bool) -> list[str]:
    """The command line that runs the actions allowed."""
    flags = [flag for flag, wanted in (("shell", shell), ("sql", sql)) if wanted]
    return [sys.executable, "-m", "lf_sql.actions", *flags]


def node_of(run: Mapping[str, Any], allowed: Sequence[str]) -> dict[str, Any]:
    """The one node, where it has an action that is allowed."""
    nodes = (run.get("definition") or {}).get("nodes") or []
    words = " or ".join(allowed)
    if len(nodes) != 1:
        raise Unfit(f"this executor runs definitions of one node ({words}), not of {len(nodes)}")
    action = nodes[0].get("action")
    if action not in allowed:
        raise Unfit(f"this executor runs the action {words}, not {json.dumps(action)}")
    found: dict[str, Any] = nodes[0]
    return found


def shell(node: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """The command's output, where it ends well; else its exit code is ours."""
    text, user = node.get("command"), node.get("user")
    if not isinstance(text, str) or not text.strip():
        raise Unfit("the node has no command")
    if user is not None and user != getpass.getuser():
        raise Unfit(f"the command is {user}'s, and this executor is {getpass.getuser()}'s")
    given = node.get("stdin")
    extra = {str(key): str(value) for key, value in (node.get("env") or {}).items()}
    process = subprocess.Popen(
        [str(node.get("shell") or "/bin/sh"), "-c", text],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**environ, **extra},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    data = str(given or "").encode()  # by a thread: the command may print before it reads
    threading.Thread(target=_give, args=[process.stdin, data], daemon=True).start()
    output, is_cut = b"", False
    while chunk := process.stdout.read1(TAIL):  # type: ignore[attr-defined]
        output += chunk
        is_cut = is_cut or len(output) > TAIL
        output = output[-TAIL:]
    code = process.wait()
    said = output.decode(errors="replace").replace("\0", "")
    if code:
        print(said.rstrip(), file=sys.stderr)
        raise SystemExit(code if code > 0 else 128 - code)
    return {"exit_code": 0, "output": said, **({"is_cut": True} if is_cut else {})}


def _give(stdin: IO[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError), stdin:
        stdin.write(data)


def connect(dsn: str, database: str | None = None) -> Any:
    """As the role that the operator gave, in its own search path; none that may do everything."""
    import psycopg

    conn = psycopg.connect(
        dsn,
        autocommit=True,
        application_name="lf-sql runs work --sql",
        client_encoding="UTF8",  # the statement has any character, whatever the variables say
    )
    try:
        with conn.transaction():
            conn.execute("set local search_path = pg_catalog, pg_temp")
            row = conn.execute(PRIVILEGED.encode()).fetchone()
        if row:
            raise Unfit(
                f"the role {row[0]} may do more than a tenant's SQL should: give --sql another"
            )
        if database is not None and conn.info.dbname != database:
            raise Unfit(f"the statement is for {database}, and --sql leads to {conn.info.dbname}")
    except BaseException:
        conn.close()
        raise
    return conn


def sql(node: Mapping[str, Any], dsn: str, timeout_ms: int | None) -> dict[str, Any]:
    """Row counts, and rows of the last statement; several statements are one transaction."""
    text = node.get("sql")
    if not isinstance(text, str) or not text.strip():
        raise Unfit("the node has no sql")
    with connect(dsn, node.get("database")) as conn:
        if timeout_ms:
            limit = str(min(timeout_ms, 2**31 - 1))
            conn.execute("select set_config('statement_timeout', %s, false)", [limit])
        cursor = conn.execute(text.encode())
        tags, rows = [], []
        while True:
            tags.append(cursor.statusmessage)
            count = cursor.rowcount
            if cursor.description is not None:
                names = [column.name for column in cursor.description]
                rows = [dict(zip(names, row, strict=False)) for row in cursor.fetchmany(ROWS)]
            if not cursor.nextset():
                break
    return {"statements": tags, "row_count": max(count, 0), "rows": rows}


def main(allowed: Sequence[str]) -> int:
    """The exit code."""
    run = json.load(sys.stdin)
    environ = dict(os.environ)
    dsn = environ.get("DATABASE_URL", "")
    if "sql" in allowed:
        environ.pop("DATABASE_URL", None)
    try:
        node = node_of(run, allowed)
        if node["action"] == "shell":
            result = shell(node, environ)
        else:
            policy = (run.get("policies") or {}).get("retry_policy") or {}
            result = sql(node, dsn, policy.get("timeoutMs"))
    except Unfit as error:
        print(error, file=sys.stderr)
        return CONFIG
    except Exception as error:  # a statement that fails, a shell that is not there: one line
        diag = getattr(error, "diag", None)
        said = [diag.message_primary, diag.message_detail, diag.message_hint] if diag else []
        print("; ".join(filter(None, said)) or error, file=sys.stderr)
        return 1
    print(json.dumps(result, default=str))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
