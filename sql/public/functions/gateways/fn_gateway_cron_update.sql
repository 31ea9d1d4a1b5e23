-- For the owner. The table's own trigger validates the values and finds the next slot.
create or replace function public.fn_gateway_cron_update(
  p_cron_id uuid,
  p_operation text default null,
  p_cron_expr text default null,
  p_timezone text default null,
  p_payload jsonb default null,
  p_is_active boolean default null
)
returns agents.gateway_crons
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row agents.gateway_crons;
begin
  perform lensers.fn_hold_lenser();
  v_row := agents.fn_require_gateway_cron(p_cron_id);
  update agents.gateway_crons c
  set operation = coalesce(p_operation, c.operation),
    cron_expr = coalesce(p_cron_expr, c.cron_expr),
    timezone = coalesce(p_timezone, c.timezone),
    payload = coalesce(p_payload, c.payload),
    is_active = coalesce(p_is_active, c.is_active)
  where c.id = v_row.id
  returning c.* into v_row;
  return v_row;
end;
$$;

comment on function public.fn_gateway_cron_update(uuid, text, text, text, jsonb, boolean) is
  'Changes a cron of the caller''s gateways; NULL keeps. An edit of its time, and switching it '
  'on, look for the next slot after now. Returns the row. 22023: bad input; 42501: not the '
  'caller''s, or unknown; 53400: a quota of the tenant.';
