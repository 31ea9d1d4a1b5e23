-- The late slots of a schedule at p_now that nothing has decided about yet, as stretches in order:
-- slots that fell due while nothing ticked (lenses.fn_late_windows), whatever delayed the schedule
-- since then. Slots that passed during a pause (missed_before, without grace) or before the
-- schedule existed are always late, unless a tick is played at a time before either. A slot that
-- was still to come then is not, however early its jitter makes it due: no tick could have seen it,
-- so it counts as due from then on. next_run_at counts as a slot of its own where nothing was seen:
-- an explicit one may not be a slot of the rule.
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
  v_first_due timestamptz := lenses.fn_slot_due(
    p_schedule.id, p_schedule.next_run_at, p_schedule.jitter_ms);
  v_plain lenses.workflow_schedules := p_schedule;
  v_floor timestamptz := greatest(
    case when p_schedule.missed_before <= p_now then p_schedule.missed_before end,
    case when v_is_fresh and p_schedule.created_at <= p_now then p_schedule.created_at end,
    -- of an edit: due_at was put off until then
    case when v_is_fresh and p_schedule.due_at between v_first_due and p_schedule.next_run_at
      and p_schedule.due_at <= p_now then p_schedule.due_at end);
  v_due record;
begin
  v_plain.jitter_ms := 0;
  if p_schedule.next_run_at >= v_floor then
    v_first_due := greatest(v_first_due, v_floor);
  end if;
  for v_window in
    select null::timestamptz as from_at, greatest(
      case when p_schedule.missed_before <= p_now + p_missed_grace
        then p_schedule.missed_before end,
      case when v_is_fresh and p_schedule.created_at <= p_now
        then p_schedule.created_at - p_missed_grace end) as until_at
    union all
    select w.from_at, w.until_at
    from lenses.fn_late_windows(
      case when v_is_fresh then v_first_due
        else v_seen - p_schedule.jitter_ms * interval '1 millisecond' end,
      p_now, p_missed_grace) as w
    order by from_at nulls first
  loop
    continue when v_window.until_at is null
      or v_window.from_at is not null and v_window.until_at <= v_floor;
    v_window.until_at := least(v_window.until_at, p_now) - interval '1 microsecond';
    -- Slots that were due by then met a tick, unless it passed over a paused schedule.
    v_is_fresh := v_is_fresh and coalesce(v_first_due > v_window.from_at, true);
    if v_window.from_at is not null and not v_is_fresh
      and (v_window.from_at < v_floor) is not true then
      select greatest(v_seen, d.last_slot) into v_seen
      from lenses.fn_slots_due_before(p_schedule, v_seen, v_window.from_at) as d;
    end if;
    continue when v_is_fresh and greatest(
      v_first_due, case when v_window.from_at is null then p_schedule.next_run_at end
    ) > v_window.until_at;
    select * into v_due
    from lenses.fn_slots_due_before(p_schedule, v_seen, v_window.until_at);
    if v_window.from_at is null and v_due.last_slot > v_window.until_at then
      select * into v_due
      from lenses.fn_slots_due_before(v_plain, v_seen, v_window.until_at);
    end if;
    if v_is_fresh then
      v_found := v_found || row(
        v_seen, coalesce(v_due.last_slot, v_seen), v_due.slot_count + 1)::lenses.late_stretch;
    elsif v_due.slot_count > 0 then
      v_found := v_found || row(
        lenses.fn_nth_slot(p_schedule, v_seen, 1), v_due.last_slot, v_due.slot_count
      )::lenses.late_stretch;
    end if;
    v_is_fresh := false;
    v_seen := coalesce(v_due.last_slot, v_seen);
  end loop;
  return v_found;
end;
$$;
