-- owner: lf_sql_engine
-- A run of the schedule is over: its result stands in the schedule, and a slot that waits for that
-- is due.
create or replace function lenses.fn_record_schedule_result(
  p_schedule_id uuid,
  p_result jsonb,
  p_at timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_is_waiting boolean;
begin
  update lenses.workflow_schedules as s
  set last_completed_at = p_at, last_result = p_result
  where s.id = p_schedule_id
  returning s.is_deferred and s.is_active into v_is_waiting;
  if v_is_waiting then
    perform lenses.fn_wake_schedule(p_schedule_id, p_at);
  end if;
end;
$$;
