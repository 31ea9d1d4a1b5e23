-- For service_role: calls agents.fn_complete_gateway_cron_run, for clients that can reach only this
-- schema.
create or replace function public.fn_complete_gateway_cron_run(
  p_run_id uuid,
  p_worker_id text,
  p_result jsonb default null
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select agents.fn_complete_gateway_cron_run(p_run_id, p_worker_id, p_result);
$$;

comment on function public.fn_complete_gateway_cron_run(uuid, text, jsonb) is
  'As agents.fn_complete_gateway_cron_run.';
