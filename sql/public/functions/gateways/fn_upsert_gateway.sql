-- For the owner. Without an id it creates a gateway; an id must be the caller's.
create or replace function public.fn_upsert_gateway(
  p_gateway_id uuid default null,
  p_name text default null,
  p_endpoint text default null
)
returns agents.gateways
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row agents.gateways;
  v_lenser_id constant uuid := lensers.fn_hold_lenser();
begin
  if p_gateway_id is null then
    insert into agents.gateways as g (lenser_id, name, endpoint)
    values (v_lenser_id, p_name, p_endpoint)
    returning g.* into v_row;
    return v_row;
  end if;
  update agents.gateways g
  set name = coalesce(p_name, g.name), endpoint = coalesce(p_endpoint, g.endpoint)
  where g.id = p_gateway_id and g.lenser_id = v_lenser_id
  returning g.* into v_row;
  return case when found then v_row else agents.fn_require_gateway(p_gateway_id) end;
end;
$$;

comment on function public.fn_upsert_gateway(uuid, text, text) is
  'Creates a gateway (p_gateway_id NULL) or changes one of the caller''s: NULL keeps, an empty '
  'p_endpoint clears. Returns the row. 22023: a bad name or endpoint; 42501: not '
  'the caller''s, or unknown.';
