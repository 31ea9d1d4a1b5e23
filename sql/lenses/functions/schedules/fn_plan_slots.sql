-- What is due of one schedule at p_now: decides about late slots once (they are seen now for the first
-- time), lists up to p_cap due slots in order, and gives the state of the backlog behind them.
-- Late slots are counted and jumped over, never walked: a gap of years costs what a day does.
-- A slot's effective due time is never before that of the slot before it, since slots go in order.
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
  v_late_before timestamptz := least(
    p_now, greatest(p_now - p_missed_grace, p_schedule.missed_before));
  -- Unseen are the slots after v_seen, and next_run_at itself (written explicitly it may be none of
  -- the rule's) where nothing is seen yet: v_extra.
  v_seen timestamptz := greatest(p_schedule.next_run_at, p_schedule.seen_until);
  v_extra integer := (p_schedule.seen_until is null)::integer;
  v_on_missed text := coalesce(
    case when p_schedule.missed_before is not null then p_schedule.missed_override end,
    p_schedule.on_missed, p_default_on_missed);
  v_gap record;
  v_late_count bigint := 0;
  v_late_last timestamptz;
  v_keep bigint;
  v_first timestamptz;
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

  if p_schedule.seen_until is not null then
    -- Ticks went on while an older slot waited: only what fell into a gap between them is late.
    select min(g.started_at) as from_at, max(g.next_at) as until_at into v_gap
    from (
      select t.started_at, lead(t.started_at, 1, p_now) over (order by t.started_at) as next_at
      from lenses.dispatch_ticks as t
      where t.id >= p_schedule.tick_id and t.started_at < p_now
    ) as g
    where g.next_at - g.started_at > p_missed_grace;
    v_late_before := least(p_now, greatest(
      coalesce(v_gap.until_at - p_missed_grace, '-infinity'), p_schedule.missed_before));
    if v_gap.from_at is not null then
      select greatest(v_seen, d.last_slot) into v_seen
      from lenses.fn_slots_due_before(p_schedule, v_seen, v_gap.from_at) as d;
    end if;
  end if;

  if v_extra = 0 or lenses.fn_slot_due(
    p_schedule.id, p_schedule.next_run_at, p_schedule.jitter_ms) < v_late_before then
    select d.slot_count + v_extra, coalesce(d.last_slot, v_seen) into v_late_count, v_late_last
    from lenses.fn_slots_due_before(
      p_schedule, v_seen, v_late_before - interval '1 microsecond') as d;
  end if;
  if v_late_count > 0 then
    v_keep := least(v_late_count, case v_on_missed
      when 'skip' then 0 when 'run_once' then 1 else p_schedule.max_backfill end);
    v_first := case v_extra when 1 then p_schedule.next_run_at
      else lenses.fn_nth_slot(p_schedule, v_seen, 1) end;
    if v_keep < v_late_count then
      v_plan.dropped_count := v_late_count - v_keep;
      v_plan.dropped_first := v_first;
      v_plan.dropped_last := case
        when v_keep = 0 then v_late_last
        when v_plan.dropped_count = v_extra then p_schedule.next_run_at
        else lenses.fn_nth_slot(p_schedule, v_seen, v_plan.dropped_count - v_extra) end;
      v_plan.dropped := coalesce(v_plan.dropped, '{}') + pg_catalog.tstzmultirange(
        pg_catalog.tstzrange(v_first, v_plan.dropped_last, '[]'));
      v_first := v_plan.dropped_last + interval '1 microsecond';
    end if;
    if v_keep > 0 then
      v_plan.missed := coalesce(v_plan.missed, '{}') + pg_catalog.tstzmultirange(
        pg_catalog.tstzrange(v_first, v_late_last, '[]'));
      if v_on_missed = 'spread' then
        v_plan.spread_next_at := p_now;
        v_plan.spread_step :=
          p_schedule.spread_window_ms::double precision / v_keep * interval '1 millisecond';
      end if;
    end if;
  end if;

  v_slot := p_schedule.next_run_at;
  loop
    -- Jump over what was dropped while this schedule waited.
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
    select greatest(v_plan.seen_until, d.last_slot) into v_plan.seen_until
    from lenses.fn_slots_due_before(
      p_schedule, greatest(v_seen, v_slot - interval '1 microsecond'), p_now) as d;
  end if;
  return v_plan;
end
$$;
