-- owner: lf_sql_engine
-- Keeps what waits for a delivery bounded: what has used up its attempts, or is more than
-- max_events, becomes a dead letter, the oldest first; dead letters beyond max_events go. At most
-- p_limit of each; returns how many. The caller holds the delivery's row. Old ones go with the
-- history (lenses.fn_purge_history_batch).
create or replace function lenses.fn_trim_outbox(
  p_delivery lenses.deliveries,
  p_now timestamptz,
  p_limit integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_until bigint;
  v_dead integer;
  v_gone integer := 0;
begin
  v_until := (
    select o.id from lenses.outbox as o
    where o.delivery = p_delivery.name and o.dead_at is null
    order by o.id desc offset p_delivery.max_events limit 1);
  update lenses.outbox as o
  set dead_at = p_now, worker_id = null, lease_expires_at = null,
    last_error = case when o.id <= v_until
      then format('more than %s events waited (max_events)', p_delivery.max_events)
      else coalesce(o.last_error, 'no answer before the lease ended') end
  where o.id in (
    select x.id from lenses.outbox as x
    where x.delivery = p_delivery.name and x.dead_at is null and (
      x.id <= v_until
      or x.attempt >= p_delivery.max_attempts and coalesce(x.lease_expires_at, p_now) <= p_now)
    order by x.id
    limit p_limit
    for no key update skip locked);
  get diagnostics v_dead = row_count;

  v_until := (
    select o.id from lenses.outbox as o
    where o.delivery = p_delivery.name and o.dead_at is not null
    order by o.id desc offset p_delivery.max_events limit 1);
  if v_until is not null then
    delete from lenses.outbox as o
    where o.id in (
      select x.id from lenses.outbox as x
      where x.delivery = p_delivery.name and x.dead_at is not null and x.id <= v_until
      order by x.id
      limit p_limit
      for no key update skip locked);
    get diagnostics v_gone = row_count;
    update lenses.deliveries as d set dropped = d.dropped + v_gone where d.name = p_delivery.name;
  end if;
  return v_dead + v_gone;
end;
$$;
