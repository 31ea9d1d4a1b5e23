-- owner: lf_sql_engine
-- Runs inserted by any role but lf_sql_engine, whose own doors ask before.
create or replace function lenses.tg_workflow_runs_quota()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform lenses.fn_check_waiting_runs(n.lenser_id, n.waiting, true)
  from (
    select r.lenser_id, count(*) as waiting
    from new_rows as r
    where r.status in ('pending_approval', 'pending')
    group by r.lenser_id
    order by r.lenser_id
  ) as n;
  return null;
end;
$$;
