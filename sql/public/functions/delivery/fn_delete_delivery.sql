-- For service_role: lenses.fn_delete_delivery, where callers reach only this schema.
create or replace function public.fn_delete_delivery(p_name text)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_delete_delivery(p_name)
$$;

comment on function public.fn_delete_delivery(text) is
  'As lenses.fn_delete_delivery.';
