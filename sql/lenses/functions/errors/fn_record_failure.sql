-- owner: lf_sql_engine
-- The slot at hand of a schedule failed. It is tried again after 1, 2, 4 and 8 minutes; the fifth
-- failure uses it up. Where the zone has left the server the slot is dispatched without looking for
-- a next one, and the schedule waits for the zone. What cannot even be recorded is raised as a
-- warning, and the schedule looked at in the next minute.
create or replace function lenses.fn_record_failure(
  p_schedule_id uuid,
  p_tick_id bigint,
  p_now timestamptz,
  p_state text,
  p_message text
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_settings lenses.dispatch_settings;
  v_schedule lenses.workflow_schedules;
  v_plan lenses.slot_plan;
  v_error text := p_state || ': ' || left(p_message, 1000);
  v_failures integer;
  v_is_used_up boolean;
begin
  select d.* into v_settings from lenses.dispatch_settings as d;
  select s.* into v_schedule from lenses.workflow_schedules as s where s.id = p_schedule_id;
  if p_state = '22023' and v_schedule.interval_ms is null
    and not lenses.fn_has_zone(v_schedule.timezone) then
    perform lenses.fn_dispatch_schedules(array[p_schedule_id], p_tick_id, p_now, 1, 1, true);
    update lenses.schedule_due as x set awaits_zone = left(v_schedule.timezone, 200)
    where x.schedule_id = p_schedule_id and x.due_at is null;
    return;
  end if;

  v_plan := lenses.fn_plan_slots(
    v_schedule, p_now, v_settings.missed_grace, 1, v_settings.default_on_missed);
  if v_plan.dropped_count > 0 then
    perform lenses.fn_log_missed(
      v_schedule.lenser_id, v_schedule.id, v_plan.dropped_count, v_plan.dropped_first,
      v_plan.dropped_last, p_now);
    perform lenses.fn_emit_missed(array[v_plan], p_now);
  end if;
  v_failures := v_schedule.failure_count + 1;
  v_is_used_up := v_failures >= 5;
  if v_is_used_up then
    insert into agents.action_logs (lenser_id, schedule_id, action_type, payload, occurred_at)
    values (v_schedule.lenser_id, v_schedule.id, 'schedule_failed', jsonb_build_object(
      'reason', 'dispatch_failed', 'scheduled_for', v_plan.slots[1].slot, 'detail', v_error,
      'attempts', v_failures), p_now);
  end if;
  if lenses.fn_wants_event('schedule.dispatch_failed') then
    perform lenses.fn_emit_events('schedule.dispatch_failed', jsonb_build_array(jsonb_build_object(
      'lenser_id', v_schedule.lenser_id, 'schedule_id', v_schedule.id, 'data', jsonb_build_object(
        'scheduled_for', v_plan.slots[1].slot, 'cause', 'dispatch_failed', 'error', v_error,
        'attempt', v_failures, 'is_given_up', v_is_used_up))), p_now);
  end if;

  update lenses.workflow_schedules as s
  set
    next_run_at = case when v_is_used_up then v_plan.next_slot
      else coalesce(v_plan.slots[1].slot, s.next_run_at) end,
    due_at = case when v_is_used_up then v_plan.next_due_at
      else p_now + (1 << (v_failures - 1)) * interval '1 minute' end,
    is_deferred = false,
    failure_count = case when v_is_used_up then 0 else v_failures end,
    last_dispatch_status = 'dispatch_failed',
    last_error_at = p_now,
    last_error_message = v_error,
    dispatch_seq = s.dispatch_seq + 1,
    tick_id = p_tick_id,
    tick_slots = case when s.tick_id = p_tick_id then s.tick_slots else 0 end + 1,
    seen_until = case when v_is_used_up and not v_plan.seen_until >= v_plan.next_slot then null
      else v_plan.seen_until end,
    missed_before = null,
    missed = v_plan.missed,
    dropped = v_plan.dropped,
    spread_next_at = v_plan.spread_next_at,
    spread_step = v_plan.spread_step
  where s.id = p_schedule_id;

  update lenses.schedule_due as x
  set due_at = s.due_at, is_backlog = s.missed is not null
  from lenses.workflow_schedules as s
  where s.id = p_schedule_id and x.schedule_id = s.id;

  update lenses.dispatch_ticks as t
  set due = t.due + 1, failed = t.failed + 1,
    skipped = lenses.fn_add_counts(t.skipped, case when v_plan.dropped_count > 0
      then jsonb_build_object('missed', v_plan.dropped_count) else '{}' end)
  where t.id = p_tick_id;
exception
  when others or assert_failure then
    if lenses.fn_is_server_error(sqlstate) then
      raise;
    end if;
    raise warning 'lf-sql: schedule % failed (%), and recording it failed too: % %',
      p_schedule_id, v_error, sqlstate, sqlerrm;
    begin
      update lenses.schedule_due as x set due_at = p_now + interval '1 minute'
      where x.schedule_id = p_schedule_id;
    exception
      when others or assert_failure then
        if lenses.fn_is_server_error(sqlstate) then
          raise;
        end if;
        raise warning 'lf-sql: schedule % cannot be put off: % %',
          p_schedule_id, sqlstate, sqlerrm;
    end;
end;
$$;
