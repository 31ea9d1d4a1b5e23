-- For service_role: lenses.fn_append_run_event, where callers reach only this schema.
create or replace function public.fn_append_run_event(
  p_run_id uuid,
  p_worker_id text,
  p_event_type text,
  p_payload jsonb,
  p_attempt integer default null
)
returns boolean
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_append_run_event(p_run_id, p_worker_id, p_event_type, p_payload, p_attempt)
$$;

comment on function public.fn_append_run_event(uuid, text, text, jsonb, integer) is
  'As lenses.fn_append_run_event.';
