-- For service_role: lenses.fn_ack_events, where callers reach only this schema.
create or replace function public.fn_ack_events(p_worker_id text, p_ids bigint[])
returns setof bigint
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select lenses.fn_ack_events(p_worker_id, p_ids)
$$;

comment on function public.fn_ack_events(text, bigint[]) is
  'As lenses.fn_ack_events.';
