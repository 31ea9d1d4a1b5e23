-- For the owner.
create or replace function public.fn_gateway_cron_list(p_gateway_id uuid default null)
returns setof agents.gateway_crons
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  if p_gateway_id is not null then
    perform agents.fn_require_gateway(p_gateway_id);
  end if;
  return query
  select c.*
  from agents.gateway_crons c
  where c.lenser_id = v_lenser_id and (p_gateway_id is null or c.gateway_id = p_gateway_id)
  order by c.gateway_id, c.operation, c.created_at, c.id;
end;
$$;

comment on function public.fn_gateway_cron_list(uuid) is
  'The crons of the caller''s gateway p_gateway_id, or of all (NULL). 42501: not the caller''s, '
  'or unknown.';
