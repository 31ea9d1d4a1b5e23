-- For service_role: lenses.fn_deliver, where callers reach only this schema.
create or replace function public.fn_deliver()
returns integer
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_deliver()
$$;

comment on function public.fn_deliver() is
  'As lenses.fn_deliver.';
