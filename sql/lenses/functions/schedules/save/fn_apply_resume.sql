-- owner: lf_sql_engine
-- The row of a schedule whose pause ends: slots that passed since are late, without missed_grace.
-- Where onMissed drops them this does it and logs it, so that no past slot is left; the other
-- choices are left to the next tick, and nothing is where no slot has passed: then p_on_missed of
-- the resume must not govern a later outage. A pause with an end was over at that end; the tick,
-- which sets missed_before itself, decides on its own.
create or replace function lenses.fn_apply_resume(
  p_schedule lenses.workflow_schedules,
  p_old lenses.workflow_schedules,
  p_now timestamptz
)
returns lenses.workflow_schedules
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_settings lenses.dispatch_settings;
  v_plan lenses.slot_plan;
begin
  if p_schedule.missed_before is distinct from p_old.missed_before then
    return p_schedule;
  end if;
  p_schedule.missed_before := least(p_now, p_old.paused_until);
  select d.* into v_settings from lenses.dispatch_settings as d;
  if coalesce(p_schedule.missed_override, p_schedule.on_missed, v_settings.default_on_missed)
    <> 'skip' or p_schedule.next_run_at is null then
    if lenses.fn_has_zone(p_schedule.timezone)
      and lenses.fn_late_stretches(p_schedule, p_now, v_settings.missed_grace) = '{}' then
      p_schedule.missed_before := null;
      p_schedule.missed_override := null;
    end if;
    return p_schedule;
  end if;
  v_plan := lenses.fn_plan_slots(
    p_schedule, p_now, v_settings.missed_grace, 0, v_settings.default_on_missed);
  if v_plan.dropped_count > 0 then
    perform lenses.fn_log_missed(
      p_schedule.lenser_id, p_schedule.id, v_plan.dropped_count, v_plan.dropped_first,
      v_plan.dropped_last, p_now);
    perform lenses.fn_emit_missed(array[v_plan], p_now);
    p_schedule.last_dispatch_status := 'skipped_missed';
  end if;
  p_schedule.next_run_at := v_plan.next_slot;
  p_schedule.dropped := nullif(
    v_plan.dropped * tstzmultirange(tstzrange(v_plan.next_slot, null)), '{}');
  -- A slot still to come was seen only if it was before the pause.
  p_schedule.seen_until := case
    when v_plan.next_slot <= p_now and v_plan.seen_until >= v_plan.next_slot
      then v_plan.seen_until
    when p_schedule.seen_until >= v_plan.next_slot then p_schedule.seen_until
  end;
  p_schedule.missed_before := null;
  p_schedule.missed_override := null;
  return p_schedule;
end;
$$;
