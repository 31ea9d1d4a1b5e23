-- owner: lf_sql_engine
-- For a gateway's runtime (service_role): extends the lease, counted from now.
create or replace function agents.fn_heartbeat_gateway_cron_run(
  p_run_id uuid,
  p_worker_id text,
  p_lease interval default '5 minutes'
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform agents.fn_check_worker(p_worker_id, null, p_lease);
  update agents.gateway_cron_runs r
  set lease_expires_at = now() + coalesce(p_lease, interval '5 minutes')
  where r.id = p_run_id and r.status || '' = 'running' and r.worker_id = p_worker_id
    and r.lease_expires_at > now();
  return found;
end;
$$;

comment on function agents.fn_heartbeat_gateway_cron_run(uuid, text, interval) is
  'Extends the lease of a running gateway cron run to p_lease (a day at most) from now. False, '
  'and nothing changed, where p_worker_id does not hold the lease any more or the run is over. '
  '22023: a bad worker id or lease.';
