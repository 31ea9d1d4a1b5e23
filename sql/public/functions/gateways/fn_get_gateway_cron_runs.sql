-- For the owner.
create or replace function public.fn_get_gateway_cron_runs(
  p_gateway_id uuid,
  p_limit int default 20
)
returns setof agents.gateway_cron_runs
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gateway constant agents.gateways := agents.fn_require_gateway(p_gateway_id);
begin
  return query
  select r.*
  from agents.gateway_cron_runs r
  where r.gateway_id = v_gateway.id and r.lenser_id = v_gateway.lenser_id
  order by r.created_at desc, r.id
  limit greatest(least(coalesce(p_limit, 20), 1000), 0);
end;
$$;

comment on function public.fn_get_gateway_cron_runs(uuid, int) is
  'The newest p_limit (at most 1000) runs of a gateway of the caller, newest first. 42501: not '
  'the caller''s, or unknown.';
