-- owner: lf_sql_engine
-- For operators (service_role): all deliveries, without anything secret: only the names of headers.
create or replace function lenses.fn_get_deliveries()
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
select
  d.name, d.url, d.sends, d.workflow_id, w.title, d.is_active, d.secret_name,
  case when d.secret_name is not null
    then lenses.fn_delivery_secret(d.secret_name) is not null end,
  array(select h.name from jsonb_object_keys(d.headers) as h (name) order by h.name),
  d.max_in_flight, d.timeout_ms, d.lease_ms, d.max_attempts, d.max_events,
  lenses.fn_requests_in_flight(d.name),
  (select count(*) from lenses.outbox as o where o.delivery = d.name and o.dead_at is null),
  (select count(*) from lenses.outbox as o where o.delivery = d.name and o.dead_at is not null),
  d.delivered, d.failed, d.dropped, d.last_delivered_at, d.last_error_at, d.last_error, d.problem
from lenses.deliveries as d
left join lenses.workflows as w on w.id = d.workflow_id
order by d.name
$$;

comment on function lenses.fn_get_deliveries() is
  'Every delivery and its state, by name: what lenses.fn_set_delivery was given, with only the '
  'names of headers; has_secret: whether secret_name exists and can sign (NULL: nothing is '
  'signed); in_flight requests without an answer (NULL on a standby), waiting events and dead '
  'letters; delivered, failed and dropped in all; the last error; problem: why nothing can be '
  'posted.';
