-- For service_role: calls agents.fn_claim_gateway_cron_runs, for clients that can reach only this
-- schema.
create or replace function public.fn_claim_gateway_cron_runs(
  p_worker_id text,
  p_limit int default 1,
  p_lease interval default '5 minutes',
  p_gateway_id uuid default null
)
returns setof agents.gateway_cron_runs
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select * from agents.fn_claim_gateway_cron_runs(p_worker_id, p_limit, p_lease, p_gateway_id);
$$;

comment on function public.fn_claim_gateway_cron_runs(text, int, interval, uuid) is
  'As agents.fn_claim_gateway_cron_runs.';
