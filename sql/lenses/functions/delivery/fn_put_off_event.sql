-- owner: lf_sql_engine
-- An attempt of an event has failed: it comes again later, or is a dead letter. False, and nothing
-- changed, where p_worker_id does not hold it, or not by p_attempt (NULL: by any).
create or replace function lenses.fn_put_off_event(
  p_id bigint,
  p_worker_id text,
  p_attempt integer,
  p_error text,
  p_retry_after interval,
  p_now timestamptz
)
returns boolean
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lenses.outbox as o
  set worker_id = null, lease_expires_at = null, last_error = left(p_error, 2000),
    dead_at = case when o.attempt >= d.max_attempts then p_now end,
    available_at = p_now + coalesce(
      p_retry_after,
      least(interval '30 seconds' * 2 ^ least(o.attempt - 1, 20), interval '1 hour')
      * (0.75 + random() / 2))
  from lenses.deliveries as d
  where o.id = p_id and d.name = o.delivery and o.worker_id = p_worker_id and o.dead_at is null
    and o.attempt = coalesce(p_attempt, o.attempt);
  return found;
end;
$$;
