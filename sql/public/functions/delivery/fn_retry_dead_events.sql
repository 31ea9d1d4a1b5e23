-- For service_role: lenses.fn_retry_dead_events, where callers reach only this schema.
create or replace function public.fn_retry_dead_events(p_delivery text)
returns integer
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_retry_dead_events(p_delivery)
$$;

comment on function public.fn_retry_dead_events(text) is
  'As lenses.fn_retry_dead_events.';
