-- owner: lf_sql_engine
-- No lease is longer than a day: one that is has been written by a clock that was ahead, and ends a
-- day after p_now. One look into the index of leases where there is none; a thousand a call.
create or replace function lenses.fn_cut_leases(p_now timestamptz)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  with longer as materialized (
    select r.id
    from lenses.workflow_runs as r
    where r.status = 'running' and r.lease_expires_at > p_now + interval '1 day 1 minute'
    limit 1000
    for no key update skip locked
  )

  update lenses.workflow_runs as r
  set lease_expires_at = p_now + interval '1 day'
  from longer as l
  where r.id = l.id;
end;
$$;
