-- For service_role: lenses.fn_complete_workflow_runs, where callers reach only this schema.
create or replace function public.fn_complete_workflow_runs(p_worker_id text, p_results jsonb)
returns setof uuid
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_complete_workflow_runs(p_worker_id, p_results)
$$;

comment on function public.fn_complete_workflow_runs(text, jsonb) is
  'As lenses.fn_complete_workflow_runs.';
