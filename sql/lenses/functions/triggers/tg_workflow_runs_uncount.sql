-- owner: lf_sql_engine
-- Runs that go, by whatever door, as changes of lenses.run_counts; what is older than the counts
-- reach, as all that a purge takes, is not counted any more.
create or replace function lenses.tg_workflow_runs_uncount()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'TRUNCATE' then
    delete from lenses.run_counts;
  else
    perform lenses.fn_add_run_counts(array(
      select row(
        o.lenser_id, o.workflow_id, 0, o.created_at, null, -count(*),
        -count(*) filter (where o.status = 'completed'),
        -count(*) filter (where o.status in ('failed', 'timed_out')))::lenses.run_counts
      from old_rows as o
      where o.created_at > now() - interval '48 hours'
      group by o.lenser_id, o.workflow_id, o.created_at));
  end if;
  return null;
end;
$$;
