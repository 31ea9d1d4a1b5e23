-- owner: lf_sql_engine
-- Moves runs whose available_at has come to the queue of those that may start at once (available_at
-- NULL), those first whose time came first; returns how many. A claim takes them without: this is
-- for many at once, of which a claim looks at a thousand. It waits for nobody.
create or replace function lenses.fn_ready_runs(p_now timestamptz, p_limit integer)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_count integer;
begin
  with due as materialized (
    select r.id
    from lenses.workflow_runs as r
    where r.status = 'pending' and r.available_at <= p_now
    order by r.available_at
    limit p_limit
    for no key update skip locked
  )

  update lenses.workflow_runs as r
  set available_at = null
  from due as d
  where r.id = d.id;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
