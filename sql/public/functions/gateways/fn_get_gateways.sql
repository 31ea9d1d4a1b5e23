-- For the owner.
create or replace function public.fn_get_gateways()
returns setof agents.gateways
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lenser_id constant uuid := lensers.fn_require_lenser();
begin
  return query
  select g.* from agents.gateways g where g.lenser_id = v_lenser_id order by g.name, g.id;
end;
$$;

comment on function public.fn_get_gateways() is
  'The caller''s gateways, by name. 42501: no tenant is calling.';
