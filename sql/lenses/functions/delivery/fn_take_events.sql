-- owner: lf_sql_engine
-- Takes up to p_limit events of a delivery that may go now, oldest first: of each order_key only
-- the first. It passes over rows that are locked.
create or replace function lenses.fn_take_events(
  p_delivery text,
  p_worker_id text,
  p_limit integer,
  p_now timestamptz,
  p_lease_until timestamptz
)
returns table (
  id bigint, event_id uuid, event_type text, attempt integer, payload jsonb,
  lease_expires_at timestamptz
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with picked as materialized (
    select o.id
    from lenses.outbox as o
    inner join lenses.deliveries as d on d.name = o.delivery and d.is_active
    where o.delivery = p_delivery and o.dead_at is null and o.attempt < d.max_attempts
      and (o.available_at is null or o.available_at <= p_now)
      and (o.lease_expires_at is null or o.lease_expires_at <= p_now)
      and not exists (
        select from lenses.outbox as x
        where x.delivery = o.delivery and x.order_key = o.order_key and x.id < o.id
          and x.dead_at is null)
    order by o.id
    limit p_limit
    for no key update of o skip locked
  ),

  taken as (
    update lenses.outbox as o
    set worker_id = p_worker_id, lease_expires_at = p_lease_until, attempt = o.attempt + 1
    from picked as p
    where o.id = p.id
    returning o.id, o.event_id, o.event_type, o.attempt, o.payload, o.lease_expires_at
  )

  select t.* from taken as t order by t.id;
end;
$$;
