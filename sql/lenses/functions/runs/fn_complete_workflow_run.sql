-- owner: lf_sql_engine
-- For executors (service_role): the run is done. Locks the schedule before the run, as all who end runs do.
create or replace function lenses.fn_complete_workflow_run(
  p_run_id uuid,
  p_worker_id text,
  p_result jsonb,
  p_spent_credits numeric default 0
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run lenses.workflow_runs;
begin
  perform lenses.fn_check_claimant(p_worker_id, null);
  perform lenses.fn_check_json(p_result, 'p_result', 1048576, 64, 50000);
  if p_spent_credits < 0 or p_spent_credits >= 100000000000000 then
    raise exception 'p_spent_credits must be 0 or more, and finite, not %', p_spent_credits
      using errcode = '22023';
  end if;
  v_run := lenses.fn_lock_run(p_run_id);
  update lenses.workflow_runs as r
  set status = 'completed', completed_at = now(),
    spent_credits = r.spent_credits + coalesce(p_spent_credits, 0),
    metadata = r.metadata || jsonb_build_object('result', p_result)
  where r.id = v_run.id and r.status = 'running' and r.worker_id = p_worker_id
    and r.lease_expires_at > now();
  return found;
end
$$;

comment on function lenses.fn_complete_workflow_run(uuid, text, jsonb, numeric) is 'Completes a run that p_worker_id holds: p_result (at most 1 MB) becomes metadata.result and the schedule''s last_result, p_spent_credits is added to what the run has spent. False, and nothing changed, where the lease is lost or the run is over.';
