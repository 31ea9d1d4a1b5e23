-- For service_role: lenses.fn_fail_workflow_run, where callers reach only this schema.
create or replace function public.fn_fail_workflow_run(
  p_run_id uuid,
  p_worker_id text,
  p_cause text,
  p_error text,
  p_spent_credits numeric default 0,
  p_attempt integer default null,
  p_retry_after interval default null,
  p_final boolean default false
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_fail_workflow_run(
  p_run_id, p_worker_id, p_cause, p_error, p_spent_credits, p_attempt, p_retry_after, p_final)
$$;

comment on function public.fn_fail_workflow_run(
  uuid, text, text, text, numeric, integer, interval, boolean
) is
  'As lenses.fn_fail_workflow_run.';
