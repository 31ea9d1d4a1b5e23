-- For the RPCs: the caller's own gateway, or the one refusal that a stranger's id and an unknown id
-- share, byte for byte.
create or replace function agents.fn_require_gateway(p_gateway_id uuid)
returns agents.gateways
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row agents.gateways;
  v_lenser_id uuid := lensers.fn_require_lenser();
begin
  select x.* into v_row
  from agents.gateways x
  where x.id = p_gateway_id and x.lenser_id = v_lenser_id;
  if not found then
    raise exception using
      errcode = '42501',
      message = 'there is no such gateway of yours',
      hint = 'public.fn_get_gateways() lists yours.';
  end if;
  return v_row;
end;
$$;

comment on function agents.fn_require_gateway(uuid) is
  'The caller''s gateway of that id; 42501 for any other id.';
