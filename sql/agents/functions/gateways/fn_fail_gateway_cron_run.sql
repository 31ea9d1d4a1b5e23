-- owner: lf_sql_engine
-- For a gateway's runtime (service_role). There is no retry: the cron's next slot is the next try.
create or replace function agents.fn_fail_gateway_cron_run(
  p_run_id uuid,
  p_worker_id text,
  p_error text
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform agents.fn_check_worker(p_worker_id, null, null);
  update agents.gateway_cron_runs r
  set status = 'failed', completed_at = now(),
    error = left(coalesce(p_error, 'no reason given'), 10000)
  where r.id = p_run_id and r.status || '' = 'running' and r.worker_id = p_worker_id
    and r.lease_expires_at > now();
  return found;
end;
$$;

comment on function agents.fn_fail_gateway_cron_run(uuid, text, text) is
  'Ends a running gateway cron run as failed with its error (10,000 characters are kept). False, '
  'and nothing changed, where p_worker_id does not hold the lease any more or the run is over.';
