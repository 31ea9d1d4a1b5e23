-- The one place where RPCs write a schedule: the columns that a user sets, NULL standing for a
-- column's default; explicit_defaults names the policies that may be spelled out as their default
-- is. The table's trigger judges them and works out the rest. An INSERT that finds the id taken
-- gives NULL, so that of two at once the second can go on to change the row of the first.
create or replace function lenses.fn_save_schedule(
  p_row lenses.workflow_schedules,
  p_is_new boolean
)
returns lenses.workflow_schedules
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row lenses.workflow_schedules;
begin
  p_row.timezone := coalesce(p_row.timezone, 'UTC');
  p_row.jitter_ms := coalesce(
    p_row.jitter_ms, (select d.default_jitter_ms from lenses.dispatch_settings as d)
  );
  p_row.is_active := coalesce(p_row.is_active, true);
  p_row.on_holiday := coalesce(p_row.on_holiday, 'skip');
  p_row.assignee_type := coalesce(p_row.assignee_type, 'agent');
  p_row.approval_policy := nullif(p_row.approval_policy, 'null');
  p_row.retry_policy := nullif(p_row.retry_policy, 'null');
  p_row.failure_policy := nullif(p_row.failure_policy, 'null');
  p_row.queue_policy := nullif(p_row.queue_policy, 'null');
  p_row.inputs_template := coalesce(nullif(p_row.inputs_template, 'null'), '{}');
  p_row.inputs_rotation := nullif(nullif(p_row.inputs_rotation, 'null'), '[]');
  p_row.pre_dispatch_condition := nullif(p_row.pre_dispatch_condition, 'null');

  if not p_is_new then
    update lenses.workflow_schedules as s
    set workflow_id = p_row.workflow_id,
      workflow_version = p_row.workflow_version,
      name = p_row.name,
      description = p_row.description,
      schedule_type = p_row.schedule_type,
      cron_expr = p_row.cron_expr,
      interval_ms = p_row.interval_ms,
      run_at = p_row.run_at,
      on_holiday = p_row.on_holiday,
      timezone = p_row.timezone,
      start_at = p_row.start_at,
      end_at = p_row.end_at,
      jitter_ms = p_row.jitter_ms,
      is_active = p_row.is_active,
      assignee_type = p_row.assignee_type,
      assignee_id = p_row.assignee_id,
      workflow_assignment_id = p_row.workflow_assignment_id,
      approval_policy = p_row.approval_policy,
      retry_policy = p_row.retry_policy,
      failure_policy = p_row.failure_policy,
      queue_policy = p_row.queue_policy,
      explicit_defaults = p_row.explicit_defaults,
      inputs_template = p_row.inputs_template,
      inputs_rotation = p_row.inputs_rotation,
      calendar_id = p_row.calendar_id,
      pre_dispatch_condition = p_row.pre_dispatch_condition,
      global_model_id = p_row.global_model_id,
      trigger_id = p_row.trigger_id
    where s.id = p_row.id and s.lenser_id = p_row.lenser_id
    returning s.* into v_row;
    return v_row;
  end if;

  insert into lenses.workflow_schedules as s (
    id, lenser_id, workflow_id, workflow_version, description, schedule_type, cron_expr,
    interval_ms, timezone, start_at, end_at, jitter_ms, is_active, assignee_type, assignee_id,
    workflow_assignment_id, approval_policy, retry_policy, failure_policy, queue_policy,
    inputs_template, inputs_rotation, calendar_id, pre_dispatch_condition, global_model_id,
    trigger_id, name, run_at, on_holiday, explicit_defaults
  )
  values (
    coalesce(p_row.id, gen_random_uuid()), p_row.lenser_id, p_row.workflow_id,
    p_row.workflow_version, p_row.description, p_row.schedule_type, p_row.cron_expr,
    p_row.interval_ms, p_row.timezone, p_row.start_at, p_row.end_at, p_row.jitter_ms,
    p_row.is_active, p_row.assignee_type, p_row.assignee_id, p_row.workflow_assignment_id,
    p_row.approval_policy, p_row.retry_policy, p_row.failure_policy, p_row.queue_policy,
    p_row.inputs_template, p_row.inputs_rotation, p_row.calendar_id, p_row.pre_dispatch_condition,
    p_row.global_model_id, p_row.trigger_id, p_row.name, p_row.run_at, p_row.on_holiday,
    p_row.explicit_defaults
  )
  on conflict (id) do nothing
  returning s.* into v_row;
  return v_row;
end;
$$;

comment on function lenses.fn_save_schedule(lenses.workflow_schedules, boolean) is
  'Inserts (p_is_new) or updates a schedule''s user columns; NULL means a column''s default. '
  'Returns the row, NULL where an INSERT found its id taken. 22023 for bad input, 53400 at a '
  'quota of the tenant.';
