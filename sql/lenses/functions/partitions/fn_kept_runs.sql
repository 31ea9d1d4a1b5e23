-- owner: lf_sql_engine
-- The runs, at most p_limit, whose events of a range of time must stay: runs that exist, except
-- those that were over before p_before. It probes the runs one by one, because all of them are many
-- more than those of a day.
create or replace function lenses.fn_kept_runs(
  p_from timestamptz,
  p_until timestamptz,
  p_before timestamptz,
  p_limit integer
)
returns uuid[]
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
select array(
  select d.run_id
  from (
    select distinct e.run_id
    from lenses.workflow_run_events as e
    where e.occurred_at >= p_from and e.occurred_at < p_until
  ) as d
  where exists (
    select from lenses.workflow_runs as r
    where r.id = d.run_id and (
      r.status not in ('completed', 'failed', 'cancelled', 'timed_out')
      or r.completed_at >= p_before)
    offset 0
  )
  limit p_limit
)
$$;
