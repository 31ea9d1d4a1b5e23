-- owner: lf_sql_engine
-- For run-now and backfill: the locks of a tick on one schedule, its row and, where battles are
-- counted, the limits that count them.
create or replace function lenses.fn_lock_for_dispatch(p_schedule_id uuid)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from lenses.workflow_schedules as s where s.id = p_schedule_id for no key update;
  perform lenses.fn_lock_battle_quota(array[p_schedule_id], true);
end;
$$;
