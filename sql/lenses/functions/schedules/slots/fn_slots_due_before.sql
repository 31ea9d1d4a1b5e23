-- How many slots after p_after are due at p_until (inclusive), and the last of them. Whole days are
-- counted; only the slots within the jitter of p_until are walked (a day of jitter: 2,880 at most).
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
  v_due timestamptz := '-infinity';
begin
  slot_count := lenses.fn_count_slots(
    p_schedule, p_after, p_until - p_schedule.jitter_ms * interval '1 millisecond');
  if slot_count > 0 then
    last_slot := lenses.fn_nth_slot(p_schedule, p_after, slot_count);
  end if;
  if p_schedule.jitter_ms = 0 then
    return;
  end if;
  v_slot := coalesce(last_slot, p_after);
  loop
    v_slot := lenses.fn_next_slot(
      p_schedule.cron_spec, p_schedule.timezone, p_schedule.interval_ms, p_schedule.created_at,
      p_schedule.start_at, p_schedule.end_at, v_slot);
    exit when v_slot is null;
    v_due := greatest(
      v_due, lenses.fn_slot_due(p_schedule.id, v_slot, p_schedule.jitter_ms));
    exit when v_due > p_until;
    slot_count := slot_count + 1;
    last_slot := v_slot;
  end loop;
end;
$$;
