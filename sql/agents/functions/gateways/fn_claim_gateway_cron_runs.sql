-- owner: lf_sql_engine
-- For a gateway's runtime (service_role): takes pending runs, oldest first, of one gateway or of
-- all. It uses SKIP LOCKED: any number of runtimes may claim at once, and no run goes to two of
-- them. It locks the crons, whose last_status changes too, after the runs and by id, so that claims
-- cannot deadlock.
create or replace function agents.fn_claim_gateway_cron_runs(
  p_worker_id text,
  p_limit int default 1,
  p_lease interval default '5 minutes',
  p_gateway_id uuid default null
)
returns setof agents.gateway_cron_runs
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant int := coalesce(p_limit, 1);
  v_lease constant interval := coalesce(p_lease, interval '5 minutes');
  v_run_ids uuid[];
begin
  perform agents.fn_check_worker(p_worker_id, v_limit, v_lease);
  if not lenses.fn_admit_work() then
    return;
  end if;
  select array_agg(t.id) into v_run_ids
  from (
    select r.id
    from agents.gateway_cron_runs r
    where r.status = 'pending' and (p_gateway_id is null or r.gateway_id = p_gateway_id)
    order by r.created_at, r.id
    limit v_limit
    for no key update skip locked
  ) t;
  perform 1
  from agents.gateway_crons c
  where c.id in (
    select r.gateway_cron_id from agents.gateway_cron_runs r where r.id = any (v_run_ids)
  )
  order by c.id
  for no key update;
  return query
  with claimed as (
    update agents.gateway_cron_runs r
    set status = 'running', worker_id = p_worker_id, started_at = now(),
      lease_expires_at = now() + v_lease
    where r.id = any (v_run_ids)
    returning r.*
  )
  select c.* from claimed c order by c.created_at, c.id;
end;
$$;

comment on function agents.fn_claim_gateway_cron_runs(text, int, interval, uuid) is
  'Claims up to p_limit (1 to 1000) pending gateway cron runs, oldest first, for p_lease (a '
  'day at most), of gateway p_gateway_id or of all (NULL), and returns them as running. '
  'Complete, fail or heartbeat within the lease: after it the run becomes timed_out. 22023: a '
  'bad limit, lease or worker id.';
