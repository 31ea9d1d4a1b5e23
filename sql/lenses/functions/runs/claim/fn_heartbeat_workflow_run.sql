-- owner: lf_sql_engine
-- For executors (service_role): extends the lease of a running run. An expired lease is lost,
-- reaped or not.
create or replace function lenses.fn_heartbeat_workflow_run(
  p_run_id uuid,
  p_worker_id text,
  p_lease interval,
  p_attempt integer default null
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_claimant(p_worker_id, p_lease);
  update lenses.workflow_runs as r
  set lease_expires_at = now() + coalesce(p_lease, interval '5 minutes')
  where r.id = p_run_id and r.status || '' = 'running' and r.worker_id = p_worker_id
    and r.lease_expires_at > now() and r.attempt = coalesce(p_attempt, r.attempt);
  return found;
end;
$$;

comment on function lenses.fn_heartbeat_workflow_run(uuid, text, interval, integer) is
  'The lease of the run ends p_lease from now (a day at most; NULL: 5 minutes). False, and '
  'nothing changed, where p_worker_id has lost the lease or the run is over: stop working on it. '
  'p_attempt, from the claim, is a fence: where the run is at another attempt the result is '
  'false too; NULL is the one that p_worker_id holds now. 22023: a bad worker id or lease.';
