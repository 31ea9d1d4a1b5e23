"""From what a person types to a row: an id, the beginning of one, or a name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from lf_sql.db import Connection
from lf_sql.errors import LfSqlError
from lf_sql.near import nearest
from lf_sql.plain import plain


@dataclass(frozen=True)
class Kind:
    """Where rows of a kind are, and how people call them. All of it is ours, none is typed."""

    word: str
    table: str
    names: tuple[str, ...]  # SQL conditions over t; {is_it} stands for what a name is held against
    label: str  # SQL expression over t: what completion shows beside the id
    name: str | None = None  # SQL expression over t: what a mistyped name is compared with

    def is_named(self, is_it: str) -> str:
        """The SQL condition that a name of the row fits."""
        return " or ".join(name.format(is_it=is_it) for name in self.names) or "false"


# The workflow's title names its only schedule. The workflows are looked for once, not a schedule.
SCHEDULE_TITLE = (
    "(t.workflow_id = any(array(select w.id from lenses.workflows as w where w.title {is_it})) "
    "and 1 = (select count(*) from lenses.workflow_schedules as o "
    "where o.workflow_id = t.workflow_id))"
)
KINDS = {
    kind.word: kind
    for kind in (
        Kind(
            "schedule",
            "lenses.workflow_schedules",
            ("t.name {is_it}", "t.description {is_it}", SCHEDULE_TITLE),
            "(select w.title from lenses.workflows as w where w.id = t.workflow_id)"
            " || ', ' || coalesce(t.name, t.description, t.cron_expr, t.schedule_type)",
            "coalesce(t.name, t.description, "
            "(select w.title from lenses.workflows as w where w.id = t.workflow_id))",
        ),
        Kind("workflow", "lenses.workflows", ("t.title {is_it}",), "t.title", "t.title"),
        Kind("calendar", "lenses.schedule_calendars", ("t.name {is_it}",), "t.name", "t.name"),
        Kind("run", "lenses.workflow_runs", (), "t.status"),
        Kind("agent", "agents.ai_lensers", ("t.name {is_it}",), "t.name", "t.name"),
        Kind("team", "agents.teams", ("t.name {is_it}",), "t.name", "t.name"),
        Kind("gateway", "agents.gateways", ("t.name {is_it}",), "t.name", "t.name"),
        Kind(
            "cron",
            "agents.gateway_crons",
            ("t.operation {is_it}",),
            "(select g.name from agents.gateways as g where g.id = t.gateway_id)"
            " || ', ' || t.operation || ', ' || t.cron_expr",
            "t.operation",
        ),
    )
}


@dataclass(frozen=True)
class Found:
    """A row, and the user who owns it (None: a seed, which is everybody's)."""

    id: UUID
    user_id: UUID | None


def bounds(prefix: str) -> tuple[UUID, UUID] | None:
    """The range of ids that begin so; None where no id does."""
    digits = prefix.strip().lower().replace("-", "")
    if not re.fullmatch(r"[0-9a-f]{1,32}", digits):
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def find(conn: Connection, word: str, text: str, lenser_of: UUID | str | None = None) -> Found:
    """The one row that `text` means; LfSqlError where it is none or several.

    `lenser_of`: only rows of this user, and seeds.
    """
    if not text.strip():  # a description may be empty, and means nothing then
        raise LfSqlError(f"there is no {word} {text!r}", f"lf-sql {_list_of(word)}")
    kind = KINDS[word]
    names = kind.is_named("= %(text)s")
    span = bounds(text)
    rows = conn.execute(
        f"select t.id, p.user_id, t.id = %(low)s::uuid and %(is_whole)s as is_exact, "  # noqa: S608
        f"{names} as is_named, {kind.label} as label "
        f"from {kind.table} as t left join lensers.profiles as p on p.id = t.lenser_id "
        f"where (t.id between %(low)s::uuid and %(high)s::uuid or {names}) "
        "and (%(user)s::uuid is null or p.user_id = %(user)s::uuid or t.lenser_id is null) "
        "order by is_exact desc, t.id limit 12".encode(),
        {
            "text": text,
            "low": span[0] if span else None,
            "high": span[1] if span else None,
            "is_whole": bool(span and span[0] == span[1]),
            "user": lenser_of,
        },
    ).fetchall()
    if rows and rows[0]["is_exact"]:
        rows = rows[:1]
    elif any(row["is_named"] for row in rows):
        rows = [row for row in rows if row["is_named"]]
    if not rows:
        same = _of_title(conn, text, lenser_of) if word == "schedule" else None
        near = None if same else _near(conn, kind, text, lenser_of)
        hint = f"{same}; " if same else f"did you mean {near!r}? " if near else ""
        raise LfSqlError(f"there is no {word} {text!r}", f"{hint}lf-sql {_list_of(word)}")
    if len(rows) > 1:
        which = ", ".join(f"{row['id']} ({row['label']})" for row in rows[:5])
        raise LfSqlError(
            f"{text!r} fits {len(rows)}{' or more' if len(rows) == 12 else ''} {word}s",
            f"give more of the id: {which}",
        )
    return Found(rows[0]["id"], rows[0]["user_id"])


def called(conn: Connection, word: str, text: str, lenser_of: UUID | str | None = None) -> int:
    """How many rows bear this name; of workflows, agents, teams and gateways several may."""
    kind = KINDS[word]
    row = conn.execute(
        f"select count(*) as count from {kind.table} as t "  # noqa: S608
        f"left join lensers.profiles as p on p.id = t.lenser_id "
        f"where ({kind.is_named('= %(text)s')}) "
        "and (%(user)s::uuid is null or p.user_id = %(user)s::uuid)".encode(),
        {"text": text, "user": lenser_of},
    ).fetchone()
    return int(row["count"]) if row else 0


def _near(conn: Connection, kind: Kind, text: str, lenser_of: UUID | str | None) -> str | None:
    """The name nearest to `text`, where one is near."""
    if not kind.name:
        return None
    rows = conn.execute(
        f"select {kind.name} as name from {kind.table} as t "  # noqa: S608
        "left join lensers.profiles as p on p.id = t.lenser_id "
        "where (%(user)s::uuid is null or p.user_id = %(user)s::uuid or t.lenser_id is null) "
        "limit 10000".encode(),
        {"user": lenser_of},
    ).fetchall()
    return nearest(text, [row["name"] for row in rows if row["name"] not in ("", None, text)])


def _of_title(conn: Connection, text: str, lenser_of: UUID | str | None) -> str | None:
    """Which schedules a workflow of this title has: the title of several names none of them."""
    rows = conn.execute(
        b"select t.id, coalesce(t.name, t.description, t.cron_expr, t.schedule_type) as label "
        b"from lenses.workflow_schedules as t "
        b"join lenses.workflows as w on w.id = t.workflow_id "
        b"left join lensers.profiles as p on p.id = t.lenser_id "
        b"where w.title = %(text)s and (%(user)s::uuid is null or p.user_id = %(user)s::uuid) "
        b"order by t.created_at, t.id limit 6",
        {"text": text, "user": lenser_of},
    ).fetchall()
    if not rows:
        return None
    which = ", ".join(f"{str(row['id'])[:8]} ({plain(row['label'])})" for row in rows[:5])
    more = " …" if len(rows) > 5 else ""
    return f"the workflow {text!r} has schedules, say which by its id: {which}{more}"


def _list_of(word: str) -> str:
    return {
        "schedule": "schedule list",
        "workflow": "workflow list",
        "calendar": "schedule calendar list",
        "run": "runs list",
        "gateway": "gateway list",
        "cron": "gateway cron list GATEWAY",
        "agent": "agent list",
        "team": "team list",
    }[word]


# Anything else would have to be quoted, which not every shell does for what it is offered.
_PLAIN = re.compile(r"[\w.:@/+-]+")


def candidates(
    conn: Connection,
    word: str,
    prefix: str,
    user: UUID | str | None = None,
    statuses: tuple[str, ...] = (),
) -> list[tuple[str, str]]:
    """What begins so, newest first: the row's name where it is one row's alone and one word, else
    its id; with what to show beside it. `user`: only this user's, and seeds; `statuses`: of runs.
    """
    kind = KINDS[word]
    span = bounds(prefix) if prefix else (UUID(int=0), UUID(int=2**128 - 1))
    like = re.sub(r"([%_\\])", r"\\\1", prefix) + "%"
    names = kind.is_named("ilike %(like)s")
    in_status = "t.status = any(%(statuses)s)" if statuses else "true"
    rows = conn.execute(
        f"select t.id::text as id, x.name, x.same, {kind.label} as label from ("  # noqa: S608
        f"select t.id, t.created_at, {kind.name or 'null'} as name, "
        f"count(*) over (partition by {kind.name or 't.id'}) as same "
        f"from {kind.table} as t left join lensers.profiles as p on p.id = t.lenser_id "
        f"where (t.id between %(low)s::uuid and %(high)s::uuid or {names}) and {in_status} "
        "and (%(user)s::uuid is null or p.user_id = %(user)s::uuid or t.lenser_id is null) "
        "order by t.created_at desc limit 50"
        f") as x join {kind.table} as t on t.id = x.id order by x.created_at desc".encode(),
        {
            "low": span[0] if span else None,
            "high": span[1] if span else None,
            "like": like,
            "user": user,
            "statuses": list(statuses),
        },
    ).fetchall()
    found = []
    for row in rows:
        name = row["name"] or ""
        is_offered = row["same"] == 1 and _PLAIN.fullmatch(name) and name.startswith(prefix)
        found.append((name if is_offered else row["id"], plain(row["label"] or "")))
    return found
