-- owner: lf_sql_engine
-- Adds changes at many instants to lenses.run_counts: as they are where a workflow has few,
-- otherwise folded.
create or replace function lenses.fn_add_run_counts(p_changes lenses.run_counts[])
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  with changes as materialized (
    select c.*, count(*) over (partition by c.lenser_id, c.workflow_id) >= 64 as is_crowd
    from unnest(p_changes) as c
  )

  insert into lenses.run_counts (
    lenser_id, workflow_id, grain, instant, total, succeeded, failed
  )
  select c.lenser_id, c.workflow_id, 0, c.instant, c.total, c.succeeded, c.failed
  from changes as c
  where not c.is_crowd
  union all
  select
    c.lenser_id, c.workflow_id, k.grain, date_bin(k.span, c.instant, '2000-01-01Z'),
    sum(c.total), sum(c.succeeded), sum(c.failed)
  from changes as c
  cross join lenses.fn_count_grains() as k
  where c.is_crowd
  group by c.lenser_id, c.workflow_id, k.grain, date_bin(k.span, c.instant, '2000-01-01Z');
end;
$$;
