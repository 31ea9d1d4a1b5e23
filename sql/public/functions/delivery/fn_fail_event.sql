-- For service_role: lenses.fn_fail_event, where callers reach only this schema.
create or replace function public.fn_fail_event(
  p_id bigint,
  p_worker_id text,
  p_error text,
  p_retry_after interval default null
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_fail_event(p_id, p_worker_id, p_error, p_retry_after)
$$;

comment on function public.fn_fail_event(bigint, text, text, interval) is
  'As lenses.fn_fail_event.';
