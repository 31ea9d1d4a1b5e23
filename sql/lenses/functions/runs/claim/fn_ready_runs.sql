-- owner: lf_sql_engine
-- Moves runs whose available_at has come to the queue of those that may start at once (available_at
-- NULL), those first whose time came first; returns how many. Only where there are more than the
-- thousand that a claim looks at: those it takes without. It waits for nobody.
create or replace function lenses.fn_ready_runs(p_now timestamptz, p_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_count integer;
begin
  if not exists (
    select from lenses.workflow_runs as r
    where r.status = 'pending' and r.available_at <= p_now
    offset 1000
  ) then
    return 0;
  end if;
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
end;
$$;
