-- For service_role: lenses.fn_heartbeat_workflow_run, where callers reach only this schema.
create or replace function public.fn_heartbeat_workflow_run(
  p_run_id uuid,
  p_worker_id text,
  p_lease interval,
  p_attempt integer default null
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_heartbeat_workflow_run(p_run_id, p_worker_id, p_lease, p_attempt)
$$;

comment on function public.fn_heartbeat_workflow_run(uuid, text, interval, integer) is
  'As lenses.fn_heartbeat_workflow_run.';
