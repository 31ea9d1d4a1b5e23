-- owner: lf_sql_engine
-- For a gateway's runtime (service_role). A second call, or one after the lease, changes nothing.
create or replace function agents.fn_complete_gateway_cron_run(
  p_run_id uuid,
  p_worker_id text,
  p_result jsonb default null
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform agents.fn_check_worker(p_worker_id, null, null);
  perform lenses.fn_check_json(p_result, 'p_result', 1048576, 64, 100000);
  update agents.gateway_cron_runs r
  set status = 'completed', completed_at = now(), result = p_result
  where r.id = p_run_id and r.status || '' = 'running' and r.worker_id = p_worker_id
    and r.lease_expires_at > now();
  return found;
end;
$$;

comment on function agents.fn_complete_gateway_cron_run(uuid, text, jsonb) is
  'Ends a running gateway cron run as completed with its result (at most 1 MB of JSON). False, '
  'and nothing changed, where p_worker_id does not hold the lease any more or the run is over. '
  '22023: a bad worker id, or a result that is too large.';
