-- For the owner. NULL clears.
create or replace function public.fn_set_schedule_condition(p_schedule_id uuid, p_condition jsonb)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
  v_row lenses.workflow_schedules;
begin
  update lenses.workflow_schedules as s
  set pre_dispatch_condition = nullif(p_condition, 'null')
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id
  returning s.* into v_row;
  if not found then
    return lenses.fn_require_schedule(p_schedule_id);
  end if;
  return v_row;
end;
$$;

comment on function public.fn_set_schedule_condition(uuid, jsonb) is
  'Sets the filter (see automation.fn_eval_filter) that must be true for a slot of the '
  'caller''s schedule to be dispatched; NULL clears. Returns the row. 22023: not a filter; '
  '42501: not the caller''s; 53400: a quota of the tenant.';
