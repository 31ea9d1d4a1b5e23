-- owner: lf_sql_engine
-- Drops counts that no condition can ask for any more, of workflows that nobody adds to; returns
-- how many; 0: none is left. A hundred times p_limit at most, since it reads the table for them,
-- which no index by time slows each tick for. By the server's clock, as the counts are kept.
create or replace function lenses.fn_purge_run_counts(p_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  if not pg_try_advisory_xact_lock_shared(1818653553, 18) then
    return 0;
  end if;
  with old as (
    select c.workflow_id, c.grain, c.instant, c.id
    from lenses.run_counts as c
    where c.instant < now() - interval '48 hours'
    limit p_limit * 100
    for update skip locked
  )

  delete from lenses.run_counts as c
  using old as o
  where c.workflow_id = o.workflow_id and c.grain = o.grain
    and c.instant = o.instant and c.id = o.id;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
