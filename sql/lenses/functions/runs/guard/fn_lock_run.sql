-- owner: lf_sql_engine
-- Locks a run, after its schedule's row, and returns it: the tick holds schedules when it cancels
-- runs, so all code that may end a run must lock in the same order. All NULL where there is no such
-- run.
create or replace function lenses.fn_lock_run(p_run_id uuid)
returns lenses.workflow_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_run lenses.workflow_runs;
begin
  perform from lenses.workflow_schedules as s
  where s.id = (select r.schedule_id from lenses.workflow_runs as r where r.id = p_run_id)
  for no key update;
  select r.* into v_run from lenses.workflow_runs as r where r.id = p_run_id for no key update;
  return v_run;
end;
$$;
