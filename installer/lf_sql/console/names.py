"""What people call a schedule: its name, else its description, else its workflow's title."""

from __future__ import annotations

from uuid import UUID

from lf_sql.console.database import one
from lf_sql.db import Connection

# In a query over lenses.workflow_schedules as s and lenses.workflows as w.
SCHEDULE = (
    "coalesce(nullif(btrim(s.name), ''), nullif(btrim(s.description), ''), "
    "nullif(btrim(w.title), ''), 'schedule without a name')"
)
# In a query over lenses.workflow_runs as r, with a left join of both: runs outlive their schedules.
RUN = SCHEDULE.replace("schedule without", "run without")
# In a query over public.fn_get_runs(…) as r.
LISTED = (
    "coalesce(nullif(btrim(r.schedule), ''), nullif(btrim(r.workflow), ''), 'run without a name')"
)
# In a query over public.fn_observe_schedules() as o.
OBSERVED = (
    "coalesce(case when o.resource_type = 'workflow' then nullif(btrim(o.label), '') end, "
    "nullif(btrim(o.resource), ''), 'schedule without a name')"
)


def of_schedule(conn: Connection, schedule_id: UUID) -> str:
    """The name of a schedule of the tenant's; "schedule" where there is none."""
    found = one(
        conn,
        f"select {SCHEDULE} as name from lenses.workflow_schedules as s "
        "join lenses.workflows as w on w.id = s.workflow_id where s.id = %s",
        schedule_id,
    )
    return str(found["name"]) if found else "schedule"


def of_run(conn: Connection, run_id: UUID) -> str:
    """The name of the schedule that a run belongs to."""
    found = one(
        conn,
        f"select {RUN} as name from lenses.workflow_runs as r "
        "left join lenses.workflow_schedules as s on s.id = r.schedule_id "
        "left join lenses.workflows as w on w.id = r.workflow_id where r.id = %s",
        run_id,
    )
    return str(found["name"]) if found else "run"
