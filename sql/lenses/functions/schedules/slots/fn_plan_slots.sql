-- What is due of one schedule at p_now: decides once about late slots that are seen for the first
-- time, lists up to p_cap due slots in order, and returns the state of the backlog behind them.
-- Late slots are counted and jumped over, never walked, so a gap of years costs as much as one of a
-- day; only those that move off closed dates are listed, whole ranges at once. A slot is never due
-- before the slot before it, since slots go in order.
create or replace function lenses.fn_plan_slots(
  p_schedule lenses.workflow_schedules,
  p_now timestamptz,
  p_missed_grace interval,
  p_cap integer,
  p_default_on_missed text
)
returns lenses.slot_plan
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan lenses.slot_plan;
  v_late lenses.late_stretch[];
  v_stretch lenses.late_stretch;
  v_seen timestamptz := greatest(p_schedule.next_run_at, p_schedule.seen_until);
  v_on_missed text := coalesce(
    case when p_schedule.missed_before is not null then p_schedule.missed_override end,
    p_schedule.on_missed, p_default_on_missed);
  v_keep bigint;
  v_drop bigint;
  v_cut bigint;
  v_until timestamptz;
  v_slot timestamptz;
  v_due timestamptz := '-infinity';
  v_is_missed boolean;
begin
  v_plan.schedule_id := p_schedule.id;
  v_plan.slots := '{}';
  v_plan.seen_until := p_schedule.seen_until;
  v_plan.missed := p_schedule.missed;
  v_plan.dropped := p_schedule.dropped;
  v_plan.spread_next_at := p_schedule.spread_next_at;
  v_plan.spread_step := p_schedule.spread_step;

  v_late := lenses.fn_late_stretches(p_schedule, p_now, p_missed_grace);
  select sum(l.slot_count) into v_drop from unnest(v_late) as l;
  if v_drop > 0 then
    v_keep := least(v_drop, case v_on_missed
      when 'skip' then 0 when 'run_once' then 1 else p_schedule.max_backfill end);
    v_drop := v_drop - v_keep;
    foreach v_stretch in array v_late loop
      v_cut := least(v_drop, v_stretch.slot_count);
      v_drop := v_drop - v_cut;
      v_slot := v_stretch.first_slot;
      if v_cut > 0 then
        v_until := case v_cut
          when v_stretch.slot_count then v_stretch.last_slot
          when 1 then v_stretch.first_slot
          else lenses.fn_nth_slot(p_schedule, v_stretch.first_slot, v_cut - 1) end;
        v_plan.dropped_count := coalesce(v_plan.dropped_count, 0) + v_cut;
        v_plan.dropped_first := coalesce(v_plan.dropped_first, v_slot);
        v_plan.dropped_last := v_until;
        v_plan.dropped := coalesce(v_plan.dropped, '{}')
          + tstzmultirange(tstzrange(v_slot, v_until, '[]'));
        v_slot := v_until + interval '1 microsecond';
      end if;
      if v_cut < v_stretch.slot_count then
        v_plan.missed := coalesce(v_plan.missed, '{}')
          + tstzmultirange(tstzrange(v_slot, v_stretch.last_slot, '[]'));
      end if;
      v_seen := greatest(v_seen, v_stretch.last_slot);
    end loop;
    -- These are decided, even if the slot before them waits.
    v_plan.seen_until := greatest(v_plan.seen_until, v_seen);
    if v_on_missed = 'spread' then
      v_plan.spread_next_at := p_now;
      v_plan.spread_step := p_schedule.spread_window_ms::double precision / greatest(v_keep, 1)
        * interval '1 millisecond';
    end if;
  end if;

  v_slot := p_schedule.next_run_at;
  loop
    -- Skip the slots that were dropped while this schedule waited.
    if v_plan.dropped @> v_slot then
      select upper(r) into v_slot from unnest(v_plan.dropped) as r where r @> v_slot;
      v_slot := lenses.fn_next_slot(
        p_schedule.cron_spec, p_schedule.timezone, p_schedule.interval_ms, p_schedule.created_at,
        p_schedule.start_at, p_schedule.end_at, v_slot);
      continue;
    end if;
    exit when v_slot is null;
    v_due := greatest(
      v_due, lenses.fn_slot_due(p_schedule.id, v_slot, p_schedule.jitter_ms));
    exit when v_due > p_now or cardinality(v_plan.slots) >= p_cap;
    v_is_missed := coalesce(v_plan.missed @> v_slot, false);
    v_plan.slots := v_plan.slots || row(
      p_schedule.id, v_slot, v_due, v_is_missed,
      case when v_is_missed then v_plan.spread_next_at end)::lenses.slot_candidate;
    if v_is_missed then
      v_plan.spread_next_at := v_plan.spread_next_at + v_plan.spread_step;
    end if;
    v_plan.seen_until := greatest(v_plan.seen_until, v_slot);
    v_slot := lenses.fn_next_slot(
      p_schedule.cron_spec, p_schedule.timezone, p_schedule.interval_ms, p_schedule.created_at,
      p_schedule.start_at, p_schedule.end_at, v_slot);
  end loop;
  v_plan.next_slot := v_slot;
  v_plan.next_due_at := case when v_slot is not null then v_due end;
  if v_due <= p_now and v_slot is not null then
    select greatest(v_plan.seen_until, v_seen, d.last_slot) into v_plan.seen_until
    from lenses.fn_slots_due_before(
      p_schedule, greatest(v_seen, v_slot - interval '1 microsecond'), p_now) as d;
  end if;
  return v_plan;
end;
$$;
