-- For the owner: changes only what is named.
create or replace function public.fn_patch_workflow_schedule(p_schedule_id uuid, p_patch jsonb)
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
  select s.* into v_row
  from lenses.workflow_schedules as s
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id
  for no key update;
  if not found then
    return lenses.fn_require_schedule(p_schedule_id);
  end if;
  return lenses.fn_save_schedule(lenses.fn_patch_schedule_row(v_row, p_patch, 'patch'), false);
end;
$$;

comment on function public.fn_patch_workflow_schedule(uuid, jsonb) is
  'Changes the named columns of the caller''s schedule: {"cron_expr", "timezone", "is_active", '
  '…}, the parameters of fn_upsert_workflow_schedule without p_; null clears, or sets the '
  'default. A cron_expr, interval_ms or run_at alone changes the type too; is_active true ends a '
  'pause. Returns the row. 22023: unknown key (the nearest is named), wrong type, bad value, '
  'cycle_detected; 42501: not the caller''s; 53400: a quota of the tenant.';
