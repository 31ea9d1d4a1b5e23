-- For the owner. NULL detaches.
create or replace function public.fn_set_schedule_calendar(p_schedule_id uuid, p_calendar_id uuid)
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
  set calendar_id = p_calendar_id
  where s.id = p_schedule_id and s.lenser_id = v_lenser_id
  returning s.* into v_row;
  if not found then
    return lenses.fn_require_schedule(p_schedule_id);
  end if;
  return v_row;
end;
$$;

comment on function public.fn_set_schedule_calendar(uuid, uuid) is
  'Attaches one of the caller''s calendars, or a seed, to the caller''s schedule; NULL detaches. '
  'Returns the row. 22023: no such calendar; 42501: the schedule is not the caller''s.';
