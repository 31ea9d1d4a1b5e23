-- owner: lf_sql_engine
-- For the trigger of workflow_schedules: a save that repairs the cause of the newest slot's error
-- clears the error and the status. Any edit except a pause or a change of name or description
-- counts as repairing a failed dispatch; a change of the condition repairs a condition that raised.
-- lenses.fn_error_stands decides about all other errors. An error that the save itself writes
-- stays.
create or replace function lenses.fn_clear_mended(
  p_new lenses.workflow_schedules,
  p_old lenses.workflow_schedules
)
returns lenses.workflow_schedules
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  c_no_edit constant text[] := array[
    'name', 'description', 'is_active', 'paused_at', 'paused_until', 'pause_note', 'next_run_at',
    'due_at', 'updated_at', 'missed_override', 'missed_before', 'missed', 'dropped', 'seen_until',
    'spread_next_at', 'spread_step'
  ];
  v_is_mended boolean;
begin
  if p_old.last_dispatch_status is null
    or p_old.last_dispatch_status
      not in ('validation_failed', 'condition_failed', 'dispatch_failed', 'budget_exceeded')
    or (p_new.last_dispatch_status, p_new.last_error_at, p_new.last_error_message)
      is distinct from (p_old.last_dispatch_status, p_old.last_error_at, p_old.last_error_message)
  then
    return p_new;
  end if;
  v_is_mended := case p_old.last_dispatch_status
    when 'dispatch_failed' then to_jsonb(p_new) - c_no_edit <> to_jsonb(p_old) - c_no_edit
    when 'condition_failed' then
      p_new.pre_dispatch_condition is distinct from p_old.pre_dispatch_condition
    else not lenses.fn_error_stands(p_new)
  end;
  if v_is_mended then
    p_new.last_dispatch_status := null;
    p_new.last_error_at := null;
    p_new.last_error_message := null;
  end if;
  return p_new;
end;
$$;

comment on function lenses.fn_clear_mended(lenses.workflow_schedules, lenses.workflow_schedules) is
  'The row without an error that this save has mended.';
