-- The four policies that hold for a schedule, as lenses.fn_merge_policies has them. A whole row
-- brings its inputs with it: what handles many schedules calls the other.
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
