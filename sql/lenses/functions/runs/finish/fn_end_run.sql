-- owner: lf_sql_engine
-- Ends a run that is in flight, whatever its worker thinks: p_status cancelled or timed_out,
-- p_cause why. False, and nothing changed, where there is none or it is over. A waiting run takes
-- its team run along.
create or replace function lenses.fn_end_run(
  p_run_id uuid,
  p_status text,
  p_cause text,
  p_error text,
  p_now timestamptz
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run constant lenses.workflow_runs := lenses.fn_lock_run(p_run_id);
begin
  update lenses.workflow_runs as r
  set status = p_status, completed_at = p_now,
    metadata = r.metadata
      || jsonb_build_object('result', lenses.fn_run_result(p_status, p_cause, p_error))
  where r.id = v_run.id and r.status in ('pending_approval', 'pending', 'running');
  return found;
end;
$$;
