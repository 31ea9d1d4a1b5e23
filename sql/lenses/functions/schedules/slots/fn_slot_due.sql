-- Due time of a slot: the slot plus a jitter in +-p_jitter_ms that depends on schedule and slot
-- alone, within the years 1970 to 9999.
create or replace function lenses.fn_slot_due(
  p_schedule_id uuid,
  p_slot timestamptz,
  p_jitter_ms integer
)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash bigint;
begin
  if p_jitter_ms = 0 then
    return p_slot;
  end if;
  v_hash := ('x' || substr(lenses.fn_slot_key(p_schedule_id, p_slot), 33, 12))::bit(48)::bigint;
  return least(greatest(
    p_slot + (v_hash % (2 * p_jitter_ms::bigint + 1) - p_jitter_ms) * interval '1 millisecond',
    timestamptz '1970-01-01 00:00:00+00'), timestamptz '9999-12-31 23:59:59.999999+00');
end;
$$;
