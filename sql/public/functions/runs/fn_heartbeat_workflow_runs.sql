-- For service_role: lenses.fn_heartbeat_workflow_runs, where callers reach only this schema.
create or replace function public.fn_heartbeat_workflow_runs(
  p_worker_id text,
  p_run_ids uuid[],
  p_lease interval
)
returns setof uuid
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_heartbeat_workflow_runs(p_worker_id, p_run_ids, p_lease)
$$;

comment on function public.fn_heartbeat_workflow_runs(text, uuid[], interval) is
  'As lenses.fn_heartbeat_workflow_runs.';
