-- For service_role: lenses.fn_fail_workflow_run, where callers reach only this schema.
create or replace function public.fn_fail_workflow_run(
  p_run_id uuid,
  p_worker_id text,
  p_cause text,
  p_error text
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_fail_workflow_run(p_run_id, p_worker_id, p_cause, p_error)
$$;

comment on function public.fn_fail_workflow_run(uuid, text, text, text) is 'As lenses.fn_fail_workflow_run.';
