-- owner: lf_sql_engine
-- Instants of schedules' open runs that a clock ahead of p_now has written: what was counted from
-- there is counted from p_now. What somebody holds is left as it is.
create or replace function lenses.fn_undo_runs(p_schedule_ids uuid[], p_now timestamptz)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  with open as materialized (
    select r.id, greatest(r.created_at, r.started_at) - p_now as ahead
    from lenses.workflow_runs as r
    where r.schedule_id = any (p_schedule_ids)
      and r.status in ('pending_approval', 'pending', 'running')
      and greatest(r.created_at, r.started_at) > p_now + interval '1 minute'
      and greatest(r.available_at, r.lease_expires_at, r.approval_expires_at) > p_now
    for no key update skip locked
  )

  update lenses.workflow_runs as r
  set
    available_at = r.available_at - o.ahead,
    lease_expires_at = r.lease_expires_at - o.ahead,
    approval_expires_at = r.approval_expires_at - o.ahead
  from open as o
  where r.id = o.id;
end;
$$;
