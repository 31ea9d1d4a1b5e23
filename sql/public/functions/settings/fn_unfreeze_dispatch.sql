-- For service_role; PostgREST shows no other schema.
create or replace function public.fn_unfreeze_dispatch()
returns lenses.dispatch_settings
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_unfreeze_dispatch()
$$;

comment on function public.fn_unfreeze_dispatch() is
  'See lenses.fn_unfreeze_dispatch.';
