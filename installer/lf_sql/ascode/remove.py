"""Workflows and calendars that the files no longer have, taken away unless others use them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lf_sql.ascode.calendars import Row
from lf_sql.ascode.plan import Plan
from lf_sql.db import Connection

# What has them: schedules, and calendars, whose id is `by`. Schedules of a definition's triggers
# are a part of their workflow, and go with it.
USED = {
    "workflow": """
select
  s.workflow_id as id, null::uuid as by,
  coalesce(s.name, s.description, w.title, s.id::text) as name
from lenses.workflow_schedules as s
left join lenses.workflows as w on w.id = s.workflow_id
where s.workflow_id = any(%(ids)s) and s.trigger_id is null
order by 3
""",
    "calendar": """
select
  s.calendar_id as id, null::uuid as by,
  coalesce(s.name, s.description, w.title, s.id::text) as name
from lenses.workflow_schedules as s
left join lenses.workflows as w on w.id = s.workflow_id
where s.calendar_id = any(%(ids)s)
union all
select distinct u.id, c.id, c.name
from lenses.schedule_calendars as c
cross join lateral pg_catalog.jsonb_path_query(c.rules, 'lax $.**{1 to last}.calendar') as r
join pg_catalog.unnest(%(ids)s) as u (id) on u.id::text = pg_catalog.lower(r #>> '{}')
order by 3
""",
}


def unused(conn: Connection, plan: Plan, kind: str) -> None:
    """Remove the workflows or calendars that the plan removes, but none that what stays has.

    Those leave the plan's changes, and the plan says who keeps them. The plan has calendars after
    those whose rules name them.
    """
    removed = plan.of(kind, "remove")
    if not removed:
        return
    ids = [(change.row or {})["id"] for change in removed]
    used: dict[UUID, list[Row]] = {}
    for row in conn.execute(USED[kind].encode(), {"ids": ids}).fetchall():
        used.setdefault(row["id"], []).append(row)
    gone: set[UUID] = set()
    for change, own_id in zip(removed, ids, strict=True):
        users = [row for row in used.get(own_id, ()) if row["by"] not in gone]
        if users:
            plan.changes.remove(change)
            plan.kept.append(f"{kind} {change.name} stays: {_who(users)}")
        elif kind == "workflow":
            conn.execute("select public.fn_set_workflow_status(%s, 'deleted')", [own_id])
        else:
            conn.execute("select public.fn_delete_schedule_calendar(%s::uuid)", [own_id])
        if not users:
            gone.add(own_id)


def _who(users: Sequence[Row]) -> str:
    """What has it: schedules, else calendars; the first few by name."""
    schedules = [row["name"] for row in users if row["by"] is None]
    names = ", ".join((schedules or [row["name"] for row in users])[:3])
    if schedules:
        return f"schedules that the project did not make have it ({names})"
    return f"calendars that stay refer to it ({names})"
