-- owner: lf_sql_engine
-- How many runs of a lenser wait (pending_approval, pending), counted no further than p_limit.
create or replace function lenses.fn_waiting_runs(p_lenser_id uuid, p_limit integer)
returns bigint
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select count(*)
    from (
      select from lenses.workflow_runs as r
      where r.lenser_id = p_lenser_id and r.status in ('pending_approval', 'pending')
      limit p_limit
    ) as w);
end;
$$;
