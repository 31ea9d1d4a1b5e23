-- For service_role: calls lenses.fn_run_traceparent, for clients that can reach only this schema.
create or replace function public.fn_run_traceparent(p_run_id uuid, p_attempt integer)
returns text
language sql
immutable
strict
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_run_traceparent(p_run_id, p_attempt)
$$;

comment on function public.fn_run_traceparent(uuid, integer) is
  'As lenses.fn_run_traceparent.';
