-- The late slots of a schedule at p_now, as stretches in order. Late is what was due more than the grace
-- before the first tick that saw it. Where nothing waits, that is this tick. Where an older slot
-- waits, ticks went on meanwhile, and only what fell into a gap between two of them is late; what
-- passed during a pause (missed_before) always is, grace aside.
-- next_run_at counts as a slot of its own where nothing was seen: written explicitly it may be none
-- of the rule's.
create or replace function lenses.fn_late_stretches(
  p_schedule lenses.workflow_schedules,
  p_now timestamptz,
  p_missed_grace interval
)
returns lenses.late_stretch[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found lenses.late_stretch[] := '{}';
  v_window record;
  v_seen timestamptz := greatest(p_schedule.next_run_at, p_schedule.seen_until);
  v_is_fresh boolean := p_schedule.seen_until is null;
  v_due record;
begin
  for v_window in
    select null::timestamptz as from_at, case when v_is_fresh
      then greatest(p_now - p_missed_grace, p_schedule.missed_before)
      else p_schedule.missed_before end as until_at
    union all
    select g.started_at, g.next_at - p_missed_grace
    from (
      select t.started_at, lead(t.started_at, 1, p_now) over (order by t.started_at) as next_at
      from lenses.dispatch_ticks as t
      where not v_is_fresh and t.id >= p_schedule.tick_id and t.started_at < p_now
    ) as g
    where g.next_at - g.started_at > p_missed_grace
    order by from_at nulls first
  loop
    continue when v_window.until_at is null;
    v_window.until_at := least(v_window.until_at, p_now) - interval '1 microsecond';
    if v_window.from_at is not null then
      -- What was due by then met a tick.
      select greatest(v_seen, d.last_slot) into v_seen
      from lenses.fn_slots_due_before(p_schedule, v_seen, v_window.from_at) as d;
    end if;
    if v_is_fresh and lenses.fn_slot_due(
      p_schedule.id, p_schedule.next_run_at, p_schedule.jitter_ms) > v_window.until_at then
      continue;
    end if;
    select * into v_due
    from lenses.fn_slots_due_before(p_schedule, v_seen, v_window.until_at);
    if v_is_fresh then
      v_found := v_found || row(
        v_seen, coalesce(v_due.last_slot, v_seen), v_due.slot_count + 1)::lenses.late_stretch;
    elsif v_due.slot_count > 0 then
      v_found := v_found || row(
        lenses.fn_nth_slot(p_schedule, v_seen, 1), v_due.last_slot, v_due.slot_count
      )::lenses.late_stretch;
    end if;
    v_seen := coalesce(v_due.last_slot, v_seen);
  end loop;
  return v_found;
end
$$;
