-- The four policies that apply to a schedule, as lenses.fn_merge_policies merges them. A whole row
-- carries its inputs along, so code that handles many schedules calls the other function.
create or replace function lenses.fn_effective_policies(p_schedule lenses.workflow_schedules)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select lenses.fn_merge_policies(
    jsonb_build_object(
      'approval_policy', p_schedule.approval_policy, 'retry_policy', p_schedule.retry_policy,
      'failure_policy', p_schedule.failure_policy, 'queue_policy', p_schedule.queue_policy),
    p_schedule.explicit_defaults, p_schedule.workflow_assignment_id)
$$;
