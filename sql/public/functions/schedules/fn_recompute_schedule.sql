-- For the owner; safe to repeat.
create or replace function public.fn_recompute_schedule(p_schedule_id uuid)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lensers.fn_hold_lenser();
  perform lenses.fn_require_schedule(p_schedule_id);
  return lenses.fn_recompute_schedule(p_schedule_id);
end;
$$;

comment on function public.fn_recompute_schedule(uuid) is
  'Recomputes the next_run_at of the caller''s schedule: the first slot after now that has no '
  'run and was not used up; never a past slot. Returns the row. 22023: its zone has left the '
  'server; 42501: not the caller''s.';
