-- For the owner. NULL and an empty array clear it; a new array starts at its first entry.
create or replace function public.fn_set_schedule_inputs_rotation(
  p_schedule_id uuid,
  p_rotation jsonb
)
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
  set inputs_rotation = nullif(nullif(p_rotation, 'null'), '[]')
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id
  returning s.* into v_row;
  if not found then
    return lenses.fn_require_schedule(p_schedule_id);
  end if;
  return v_row;
end;
$$;

comment on function public.fn_set_schedule_inputs_rotation(uuid, jsonb) is
  'Sets the array whose entries the dispatches of the caller''s schedule take in turn as '
  'inputs; NULL or [] clears, a different array starts at 0. Returns the row. 22023: not an '
  'array, or too large; 42501: not the caller''s; 53400: a quota of the tenant.';
