-- owner: lf_sql_engine
-- Handles what is due of the given schedules, which the caller has locked: plan, judge, insert
-- runs, log, advance; set-wise and all or nothing. p_cap bounds the slots of a schedule in this
-- pass, p_max_catchup in the whole tick. p_is_zone_lost: the server has lost the zone, so the
-- current slot is the last until the schedule is saved again. It adds its figures to the tick's
-- row, and raises whatever error a schedule's own data raise. Slots that have a run already are
-- rare, so it judges and inserts without looking for such runs first. It judges again with looking
-- where the insert has met one, and where a limit made a slot wait that may have one as well.
create or replace function lenses.fn_dispatch_schedules(
  p_schedule_ids uuid[],
  p_tick_id bigint,
  p_now timestamptz,
  p_cap integer,
  p_max_catchup integer,
  p_is_zone_lost boolean default false
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_plans lenses.slot_plan[];
  v_candidates lenses.slot_candidate[];
  v_decisions lenses.slot_decision[];
  v_mode text;
  v_to_insert integer;
  v_inserted integer;
  v_is_held boolean;
  v_held_elsewhere uuid[];
begin
  v_plans := lenses.fn_plan_due(
    p_schedule_ids, p_tick_id, p_now, p_cap, p_max_catchup, p_is_zone_lost);

  v_held_elsewhere := lenses.fn_lock_battle_quota(p_schedule_ids, false);

  v_candidates := array(
    select c from unnest(v_plans) as p cross join unnest(p.slots) as c);
  foreach v_mode in array array['optimistic', 'tick'] loop
    v_inserted := 0;
    v_decisions := array(
      select d from lenses.fn_evaluate_slots(v_candidates, p_now, v_mode) as d);
    v_decisions := lenses.fn_hold_slots(v_decisions);
    v_decisions := lenses.fn_defer_decisions(v_decisions, v_held_elsewhere);
    select
      count(*) filter (where d.decision = 'dispatch'),
      coalesce(bool_or(d.reason in ('wait', 'pending_quota')), false)
    into v_to_insert, v_is_held
    from unnest(v_decisions) as d;
    continue when v_is_held and v_mode = 'optimistic';
    exit when v_to_insert = 0;
    v_inserted := lenses.fn_insert_runs(
      v_decisions, p_now, 'schedule', p_looks => v_mode = 'tick');
    exit when v_inserted is not null;
  end loop;
  if v_inserted < v_to_insert then
    v_decisions := lenses.fn_resolve_conflicts(v_decisions, p_now);
  end if;
  if v_inserted > 0 then
    perform lenses.fn_replace_oldest_runs(v_decisions, p_now);
  end if;

  perform lenses.fn_log_decisions(v_decisions, v_plans, p_now);
  perform lenses.fn_advance_schedules(v_decisions, v_plans, p_tick_id, p_now, p_is_zone_lost);
  perform lenses.fn_count_figures(
    p_tick_id, p_now, cardinality(p_schedule_ids), v_decisions, v_plans);
end;
$$;
