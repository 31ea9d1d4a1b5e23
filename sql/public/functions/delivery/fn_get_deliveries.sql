-- For service_role: lenses.fn_get_deliveries, where callers reach only this schema.
create or replace function public.fn_get_deliveries()
returns table (
  name text, url text, sends text[], workflow_id uuid, workflow_title text, is_active boolean,
  secret_name text, has_secret boolean, header_names text[], max_in_flight integer,
  timeout_ms integer, lease_ms integer, max_attempts integer, max_events integer,
  in_flight bigint, waiting bigint, dead bigint, delivered bigint, failed bigint, dropped bigint,
  last_delivered_at timestamptz, last_error_at timestamptz, last_error text, problem text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
select * from lenses.fn_get_deliveries()
$$;

comment on function public.fn_get_deliveries() is
  'As lenses.fn_get_deliveries.';
