-- The idempotency key of a slot: the hex sha256 of schedule id, a colon and the slot's epoch
-- seconds. Its first 16 bytes are the id of the slot's run, so that a slot dispatched again after a
-- failover gets the same id.
create or replace function lenses.fn_slot_key(p_schedule_id uuid, p_slot timestamptz)
returns text
language plpgsql
immutable
strict
set search_path = pg_catalog, pg_temp
as $$
begin
  if not isfinite(p_slot) then
    raise exception using
      errcode = '22023',
      column = 'slot',
      message = format('p_slot must be an instant, not "%s"', p_slot),
      hint = 'Give the instant of a slot, such as 2026-05-01T09:00:00Z.';
  end if;
  return encode(
    sha256(convert_to(p_schedule_id || ':' || floor(extract(epoch from p_slot))::bigint, 'UTF8')),
    'hex');
end;
$$;

comment on function lenses.fn_slot_key(uuid, timestamptz) is
  'Idempotency key of a schedule''s slot: 64 hex digits. 22023: p_slot is infinite.';
