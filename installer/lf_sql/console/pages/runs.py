"""Runs: the list with its filters, and one run with all that happened to it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lf_sql.console import names
from lf_sql.console.database import one, rows
from lf_sql.console.form import Form
from lf_sql.console.handlers import reads, writes
from lf_sql.console.render import done, is_partial, page
from lf_sql.console.zones import viewer_zone
from lf_sql.db import Connection

PAGE_SIZE = 50
CHOICES = 300  # schedules to choose from
FAILING = ("failed", "timed_out")
STATUSES = {
    "failing": FAILING,
    "in flight": ("pending_approval", "pending", "running"),
    **{
        word: (word.replace(" ", "_"),)
        for word in ("pending approval", "pending", "running", "completed", "failed", "timed out")
    },
    "cancelled": ("cancelled",),
}
OVER = ("failed", "timed_out", "cancelled")
IN_FLIGHT = ("pending_approval", "pending", "running")

RUNS = names.named("select r.*, {listed_name} as name from public.fn_get_runs(%s::jsonb, %s) as r")

SCHEDULES = names.named("""
select s.id, {schedule_name} as name
from lenses.workflow_schedules as s
join lenses.workflows as w on w.id = s.workflow_id
order by s.id = %s desc, s.last_run_at desc nulls last, s.id
limit %s
""")

FIRST_YEAR = 1970
INSTANT = (
    "select to_char(nullif(%s, '')::timestamp at time zone %s at time zone 'UTC', "
    '\'YYYY-MM-DD"T"HH24:MI:SS.US"Z"\') as at'
)


def _id(text: str | None) -> str | None:
    try:
        return str(UUID(text or ""))
    except ValueError:
        return None


def _query(request: Request) -> dict[str, str]:
    """What is asked for: our own words, ids, and times as the viewer's clock has them."""
    given = request.query_params
    status = given.get("status", "")
    return {
        "status": status if status in STATUSES else "",
        "schedule": _id(given.get("schedule")) or "",
        "since": given.get("since", "")[:30].replace("\x00", ""),
        "until": given.get("until", "")[:30].replace("\x00", ""),
        "after": _id(given.get("after")) or "",
    }


def _filter(request: Request, conn: Connection, query: dict[str, str]) -> dict[str, Any]:
    """The same for fn_get_runs."""
    asked: dict[str, Any] = {"schedule": query["schedule"] or None}
    if query["status"]:
        asked["status"] = list(STATUSES[query["status"]])
    for key in ("since", "until"):
        found = one(conn, INSTANT, query[key], viewer_zone(request, conn))
        asked[key] = found["at"] if found else None
    return asked


def _found(conn: Connection, asked: dict[str, Any], limit: int) -> list[dict[str, Any]]:
    return rows(conn, RUNS, json.dumps(asked), limit)


def listing(request: Request, conn: Connection) -> Response:
    query = _query(request)
    asked = _filter(request, conn, query)
    # Rows on display stay where they are: what is newer is offered, not pushed in above them.
    top = request.query_params.get("top", "")[:40].replace("\x00", "")
    pinned = {**asked, "until": top} if top else asked
    found = _found(conn, {**pinned, "before_run": query["after"] or None}, PAGE_SIZE + 1)
    if not top and found and not query["after"]:
        newest = found[0]["created_at"]
        # The database is asked for no year before: such a row has nothing newer to offer.
        top = newest.isoformat() if newest.year >= FIRST_YEAR else ""
    newer = _found(conn, {**asked, "since": top}, 2) if top and not query["after"] else []
    shown = found[:PAGE_SIZE]
    parts = {key: value for key, value in query.items() if value and key != "after"}
    here = "/runs" + (f"?{urlencode(parts)}" if parts else "")
    context: dict[str, Any] = {
        "query": query,
        "runs": shown,
        "failing": _failing(conn, query) if not query["after"] else [],
        "here": here,
        "live": f"/runs?{urlencode({**parts, 'after': query['after'], 'top': top})}",
        "older": f"/runs?{urlencode({**parts, 'after': shown[-1]['id']})}"
        if len(found) > PAGE_SIZE
        else None,
        "has_newer": bool(newer) and (not shown or newer[0]["id"] != shown[0]["id"]),
        "is_filtered": bool(parts),
        "over": OVER,
    }
    if is_partial(request):
        response = page(request, "_runs.html", **context)
        if request.headers.get("hx-source", "").endswith("#filter"):
            response.headers["HX-Replace-Url"] = here
        return response
    schedules = sorted(
        rows(conn, SCHEDULES, query["schedule"] or None, CHOICES),
        key=lambda row: str(row["name"]).lower(),
    )
    return page(
        request,
        "runs.html",
        active="runs",
        statuses=tuple(STATUSES),
        schedules=schedules,
        **context,
    )


def _failing(conn: Connection, query: dict[str, str]) -> list[dict[str, Any]]:
    """The newest that failed in the last day, unless the list is of a status already."""
    if query["status"] or query["since"] or query["until"]:
        return []
    day = one(conn, "select now() - interval '1 day' as since")
    asked = {
        "status": FAILING,
        "schedule": query["schedule"] or None,
        "since": day["since"].isoformat() if day else None,
    }
    return _found(conn, asked, 5)


def show(request: Request, conn: Connection) -> Response:
    run_id = request.path_params["id"]
    found = one(conn, "select public.fn_get_run(%s::uuid) as run", run_id)
    run = found["run"] if found else {}
    waits = run["status"] == "pending_approval"
    context = {
        "run": run,
        "name": names.of_run(conn, run_id),
        "waits": waits,
        "can_cancel": run["status"] in IN_FLIGHT,
        "can_retry": run["status"] in OVER,
        "retries": (run["policies"] or {}).get("retry_policy", {}).get("maxRetries", 1),
    }
    if is_partial(request):
        return page(request, "_run.html", **context)
    return page(request, "run.html", active="runs", **context)


def retry(request: Request, conn: Connection, form: Form) -> Response:
    run_id = request.path_params["id"]
    one(conn, "select public.fn_retry_workflow_run(%s::uuid)", run_id)
    return done(f"The run of “{names.of_run(conn, run_id)}” starts once more.")


def cancel(request: Request, conn: Connection, form: Form) -> Response:
    run_id = request.path_params["id"]
    found = one(conn, "select public.fn_cancel_workflow_run(%s::uuid) as is_done", run_id)
    name = names.of_run(conn, run_id)
    if found and found["is_done"]:
        return done(f"Cancelled the run of “{name}”.")
    return done(f"The run of “{name}” was over already.")


routes = [
    Route("/runs", reads(listing)),
    Route("/runs/{id:uuid}", reads(show)),
    Route("/runs/{id:uuid}/retry", writes(retry), methods=["POST"]),
    Route("/runs/{id:uuid}/cancel", writes(cancel), methods=["POST"]),
]
