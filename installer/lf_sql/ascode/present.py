"""What a tenant has, as far as the files mention it: a few queries, however many rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from lf_sql.ascode import calendars, keys
from lf_sql.ascode.calendars import Row
from lf_sql.ascode.exact import read_exactly
from lf_sql.ascode.model import Entry, Wanted
from lf_sql.ascode.source import Value
from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.policies import DEFAULTS, own

SCHEDULE_COLUMNS = (
    *("id", "workflow_id", "workflow_version", "name", "description", "schedule_type"),
    *("cron_expr", "interval_ms", "run_at", "on_holiday", "timezone", "start_at", "end_at"),
    *("jitter_ms", "is_active", "assignee_type", "assignee_id", "workflow_assignment_id"),
    *("approval_policy", "retry_policy", "failure_policy", "queue_policy", "inputs_template"),
    *("inputs_rotation", "calendar_id", "pre_dispatch_condition", "global_model_id"),
)
SCHEDULES = (
    f"select {', '.join(f's.{column}' for column in SCHEDULE_COLUMNS)}, "  # noqa: S608
    "s.explicit_defaults, s.paused_at, s.project "
    "from lenses.workflow_schedules as s where s.trigger_id is null"
)
WORKFLOWS = """
select
  w.id, w.title, w.kind, w.status, w.project,
  case when %(all)s or w.title = any(%(titles)s) or w.id = any(%(ids)s)
    then w.definition end as definition
from lenses.workflows as w
where w.status <> 'deleted'
order by w.created_at, w.id
"""
CALENDARS = """
select c.id, c.name, c.kind, c.timezone, c.dates, c.rules, c.is_seed, c.project
from lenses.schedule_calendars as c
order by c.is_seed desc, c.name
"""
PEOPLE = """
select a.id, a.name, 'agent' as kind from agents.ai_lensers as a
where %(all)s or a.id = any(%(ids)s) or a.name = any(%(names)s)
union all
select t.id, t.name, 'team' from agents.teams as t
where %(all)s or t.id = any(%(ids)s) or t.name = any(%(names)s)
"""


@dataclass
class Present:
    """The rows, and who is called what."""

    calendars: list[Row]
    workflows: list[Row]
    schedules: list[Row]
    people: list[Row]

    def calendar_names(self) -> dict[str, UUID]:
        """By name; the tenant's own hide a seed of the same name."""
        return {row["name"]: row["id"] for row in self.calendars}

    def person(self, kind: str, name: str, at: Value) -> UUID:
        """The agent or team of that name or id."""
        found = [
            row["id"]
            for row in self.people
            if row["kind"] == kind and (row["name"] == name or row["id"] == keys.as_id(name))
        ]
        if len(found) != 1:
            many = f"{len(found)} {kind}s" if found else f"no {kind}"
            raise at.wrong(f'there is {many} called "{name}"', "write the id instead")
        return found[0]


def user_of(conn: Connection, tenant: Value | None, asked: str | None) -> UUID:
    """Whose file it is: what the file says, else --as, else the only tenant that there is."""
    if tenant is None and asked is None:
        rows = conn.execute("select user_id from lensers.profiles limit 2").fetchall()
        if len(rows) != 1:
            raise LfSqlError(
                "there are several tenants" if rows else "there is no tenant yet",
                "say whose it is: tenant: HANDLE in the file, or --as USER_UUID",
            )
        return rows[0]["user_id"]
    word = keys.text(tenant) if tenant is not None else str(asked)
    rows = conn.execute(
        "select user_id from lensers.profiles where handle = %s or user_id::text = lower(%s)",
        [word if tenant is not None else None, word],
    ).fetchall()
    if len(rows) != 1:
        many = f"{len(rows)} tenants" if rows else "no tenant"
        message = f'there is {many} called "{word}"'
        hint = "write the user id, the sub of its JWT"
        raise tenant.wrong(message, hint) if tenant is not None else LfSqlError(message, hint)
    if tenant is not None and asked is not None and str(rows[0]["user_id"]) != asked.lower():
        raise tenant.wrong(f"the file is {word}'s, and --as says {asked}", "leave --as away")
    return rows[0]["user_id"]


def read(conn: Connection, wanted: Wanted) -> Present:
    """As the tenant, under row security."""
    read_exactly(conn)
    names, ids = _called([*wanted.schedules.values()])
    titles, workflow_ids = _called([*wanted.workflows.values()])
    people = [entry.assignee[1] for entry in wanted.schedules.values() if entry.assignee]
    schedules = _as_said(
        conn.execute(
            f"{SCHEDULES} and (s.name = any(%s) or s.id = any(%s) or s.project = %s)".encode(),
            [names, ids, wanted.project],
        ).fetchall()
    )
    whose = [row["assignee_id"] for row in schedules if row["assignee_id"]]
    return Present(
        _calendars(conn),
        conn.execute(
            WORKFLOWS.encode(), {"all": False, "titles": titles, "ids": workflow_ids}
        ).fetchall(),
        schedules,
        conn.execute(
            PEOPLE.encode(),
            {
                "all": False,
                "ids": whose + [id for id in map(keys.as_id, people) if id],
                "names": people,
            },
        ).fetchall()
        if whose or people
        else [],
    )


def read_all(conn: Connection) -> Present:
    """Everything that the tenant has, for a complete file."""
    read_exactly(conn)
    return Present(
        _calendars(conn),
        conn.execute(WORKFLOWS.encode(), {"all": True, "titles": [], "ids": []}).fetchall(),
        _as_said(
            conn.execute(f"{SCHEDULES} order by s.created_at, s.name, s.id".encode()).fetchall()
        ),
        conn.execute(PEOPLE.encode(), {"all": True, "ids": [], "names": []}).fetchall(),
    )


def _calendars(conn: Connection) -> list[Row]:
    """With ids in their rules as the database writes ids, whoever wrote the rules."""
    return [
        row | {"rules": calendars.resolved(row["rules"], {})}
        for row in conn.execute(CALENDARS.encode()).fetchall()
    ]


def _as_said(schedules: list[Row]) -> list[Row]:
    """A policy that was left out is None."""
    return [row | {name: own(row, name) for name in DEFAULTS} for row in schedules]


def _called(entries: list[Any]) -> tuple[list[str], list[UUID]]:
    named: list[Entry] = [entry for entry in entries if entry.id is None]
    names = [entry.name for entry in named] + [entry.was for entry in entries if entry.was]
    return names, [entry.id for entry in entries if entry.id is not None]
