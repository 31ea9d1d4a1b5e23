-- owner: lf_sql_engine
-- For service_role, and by public.fn_cancel_workflow_runs for the owner. Schedules are locked in
-- the order of their ids, as in lenses.fn_decide_workflow_runs.
create or replace function lenses.fn_cancel_workflow_runs(p_run_ids uuid[])
returns setof uuid
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id uuid;
begin
  perform lenses.fn_check_run_ids(p_run_ids);
  for v_id in
    select r.id
    from lenses.workflow_runs as r
    where r.id = any (p_run_ids)
    order by r.schedule_id, r.id
  loop
    if lenses.fn_cancel_workflow_run(v_id) then
      return next v_id;
    end if;
  end loop;
end;
$$;

comment on function lenses.fn_cancel_workflow_runs(uuid[]) is
  'Cancels at most 1000 runs, as fn_cancel_workflow_run does one; returns the ids that were '
  'cancelled, without those that are over or unknown. 22023: NULL among the ids, or too many.';
