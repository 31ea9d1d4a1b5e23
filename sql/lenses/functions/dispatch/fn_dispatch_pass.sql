-- owner: lf_sql_engine
-- One batch of a tick: takes up to p_limit due schedules by the due index and handles all that is due of
-- them, the caps apart; what this tick has taken it does not take again. Returns how many it took; 0
-- when nothing is left.
-- Locks: due row and schedule row, both or neither, SKIP LOCKED: it never waits for a user, and a
-- user's change of the same moment stands. Schedules with nothing late come first, without
-- conditions before those with (a slow signal delays its like only); both others come in smaller
-- batches, since each schedule may hold many slots or ask many questions.
-- The planner settings hold for all that is done below: a batch is look-ups by key, and must stay so
-- whatever the statistics say of the moment.
create or replace function lenses.fn_dispatch_pass(
  p_tick_id bigint,
  p_now timestamptz,
  p_limit integer,
  p_max_catchup integer
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  v_settings lenses.dispatch_settings;
  v_fresh_from timestamptz;
  v_phase text;
  v_ids uuid[];
  v_left uuid[];
begin
  select d.* into v_settings from lenses.dispatch_settings as d;
  v_fresh_from := p_now - v_settings.missed_grace;
  foreach v_phase in array array['fresh', 'conditional', 'late'] loop
    v_ids := array(
      select d.schedule_id
      from lenses.schedule_due as d
      inner join lenses.workflow_schedules as s on s.id = d.schedule_id
      where d.due_at between
        case when v_phase = 'late' then '-infinity' else v_fresh_from end
        and case when v_phase = 'late' then v_fresh_from else p_now end
        and s.is_active
        and (v_phase = 'late'
          or (s.pre_dispatch_condition is not null) = (v_phase = 'conditional'))
        and s.tick_id is distinct from p_tick_id
      order by d.due_at
      limit case when v_phase = 'fresh' then p_limit else greatest(p_limit / 10, 1) end
      for no key update of d, s skip locked);
    exit when cardinality(v_ids) > 0;
  end loop;

  -- Each round handles at least a slot of each schedule that is left, so these are enough.
  v_left := v_ids;
  for v_round in 1 .. p_max_catchup loop
    exit when cardinality(v_left) = 0;
    perform lenses.fn_dispatch_isolating(
      v_left, p_tick_id, p_now, p_max_catchup, p_max_catchup);
    v_left := array(
      select s.id
      from lenses.workflow_schedules as s
      where s.id = any (v_left) and s.due_at <= p_now
        and s.tick_id = p_tick_id and s.tick_slots < p_max_catchup);
  end loop;
  return cardinality(v_ids);
end
$$;
