"""Approvals: the runs that wait for the tenant, decided one by one or many at once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import names
from lf_sql.console.database import one, rows
from lf_sql.console.form import Form
from lf_sql.console.handlers import reads, writes
from lf_sql.console.render import done, is_partial, page, refused
from lf_sql.db import Connection

PAGE_SIZE = 80
MANY = 1000  # what one call decides

# Those that wait, the oldest first; and, where some are on display already, those, decided or not.
WAITING = names.named("""
select r.id, r.schedule_id, r.scheduled_for, r.created_at, r.approval_expires_at,
  r.context_inputs, r.trigger_mode, r.status, t.approval_status, t.note,
  {run_name} as name
from agents.team_runs as t
join lenses.workflow_runs as r on r.id = t.workflow_run_id
join lenses.workflows as w on w.id = r.workflow_id
left join lenses.workflow_schedules as s on s.id = r.schedule_id
where case when %(keep)s::uuid[] is null then t.approval_status = 'pending'
    else r.id = any(%(keep)s::uuid[]) end
  and (%(schedule)s::uuid is null or r.schedule_id = %(schedule)s::uuid)
order by t.created_at, r.id
limit %(limit)s
""")

COUNT = """
select count(*) as waiting, now() as as_of
from agents.team_runs as t
join lenses.workflow_runs as r on r.id = t.workflow_run_id
where t.approval_status = 'pending' and (%s::uuid is null or r.schedule_id = %s::uuid)
"""

# What came after the page was made has not been seen, and is not decided by it.
ALL = names.named("""
select coalesce(array_agg(x.id), '{}') as ids
from (
  select r.id
  from agents.team_runs as t
  join lenses.workflow_runs as r on r.id = t.workflow_run_id
  where t.approval_status = 'pending' and t.created_at <= %s::timestamptz
    and (%s::uuid is null or r.schedule_id = %s::uuid)
  order by t.created_at, r.id
  limit %s
) as x
""")


def _ids(texts: list[str]) -> list[UUID]:
    found = []
    for text in texts:
        try:
            found.append(UUID(text))
        except ValueError:
            continue
    return found


def listing(request: Request, conn: Connection) -> Response:
    given = request.query_params
    kept = _ids(given.get("keep", "").split(",")[:PAGE_SIZE]) or None
    schedule_id = next(iter(_ids([given.get("schedule", "")])), None)
    counts = one(conn, COUNT, schedule_id, schedule_id) or {}
    found = conn.execute(
        WAITING.encode(), {"keep": kept, "schedule": schedule_id, "limit": PAGE_SIZE}
    ).fetchall()
    is_waiting = sum(run["approval_status"] == "pending" for run in found)
    context: dict[str, Any] = {
        "runs": found,
        "keep": ",".join(str(run["id"]) for run in found),
        "waiting": counts.get("waiting", 0),
        "as_of": counts["as_of"].isoformat() if counts else "",
        "schedule_id": schedule_id,
        "here": f"/approvals?schedule={schedule_id}" if schedule_id else "/approvals",
        "is_moved": counts.get("waiting", 0) > is_waiting and is_waiting < PAGE_SIZE,
        "many": MANY,
    }
    template = "_approvals.html" if is_partial(request) else "approvals.html"
    return page(request, template, active="approvals", **context)


def decide_many(request: Request, conn: Connection, form: Form) -> Response:
    """The picked runs, or all that waited when the page was made."""
    decision, is_all = form.get("decision", ""), form.get("all") == "yes"
    ids = _ids(form.many("run"))
    if is_all:
        schedule_id = next(iter(_ids([form.get("schedule", "")])), None)
        found = one(conn, ALL, form.text("as_of"), schedule_id, schedule_id, MANY)
        ids = found["ids"] if found else []
    if not ids:
        return refused("No run is picked.", "Tick some, or decide about all of them.")
    decided = rows(
        conn,
        "select d.id from public.fn_decide_workflow_runs(%s, %s, %s) as d (id)",
        ids,
        decision,
        form.text("note"),
    )
    word = "Approved" if decision == "approved" else "Rejected"
    left = len(ids) - len(decided)
    more = f"; {left} did not wait any more" if left else ""
    return done(f"{word} {len(decided)} run{'' if len(decided) == 1 else 's'}{more}.")


def decide(request: Request, conn: Connection, form: Form) -> Response:
    run_id, decision = request.path_params["id"], form.get("decision", "")
    one(
        conn,
        "select public.fn_decide_workflow_run(%s, %s, %s)",
        run_id,
        decision,
        form.text("note"),
    )
    word = "Approved" if decision == "approved" else "Rejected"
    return done(f"{word} the run of “{names.of_run(conn, run_id)}”.")


routes = [
    Route("/approvals", reads(listing)),
    Route("/approvals/decide", writes(decide_many), methods=["POST"]),
    Route("/runs/{id:uuid}/decide", writes(decide), methods=["POST"]),
]
