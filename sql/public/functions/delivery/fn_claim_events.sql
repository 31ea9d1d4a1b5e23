-- For service_role: lenses.fn_claim_events, where callers reach only this schema.
create or replace function public.fn_claim_events(
  p_delivery text,
  p_worker_id text,
  p_limit integer default 10,
  p_lease interval default '5 minutes'
)
returns table (
  id bigint, event_id uuid, event_type text, attempt integer, payload jsonb,
  lease_expires_at timestamptz
)
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
select * from lenses.fn_claim_events(p_delivery, p_worker_id, p_limit, p_lease)
$$;

comment on function public.fn_claim_events(text, text, integer, interval) is
  'As lenses.fn_claim_events.';
