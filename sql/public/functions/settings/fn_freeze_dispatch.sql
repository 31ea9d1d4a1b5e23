-- For service_role; PostgREST shows no other schema.
create or replace function public.fn_freeze_dispatch(p_reason text)
returns lenses.dispatch_settings
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_freeze_dispatch(p_reason)
$$;

comment on function public.fn_freeze_dispatch(text) is
  'See lenses.fn_freeze_dispatch.';
