-- For service_role: calls agents.fn_heartbeat_gateway_cron_run, for clients that can reach only
-- this schema.
create or replace function public.fn_heartbeat_gateway_cron_run(
  p_run_id uuid,
  p_worker_id text,
  p_lease interval default '5 minutes'
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select agents.fn_heartbeat_gateway_cron_run(p_run_id, p_worker_id, p_lease);
$$;

comment on function public.fn_heartbeat_gateway_cron_run(uuid, text, interval) is
  'As agents.fn_heartbeat_gateway_cron_run.';
