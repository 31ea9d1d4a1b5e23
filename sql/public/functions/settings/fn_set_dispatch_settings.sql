-- For service_role: calls lenses.fn_set_dispatch_settings, for clients that can reach only this
-- schema.
create or replace function public.fn_set_dispatch_settings(p_patch jsonb)
returns lenses.dispatch_settings
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_set_dispatch_settings(p_patch)
$$;

comment on function public.fn_set_dispatch_settings(jsonb) is
  'See lenses.fn_set_dispatch_settings.';
