"""The chains of pg_timetable, from its tables."""

from __future__ import annotations

import shlex
from typing import Any

from lf_sql.db import Connection
from lf_sql.durations import spelt
from lf_sql.errors import LfSqlError
from lf_sql.imports import cron, owned, zones
from lf_sql.imports.found import Job, Left, Refused

CHAINS = """
select
  c.chain_id, c.chain_name, c.run_at::text as run_at, c.max_instances, c.timeout, c.live,
  c.self_destruct, c.exclusive_execution, c.client_name,
  case
    when c.run_at::text like '@every %' or c.run_at::text like '@after %'
    then extract(epoch from pg_catalog.substr(c.run_at::text, 7)::interval)::bigint
  end as seconds,
  (
    select pg_catalog.jsonb_agg(
      pg_catalog.jsonb_build_object(
        'name', t.task_name, 'kind', t.kind::text, 'command', t.command,
        'ignore_error', t.ignore_error, 'autonomous', t.autonomous,
        'elsewhere', t.database_connection is not null,
        'parameters', (
          select pg_catalog.jsonb_agg(p.value order by p.order_id)
          from timetable.parameter as p where p.task_id = t.task_id)
      ) order by t.task_order)
    from timetable.task as t
    where t.chain_id = c.chain_id
  ) as tasks
from timetable.chain as c
order by c.chain_id
"""


def read(conn: Connection) -> list[Job | Left]:
    """Every chain, oldest first; its clock is the server's zone."""
    missing = LfSqlError(
        "there is no pg_timetable in this database", "give the right one with --dsn"
    )
    owned.require(conn, "timetable", "chain", missing)
    row = conn.execute(
        "select pg_catalog.current_database() as database, "
        "(select s.reset_val from pg_catalog.pg_settings as s where s.name = 'TimeZone') as zone"
    ).fetchone()
    assert row is not None  # one row by construction
    found: list[Job | Left] = []
    for chain in conn.execute(CHAINS.encode()).fetchall():
        try:
            found.append(_job(chain, row["zone"], row["database"]))
        except Refused as refused:
            where = f"chain {chain['chain_id']} ({chain['chain_name']}): {chain['run_at']}"
            found.append(Left(where, str(refused)))
    return found


def _job(chain: dict[str, Any], zone: str, database: str) -> Job:
    schedule, notes = _when(chain, zone)
    if chain["self_destruct"]:
        raise Refused("it deletes itself after its first run; write at: with the instant instead")
    most = chain["max_instances"]
    if most is not None:
        schedule["queue"] = (
            {"mode": "serial"} if most == 1 else {"mode": "parallel", "maxConcurrency": most}
        )
    if chain["exclusive_execution"]:
        notes.append("it ran while no other chain did, which nothing here does")
    if not chain["live"]:
        schedule["enabled"] = False
    if chain["timeout"]:
        schedule["retry"] = {"maxRetries": 0, "timeoutMs": chain["timeout"]}
    return Job(str(chain["chain_name"]), schedule, _node(chain["tasks"] or [], database), notes)


def _when(chain: dict[str, Any], zone: str) -> tuple[dict[str, Any], list[str]]:
    text = (chain["run_at"] or "* * * * *").strip()
    seconds = chain["seconds"]
    if text == "@reboot":
        raise Refused(cron.REBOOT)
    if seconds is not None:
        every = spelt(seconds * 1000)
        is_short = seconds < 300
        near = 'cron: "* * * * *"' if is_short else f"every: {every}"
        if text.startswith("@after"):
            raise Refused(
                f"it starts {every} after its last run has ended, and slots here know their time "
                f"beforehand; near it is {near} with queue: {{mode: serial}}"
            )
        if is_short:
            raise Refused(f"an interval has five minutes at least; near it is {near}")
        return {"every": every}, []
    expression, notes = cron.translated(text.split(), cron.PG_TIMETABLE)
    return {"cron": expression, "timezone": zones.require(zone, "the server's TimeZone")}, notes


def _node(tasks: list[dict[str, Any]], database: str) -> dict[str, Any]:
    if not tasks:
        raise Refused("it has no task")
    kinds = {task["kind"] for task in tasks}
    if "BUILTIN" in kinds:
        name = next(task["command"] for task in tasks if task["kind"] == "BUILTIN")
        raise Refused(f"{name} is built into pg_timetable; write a command that does the same")
    if any(task["elsewhere"] for task in tasks):
        raise Refused("a task runs in another database; apply it there")
    if kinds == {"SQL"}:
        if any(task["parameters"] for task in tasks):
            raise Refused("its SQL has parameters; write them into the statement")
        if len(tasks) > 1 and any(t["autonomous"] or t["ignore_error"] for t in tasks):
            raise Refused("its tasks are not one transaction; write a procedure that runs them")
        statements = [task["command"].strip().rstrip(";") for task in tasks]
        return {"action": "sql", "sql": ";\n".join(statements), "database": database}
    if len(tasks) > 1:
        raise Refused(
            f"it has {len(tasks)} tasks, and one program can be imported; write a script that "
            "runs them"
        )
    words = [tasks[0]["command"]]
    sets = tasks[0]["parameters"] or []
    if len(sets) > 1:
        raise Refused("its program runs once for each of several parameters; write a script")
    words += [str(word) for word in (sets[0] if sets else [])]
    return {"action": "shell", "command": shlex.join(words)}
