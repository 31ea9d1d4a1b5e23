-- owner: lf_sql_engine
-- For executors (service_role): extends many leases at once. Runs are locked in the order in which
-- fn_complete_workflow_runs takes them, so that no two callers wait for each other.
create or replace function lenses.fn_heartbeat_workflow_runs(
  p_worker_id text,
  p_run_ids uuid[],
  p_lease interval
)
returns setof uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_claimant(p_worker_id, p_lease);
  if cardinality(p_run_ids) > 1000 then
    raise exception using
      errcode = '22023',
      column = 'run_ids',
      message = format('p_run_ids has %s runs, more than 1000', cardinality(p_run_ids)),
      hint = 'Call it for a part of them at a time.';
  end if;
  return query
  with held as materialized (
    select r.id
    from lenses.workflow_runs as r
    where r.id = any (p_run_ids) and r.status || '' = 'running' and r.worker_id = p_worker_id
      and r.lease_expires_at > now()
    order by r.schedule_id, r.id
    for no key update
  )

  update lenses.workflow_runs as r
  set lease_expires_at = now() + coalesce(p_lease, interval '5 minutes')
  where r.id in (select h.id from held as h)
  returning r.id;
end;
$$;

comment on function lenses.fn_heartbeat_workflow_runs(text, uuid[], interval) is
  'As lenses.fn_heartbeat_workflow_run, for at most 1,000 runs; returns the ids that '
  'p_worker_id still holds. Stop working on the others. 22023: also more than 1,000 ids.';
