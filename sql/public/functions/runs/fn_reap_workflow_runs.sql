-- For service_role: lenses.fn_reap_workflow_runs, where callers reach only this schema.
create or replace function public.fn_reap_workflow_runs()
returns integer
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_reap_workflow_runs()
$$;

comment on function public.fn_reap_workflow_runs() is
  'As lenses.fn_reap_workflow_runs.';
