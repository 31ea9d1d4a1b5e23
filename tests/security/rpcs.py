"""One good call of every function that a tenant may call, by its owner. The attacks bend these; a function that is missing
here fails test_rpcs.py."""

from __future__ import annotations

import json
from typing import Any

from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import Estate

DEFINITION = '{"nodes":[{"id":"a"},{"id":"b"}],"edges":[{"from":"a","to":"b"}]}'

# A value `:kind` is the id of the caller's row of that kind (Estate), `{:kind}` an array of it.
CALLS: dict[str, dict[str, Any]] = {
    "fn_backfill_schedule": {
        "p_schedule_id": ":schedule",
        "p_since": "yesterday",
        "p_dry_run": True,
        "p_until": "today",
    },
    "fn_cancel_workflow_run": {"p_run_id": ":run"},
    "fn_cancel_workflow_runs": {"p_run_ids": "{:run}"},
    "fn_create_schedule_calendar": {
        "p_name": "more",
        "p_kind": "only_dates",
        "p_timezone": "Europe/Istanbul",
        "p_dates": "{2031-01-01}",
    },
    "fn_cron_build": {"p": '{"frequency":"daily","minute":0,"hour":9}'},
    "fn_cron_describe": {"p_cron_expr": "0 9 * * 1-5"},
    "fn_cron_preview": {"p_cron_expr": "0 9 * * 1-5", "p_timezone": "Europe/Istanbul"},
    "fn_decide_workflow_run": {"p_run_id": ":run", "p_decision": "approved"},
    "fn_decide_workflow_runs": {"p_run_ids": "{:run}", "p_decision": "approved"},
    "fn_delete_gateway": {"p_gateway_id": ":gateway"},
    "fn_delete_schedule_calendar": {"p_calendar_id": ":spare_calendar"},
    "fn_delete_workflow_schedule": {"p_schedule_id": ":schedule"},
    "fn_gateway_cron_add": {
        "p_gateway_id": ":gateway",
        "p_operation": "capability_refresh",
        "p_cron_expr": "5 * * * *",
    },
    "fn_gateway_cron_list": {"p_gateway_id": ":gateway"},
    "fn_gateway_cron_remove": {"p_cron_id": ":gateway_cron"},
    "fn_gateway_cron_run": {"p_cron_id": ":gateway_cron"},
    "fn_gateway_cron_update": {"p_cron_id": ":gateway_cron", "p_cron_expr": "7 * * * *"},
    "fn_get_automation_feed": {},
    "fn_get_calendar_dates": {
        "p_calendar_id": ":calendar",
        "p_from": "2026-01-01",
        "p_until": "2026-12-31",
    },
    "fn_get_gateway_cron_runs": {"p_gateway_id": ":gateway"},
    "fn_get_gateways": {},
    "fn_get_schedule_calendars": {},
    "fn_get_schedule_run_history": {"p_schedule_id": ":schedule"},
    "fn_get_run": {"p_run_id": ":run"},
    "fn_get_runs": {"p_filter": '{"status":["pending","failed"],"since":"2026-01-01"}'},
    "fn_get_workflow_schedule": {"p_schedule_id": ":schedule"},
    "fn_get_workflows": {},
    "fn_observe_schedules": {},
    "fn_patch_workflow_schedule": {"p_schedule_id": ":schedule", "p_patch": '{"description":"x"}'},
    "fn_pause_workflow_schedule": {"p_schedule_id": ":schedule", "p_note": "holidays"},
    "fn_explain_schedule": {"p_schedule_id": ":schedule", "p_at": "2026-12-01T09:00:00Z"},
    "fn_lint_schedule": {"p_schedule_id": ":schedule"},
    "fn_preview_schedule_ticks": {"p_schedule_id": ":schedule"},
    "fn_recompute_schedule": {"p_schedule_id": ":schedule"},
    "fn_retry_workflow_run": {"p_run_id": ":run"},
    "fn_resume_workflow_schedule": {"p_schedule_id": ":schedule"},
    "fn_run_workflow_schedule_now": {"p_schedule_id": ":schedule", "p_inputs": '{"a":1}'},
    "fn_schedule_health": {},
    "fn_schedule_load": {},
    "fn_preview_days": {"p_schedule_id": ":schedule"},
    "fn_get_slots": {
        "p_schedule_ids": "{:schedule}",
        "p_from": "2026-12-01T09:00:00Z",
        "p_until": "2026-12-01T10:00:00Z",
    },
    "fn_schedules_due_between": {
        "p_from": "2026-12-01T09:00:00Z",
        "p_until": "2026-12-01T10:00:00Z",
    },
    "fn_set_project": {"p_project": "shop", "p_schedule_ids": "{:schedule}"},
    "fn_set_schedule_calendar": {"p_schedule_id": ":schedule", "p_calendar_id": ":spare_calendar"},
    "fn_test_schedule_condition": {
        "p_workflow_id": ":workflow",
        "p_condition": '{"/last_24h_stats/failed":{"lt":3}}',
        "p_schedule_id": ":schedule",
    },
    "fn_set_schedule_condition": {
        "p_schedule_id": ":schedule",
        "p_condition": '{"/last_24h_stats/failed":{"lt":3}}',
    },
    "fn_set_schedule_inputs_rotation": {"p_schedule_id": ":schedule", "p_rotation": '[{"a":1}]'},
    "fn_set_workflow_status": {"p_workflow_id": ":workflow", "p_status": "paused"},
    "fn_update_schedule_calendar": {"p_calendar_id": ":calendar", "p_name": "renamed"},
    "fn_upsert_gateway": {"p_gateway_id": ":gateway", "p_name": "renamed"},
    "fn_upsert_workflow": {
        "p_workflow_id": ":workflow",
        "p_title": "renamed",
        "p_definition": DEFINITION,
    },
    "fn_upsert_workflow_schedule": {
        "p_workflow_id": ":workflow",
        "p_schedule_id": ":schedule",
        "p_cron_expr": "*/10 * * * *",
        "p_timezone": "Europe/Istanbul",
        "p_assignee_id": ":agent",
        "p_workflow_assignment_id": ":assignment",
        "p_calendar_id": ":spare_calendar",
    },
    "fn_workflow_get_schedules": {"p_workflow_id": ":workflow"},
}

# What makes the caller's row one that the function takes: only a run that is over starts once more.
FIRST = {"fn_retry_workflow_run": "fn_cancel_workflow_run"}

# Functions that say the same to everyone: no caller is needed.
SAME_FOR_ALL = {"fn_cron_build", "fn_cron_describe", "fn_cron_preview"}

# (function, argument that names a row): each is tried with another tenant's id.
NAMED_ROWS = [
    (name, argument)
    for name, arguments in CALLS.items()
    for argument, value in arguments.items()
    if isinstance(value, str) and value.startswith(":")
]


def arguments(name: str, who: Estate) -> dict[str, Any]:
    def filled(value: Any) -> Any:
        match value:
            case str() if value.startswith(":"):
                return who.ids[value[1:]]
            case str() if value.startswith("{:"):
                return "{" + who.ids[value[2:-1]] + "}"
        return value

    return {argument: filled(value) for argument, value in CALLS[name].items()}


def statement(name: str, arguments: dict[str, Any]) -> str:
    named = ", ".join(f"{argument} => %({argument})s" for argument in arguments)
    return f"select to_jsonb(r) from public.{name}({named}) as r"


def call(conn: Database, name: str, arguments: dict[str, Any]) -> list[Any]:
    """In the transaction and role that are at hand; unknown-typed arguments, as a client sends them."""
    cursor = conn.cursor()
    for argument, value in arguments.items():
        if isinstance(value, bool):
            arguments = {**arguments, argument: str(value).lower()}
    return [row[0] for row in cursor.execute(statement(name, arguments), arguments).fetchall()]


def make_ready(conn: Database, who: Estate, name: str) -> None:
    """What the function wants to find, in the transaction and role that are at hand."""
    if name in FIRST:
        call(conn, FIRST[name], arguments(FIRST[name], who))


def call_as(conn: Database, who: Estate, name: str, **changes: Any) -> list[Any]:
    """As `who`, undone afterwards."""
    with acting(conn, "authenticated", who.claims):
        make_ready(conn, who, name)
        return call(conn, name, {**arguments(name, who), **changes})


def snapshot(conn: Database, who: Estate) -> str:
    """Every row of a tenant's, as text: to see that nothing changed."""
    tables = conn.column(
        "select a.attrelid::regclass::text from pg_attribute as a "
        "join pg_class as c on c.oid = a.attrelid and c.relkind in ('r', 'p') "
        "and not c.relispartition "
        "join pg_namespace as n on n.oid = c.relnamespace "
        "where a.attname = 'lenser_id' and n.nspname in ('lenses', 'agents') order by 1"
    )
    return json.dumps(
        {
            table: conn.column(
                f"select to_jsonb(t)::text from {table} as t where lenser_id = %s order by 1",
                [who.lenser],
            )
            for table in tables
        }
    )
