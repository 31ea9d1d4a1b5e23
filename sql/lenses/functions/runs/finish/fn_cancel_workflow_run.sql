-- owner: lf_sql_engine
-- For service_role, and by public.fn_cancel_workflow_run for the owner. A worker that has the run
-- finds its lease lost.
create or replace function lenses.fn_cancel_workflow_run(p_run_id uuid)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_end_run(p_run_id, 'cancelled', 'cancelled', null, now())
$$;

comment on function lenses.fn_cancel_workflow_run(uuid) is
  'Cancels a run that is in flight; a waiting one has its team run rejected. False, and nothing '
  'changed, where it is over or unknown.';
