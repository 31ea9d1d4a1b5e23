"""What PostgREST shows of these RPCs: parameters, results, who may call, who only reads."""

from __future__ import annotations

import pytest

from tests.support.database import Database

# arguments, result; those that only read are STABLE
READS = {
    "fn_workflow_get_schedules": (
        "p_workflow_id uuid DEFAULT NULL::uuid",
        "SETOF lenses.workflow_schedules",
    ),
    "fn_get_workflow_schedule": ("p_schedule_id uuid", "jsonb"),
    "fn_get_workflows": ("", "SETOF lenses.workflows"),
    "fn_get_schedule_calendars": ("", "SETOF lenses.schedule_calendars"),
    "fn_get_automation_feed": ("p_limit integer DEFAULT 50", "SETOF agents.automation_feed"),
}
WRITES = {
    "fn_patch_workflow_schedule": (
        "p_schedule_id uuid, p_patch jsonb",
        "lenses.workflow_schedules",
    ),
    "fn_pause_workflow_schedule": (
        "p_schedule_id uuid, p_note text DEFAULT NULL::text, "
        "p_until timestamp with time zone DEFAULT NULL::timestamp with time zone",
        "lenses.workflow_schedules",
    ),
    "fn_resume_workflow_schedule": (
        "p_schedule_id uuid, p_note text DEFAULT NULL::text, p_on_missed text DEFAULT NULL::text",
        "lenses.workflow_schedules",
    ),
    "fn_delete_workflow_schedule": ("p_schedule_id uuid", "void"),
    "fn_recompute_schedule": ("p_schedule_id uuid", "lenses.workflow_schedules"),
    "fn_set_schedule_calendar": (
        "p_schedule_id uuid, p_calendar_id uuid",
        "lenses.workflow_schedules",
    ),
    "fn_set_schedule_condition": (
        "p_schedule_id uuid, p_condition jsonb",
        "lenses.workflow_schedules",
    ),
    "fn_set_schedule_inputs_rotation": (
        "p_schedule_id uuid, p_rotation jsonb",
        "lenses.workflow_schedules",
    ),
    "fn_create_schedule_calendar": (
        "p_name text, p_kind text, p_timezone text, p_dates date[], "
        "p_clone_of uuid DEFAULT NULL::uuid, p_rules jsonb DEFAULT NULL::jsonb",
        "lenses.schedule_calendars",
    ),
    "fn_update_schedule_calendar": (
        "p_calendar_id uuid, p_name text DEFAULT NULL::text, p_kind text DEFAULT NULL::text, "
        "p_timezone text DEFAULT NULL::text, p_dates date[] DEFAULT NULL::date[], "
        "p_rules jsonb DEFAULT NULL::jsonb",
        "lenses.schedule_calendars",
    ),
    "fn_delete_schedule_calendar": ("p_calendar_id uuid", "void"),
    "fn_upsert_workflow": (
        "p_workflow_id uuid DEFAULT NULL::uuid, p_title text DEFAULT NULL::text, "
        "p_definition jsonb DEFAULT NULL::jsonb, p_kind text DEFAULT 'workflow'::text, "
        "p_status text DEFAULT 'active'::text",
        "lenses.workflows",
    ),
    "fn_set_workflow_status": ("p_workflow_id uuid, p_status text", "lenses.workflows"),
}
OPERATORS = {
    "fn_set_dispatch_settings": ("p_patch jsonb", "lenses.dispatch_settings"),
    "fn_freeze_dispatch": ("p_reason text", "lenses.dispatch_settings"),
    "fn_unfreeze_dispatch": ("", "lenses.dispatch_settings"),
}

FACTS = """
select
  pg_catalog.pg_get_function_arguments(p.oid), pg_catalog.pg_get_function_result(p.oid), p.provolatile,
  p.prosecdef, pg_catalog.obj_description(p.oid, 'pg_proc') is not null,
  array(
    select r.rolname::text from pg_catalog.pg_roles as r
    where r.rolname in ('anon', 'authenticated', 'service_role')
      and pg_catalog.has_function_privilege(r.oid, p.oid, 'execute')
  )
from pg_catalog.pg_proc as p
where p.pronamespace = 'public'::pg_catalog.regnamespace and p.proname = %s
"""


@pytest.mark.parametrize("function", [*READS, *WRITES, *OPERATORS])
def test_signature(shared_db: Database, function: str) -> None:
    arguments, result = {**READS, **WRITES, **OPERATORS}[function]
    caller = "service_role" if function in OPERATORS else "authenticated"
    volatility = "s" if function in READS else "v"
    with shared_db.cursor(row_factory=lambda _: tuple) as cursor:
        rows = cursor.execute(FACTS, [function]).fetchall()
    assert rows == [(arguments, result, volatility, True, True, [caller])]


def test_observe(shared_db: Database) -> None:
    with shared_db.cursor(row_factory=lambda _: tuple) as cursor:
        ((arguments, result, *facts),) = cursor.execute(FACTS, ["fn_observe_schedules"]).fetchall()
    assert arguments == ""
    assert result.startswith(
        "TABLE(resource text, resource_type text, resource_id uuid, schedule_id uuid, "
    )
    assert facts == ["s", True, True, ["authenticated"]]
