-- For the RPCs: the caller's own gateway cron, or the one refusal that a stranger's id and an
-- unknown id share, byte for byte.
create or replace function agents.fn_require_gateway_cron(p_gateway_cron_id uuid)
returns agents.gateway_crons
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row agents.gateway_crons;
  v_lenser_id uuid := lensers.fn_require_lenser();
begin
  select x.* into v_row
  from agents.gateway_crons x
  where x.id = p_gateway_cron_id and x.lenser_id = v_lenser_id;
  if not found then
    raise exception using
      errcode = '42501',
      message = 'there is no such gateway cron of yours',
      hint = 'public.fn_gateway_cron_list() lists yours.';
  end if;
  return v_row;
end;
$$;

comment on function agents.fn_require_gateway_cron(uuid) is
  'The caller''s gateway cron of that id; 42501 for any other id.';
