-- owner: lf_sql_engine
-- Adds inserted runs, by whatever path, to lenses.run_counts: one row for each workflow and
-- instant. Many instants of one workflow in one statement are folded first. Runs older than the
-- counts reach are not counted.
create or replace function lenses.tg_workflow_runs_count()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_since constant timestamptz := now() - interval '48 hours';
  v_row record;
begin
  if (select min(n.created_at) < max(n.created_at) from new_rows as n) then
    perform lenses.fn_add_run_counts(array(
      select row(
        n.lenser_id, n.workflow_id, 0, n.created_at, null, count(*),
        count(*) filter (where n.status = 'completed'),
        count(*) filter (where n.status in ('failed', 'timed_out')))::lenses.run_counts
      from new_rows as n
      where n.created_at > v_since
      group by n.lenser_id, n.workflow_id, n.created_at));
    return null;
  end if;

  -- Each workflow has one instant, as in what a tick and the RPCs insert.
  for v_row in
    with added as (
      insert into lenses.run_counts (lenser_id, workflow_id, instant, total, succeeded, failed)
      select
        n.lenser_id, n.workflow_id, min(n.created_at), count(*),
        count(*) filter (where n.status = 'completed'),
        count(*) filter (where n.status in ('failed', 'timed_out'))
      from new_rows as n
      where n.created_at > v_since
      group by n.workflow_id, n.lenser_id
      returning lenser_id, workflow_id, id
    )

    select a.lenser_id, a.workflow_id from added as a where a.id % 128 = 0
  loop
    perform lenses.fn_fold_run_counts(v_row.lenser_id, v_row.workflow_id);
  end loop;
  return null;
end;
$$;
