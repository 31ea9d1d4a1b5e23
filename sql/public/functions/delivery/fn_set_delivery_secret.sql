-- For service_role: lenses.fn_set_delivery_secret, where callers reach only this schema.
create or replace function public.fn_set_delivery_secret(p_name text, p_secret text)
returns void
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_set_delivery_secret(p_name, p_secret)
$$;

comment on function public.fn_set_delivery_secret(text, text) is
  'As lenses.fn_set_delivery_secret.';
