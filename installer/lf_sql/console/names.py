"""What people call a schedule: its name, else its description, else its workflow's title."""

from __future__ import annotations

from uuid import UUID

from lf_sql.console.database import one
from lf_sql.db import Connection

_NAMES = {
    # in a query over lenses.workflow_schedules as s and lenses.workflows as w
    "{schedule_name}": ("s.name", "s.description", "w.title", "'schedule without a name'"),
    # in a query over lenses.workflow_runs as r with left joins of both: runs outlive schedules
    "{run_name}": ("s.name", "s.description", "w.title", "'run without a name'"),
    # in a query over public.fn_observe_schedules() as o
    "{observed_name}": (
        "case when o.resource_type = 'workflow' then o.label end",
        "o.resource",
        "'schedule without a name'",
    ),
    # in a query over public.fn_get_runs(…) as r
    "{listed_name}": ("r.schedule", "r.workflow", "'run without a name'"),
}


def named(query: str) -> str:
    """The query with `{schedule_name}` and its like written out: the first that is not blank."""
    for mark, candidates in _NAMES.items():
        spelt = ", ".join(f"nullif(btrim({each}), '')" for each in candidates)
        query = query.replace(mark, f"coalesce({spelt})")
    return query


def of_schedule(conn: Connection, schedule_id: UUID) -> str:
    """The name of a schedule of the tenant's; "schedule" where there is none."""
    found = one(
        conn,
        named(
            "select {schedule_name} as name from lenses.workflow_schedules as s "
            "join lenses.workflows as w on w.id = s.workflow_id where s.id = %s"
        ),
        schedule_id,
    )
    return str(found["name"]) if found else "schedule"


def of_run(conn: Connection, run_id: UUID) -> str:
    """The name of the schedule that a run belongs to."""
    found = one(
        conn,
        named(
            "select {run_name} as name from lenses.workflow_runs as r "
            "left join lenses.workflow_schedules as s on s.id = r.schedule_id "
            "left join lenses.workflows as w on w.id = r.workflow_id where r.id = %s"
        ),
        run_id,
    )
    return str(found["name"]) if found else "run"
