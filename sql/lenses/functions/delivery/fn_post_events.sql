-- owner: lf_sql_engine
-- Takes up to p_limit events of a delivery and posts them; returns how many.
create or replace function lenses.fn_post_events(
  p_delivery lenses.deliveries,
  p_keys bytea[],
  p_now timestamptz,
  p_limit integer
)
returns integer
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_event record;
  v_count integer := 0;
begin
  for v_event in
    select e.*
    from lenses.fn_take_events(
      p_delivery.name, 'delivery:' || p_delivery.name, p_limit, p_now,
      p_now + p_delivery.lease_ms * interval '1 millisecond') as e
  loop
    perform lenses.fn_post_request(
      p_delivery, p_keys, v_event.event_id::text, v_event.payload, null, v_event.id,
      v_event.attempt,
      v_event.lease_expires_at);
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;
