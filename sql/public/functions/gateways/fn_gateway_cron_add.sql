-- For the owner. The table's own trigger validates the values.
create or replace function public.fn_gateway_cron_add(
  p_gateway_id uuid,
  p_operation text,
  p_cron_expr text,
  p_timezone text default 'UTC',
  p_payload jsonb default '{}',
  p_is_active boolean default true
)
returns agents.gateway_crons
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gateway agents.gateways;
  v_row agents.gateway_crons;
begin
  perform lensers.fn_hold_lenser();
  v_gateway := agents.fn_require_gateway(p_gateway_id);
  insert into agents.gateway_crons as c (
    lenser_id, gateway_id, operation, cron_expr, timezone, payload, is_active
  )
  values (
    v_gateway.lenser_id, v_gateway.id, p_operation, p_cron_expr, coalesce(p_timezone, 'UTC'),
    coalesce(p_payload, '{}'), coalesce(p_is_active, true)
  )
  returning c.* into v_row;
  return v_row;
end;
$$;

comment on function public.fn_gateway_cron_add(uuid, text, text, text, jsonb, boolean) is
  'Adds a cron to a gateway of the caller: p_operation is capability_refresh, health_probe, '
  'maintenance_window or a name of the gateway''s own, p_cron_expr five fields read in '
  'p_timezone, p_payload an object handed to the run. Returns the row. 22023: bad input; 42501: '
  'the gateway is not the caller''s, or unknown; 53400: a quota of the tenant.';
