-- The idempotency key of a slot: hex sha256 of schedule id, a colon and the slot's epoch seconds.
-- A slot's run has its first 16 bytes as id, so that a slot dispatched again after a failover
-- comes back under the same id. NULL where p_slot is no instant.
create or replace function lenses.fn_slot_key(p_schedule_id uuid, p_slot timestamptz)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select case when isfinite(p_slot) then encode(
  sha256(convert_to(p_schedule_id || ':' || floor(extract(epoch from p_slot))::bigint, 'UTF8')),
  'hex') end
$$;

comment on function lenses.fn_slot_key(uuid, timestamptz) is 'Idempotency key of a schedule''s slot: 64 hex digits; NULL for an infinite p_slot.';
