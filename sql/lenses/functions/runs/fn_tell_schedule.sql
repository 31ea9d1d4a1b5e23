-- owner: lf_sql_engine
-- A run of the schedule is over: its result stands in the schedule, and a slot that waits for that is
-- due now. Moves the due time as the dispatcher does, dispatch_seq first, so that a schedule that
-- could not be saved any more can still be told.
create or replace function lenses.fn_tell_schedule(
  p_schedule_id uuid,
  p_result jsonb,
  p_at timestamptz
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_due boolean;
begin
  update lenses.workflow_schedules as s
  set last_completed_at = p_at, last_result = p_result
  where s.id = p_schedule_id
  returning s.last_dispatch_status = 'deferred' and s.is_active and s.due_at > p_at into v_is_due;
  if v_is_due then
    update lenses.workflow_schedules as s
    set due_at = p_at, dispatch_seq = s.dispatch_seq + 1
    where s.id = p_schedule_id;
    update lenses.schedule_due as d set due_at = p_at where d.schedule_id = p_schedule_id;
  end if;
end
$$;
