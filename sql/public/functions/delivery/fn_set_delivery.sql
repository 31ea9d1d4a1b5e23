-- For service_role: lenses.fn_set_delivery, where callers reach only this schema.
create or replace function public.fn_set_delivery(p_patch jsonb)
returns lenses.deliveries
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_set_delivery(p_patch)
$$;

comment on function public.fn_set_delivery(jsonb) is
  'As lenses.fn_set_delivery.';
