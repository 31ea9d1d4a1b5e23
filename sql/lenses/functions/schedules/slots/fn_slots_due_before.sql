-- How many slots after p_after are due by p_until, and the last of them. Whole days are counted;
-- only slots within the jitter of p_until are walked (2,880 at most, for a jitter of a day). Slots
-- that move are listed, once for the count and the last.
create or replace function lenses.fn_slots_due_before(
  p_schedule lenses.workflow_schedules,
  p_after timestamptz,
  p_until timestamptz,
  out slot_count bigint,
  out last_slot timestamptz
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot timestamptz;
  v_slots timestamptz[];
  v_due timestamptz := '-infinity';
  v_jitter interval := p_schedule.jitter_ms * interval '1 millisecond';
begin
  if (p_schedule.cron_spec).day_rule > 15 then
    select count(*), max(m.slot) into slot_count, last_slot
    from lenses.fn_next_moved_slots(p_schedule, p_after, p_until - v_jitter, null) as m (slot);
  else
    slot_count := lenses.fn_count_slots(p_schedule, p_after, p_until - v_jitter);
    if slot_count > 0 then
      last_slot := lenses.fn_nth_slot(p_schedule, p_after, slot_count);
    end if;
  end if;
  if p_schedule.jitter_ms = 0 then
    return;
  end if;
  v_slot := coalesce(last_slot, p_after);
  if (p_schedule.cron_spec).day_rule > 15 then
    -- in one search: none later can be due
    v_slots := array(
      select lenses.fn_next_moved_slots(p_schedule, v_slot, p_until + v_jitter, null));
  end if;
  for v_place in 1 .. coalesce(cardinality(v_slots), 2147483647) loop
    v_slot := case when v_slots is null then lenses.fn_next_slot(
      p_schedule.cron_spec, p_schedule.timezone, p_schedule.interval_ms, p_schedule.created_at,
      p_schedule.start_at, p_schedule.end_at, v_slot) else v_slots[v_place] end;
    exit when v_slot is null;
    v_due := greatest(
      v_due, lenses.fn_slot_due(p_schedule.id, v_slot, p_schedule.jitter_ms));
    exit when v_due > p_until;
    slot_count := slot_count + 1;
    last_slot := v_slot;
  end loop;
end;
$$;
