-- owner: lf_sql_engine
-- Why a schedule fires, fired or does not in the minute of p_at; changes nothing. What it judges is
-- the slot within that minute, which may have seconds: next_run_at where it lies there, on the rule
-- or not, else the rule's own.
create or replace function lenses.fn_explain_schedule(p_schedule_id uuid, p_at timestamptz)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  c_wall constant text := 'Dy YYYY-MM-DD HH24:MI';
  v_schedule lenses.workflow_schedules;
  v_settings lenses.dispatch_settings;
  v_at timestamptz := to_timestamp(floor(extract(epoch from p_at) / 60) * 60);
  v_until timestamptz := v_at + interval '1 minute';
  v_rule_slot timestamptz;
  v_slot timestamptz;
  v_is_next boolean;
  v_zone text;
  v_rule jsonb;
  v_guards jsonb;
  v_entry lenses.schedule_slots;
  v_ledger jsonb;
  v_moved timestamptz[];
  v_moved_to timestamptz;
  v_next timestamptz;
  v_is_in_window boolean;
  v_verdict text;
  v_because text;
  v_unmet text;
  v_decision text;
  v_reason text;
  v_detail text;
begin
  select s.* into v_schedule from lenses.workflow_schedules as s where s.id = p_schedule_id;
  if not found then
    return null;
  elsif p_at is null then
    raise exception using
      errcode = '22023',
      column = 'at',
      message = 'p_at is missing',
      hint = 'Give the minute to explain, such as 2026-11-26 08:30-05.';
  end if;
  perform lenses.fn_check_instant(p_at, 'p_at');
  v_zone := case when v_schedule.cron_expr is null then 'UTC' else v_schedule.timezone end;
  select d.* into v_settings from lenses.dispatch_settings as d;
  -- The first slot of an interval is its start, so that no slot lies before its window.
  v_rule_slot := lenses.fn_next_slot(
    v_schedule.cron_spec, v_schedule.timezone, v_schedule.interval_ms, v_schedule.created_at,
    case when v_schedule.interval_ms is not null then v_schedule.start_at end, null,
    v_at - interval '1 microsecond');
  if v_rule_slot >= v_until then
    v_rule_slot := null;
  end if;
  v_is_next := coalesce(
    v_schedule.next_run_at >= v_at and v_schedule.next_run_at < v_until, false);
  v_slot := case when v_is_next then v_schedule.next_run_at else v_rule_slot end;
  v_is_in_window := coalesce(v_schedule.start_at <= v_slot, v_schedule.start_at < v_until, true)
    and coalesce(v_schedule.end_at >= coalesce(v_slot, v_at), true);
  v_rule := jsonb_build_object(
    'type', v_schedule.schedule_type,
    'expression', coalesce(
      v_schedule.cron_expr, lenses.fn_interval_period(v_schedule.interval_ms),
      v_schedule.run_at::text),
    'timezone', v_zone,
    'wall_time', to_char(v_at at time zone v_zone, c_wall),
    'is_slot', v_rule_slot is not null)
    || case when v_schedule.cron_expr is null then '{}'
      else lenses.fn_explain_cron(v_schedule.cron_expr, v_zone, v_at) end;

  select l.* into v_entry
  from lenses.schedule_slots as l
  where l.schedule_id = v_schedule.id and l.run_at < v_until and l.run_at_last >= v_at
    -- a row about many slots is about these slots only, not the minutes between them
    and (
      v_rule_slot between l.run_at and l.run_at_last or l.run_at >= v_at or l.run_at_last < v_until)
  order by (l.run_id is not null) desc, l.created_at desc
  limit 1;
  if found then
    v_ledger := jsonb_strip_nulls(jsonb_build_object(
      'status', v_entry.status, 'reason', v_entry.reason, 'run_id', v_entry.run_id,
      'slot', v_entry.run_at, 'slot_count', v_entry.slot_count,
      'recorded_at', v_entry.created_at));
  end if;
  if v_slot is not null and (v_is_in_window or v_is_next) then
    v_guards := lenses.fn_explain_guards(v_schedule, v_slot, now());
    if v_ledger is null then
      -- the tick's own judge, as the preview asks it
      select d.decision, d.reason, coalesce(g.value ->> 'detail', d.detail)
      into v_decision, v_reason, v_detail
      from lenses.fn_evaluate_slots(
        array[row(v_schedule.id, v_slot, v_slot, false, null)::lenses.slot_candidate], now(),
        'preview') as d
      left join jsonb_array_elements(v_guards) as g on g.value ->> 'reason' = d.reason;
      -- and its own word on what is late
      if v_schedule.is_active and v_schedule.due_at <= now() and (
        lenses.fn_plan_slots(
          v_schedule, now(), v_settings.missed_grace, 1, v_settings.default_on_missed)
      ).dropped @> v_slot then
        v_decision := 'skip';
        v_reason := 'missed';
        v_detail := 'it is late, and onMissed drops it';
      end if;
    elsif v_entry.status = 'DEFERRED' then
      select ': ' || (g.value ->> 'detail') into v_detail
      from jsonb_array_elements(v_guards) as g
      where g.value ->> 'reason' = v_entry.reason and not (g.value ->> 'is_met')::boolean;
    end if;
  end if;
  if v_rule_slot is not null and v_slot = v_rule_slot then
    v_moved := lenses.fn_cron_moved_from(v_schedule.cron_spec, v_zone, v_slot);
  end if;
  if v_slot is null and (v_schedule.cron_spec).day_rule > 15 then
    select m.slot into v_moved_to
    from lenses.fn_cron_moves(
      v_schedule.cron_spec, v_zone, v_at - interval '1 microsecond', v_at) as m
    limit 1;
  end if;
  select string_agg(format('%s wants %s, it is %s', f ->> 'field', f ->> 'wants', f ->> 'value'),
    '; ' order by place)
  into v_unmet
  from jsonb_array_elements(v_rule -> 'fields') with ordinality as x (f, place)
  where not (f ->> 'is_met')::boolean
    and not (f ->> 'field' like 'day of %' and v_rule ->> 'days_joined_by' = 'or' and exists (
      select from jsonb_array_elements(v_rule -> 'fields') as o (f)
      where o.f ->> 'field' like 'day of %' and (o.f ->> 'is_met')::boolean));

  v_verdict := case
    when v_entry.run_id is not null then 'fired'
    when v_ledger is not null then case v_entry.status
      when 'SKIPPED' then 'skipped' when 'FAILED' then 'failed' else 'waiting' end
    when v_moved_to is not null then 'moved'
    when v_slot is null then 'no_slot'
    -- the tick takes next_run_at as it is, wherever it lies
    when not v_is_in_window and not v_is_next then 'outside_window'
    when v_slot < v_schedule.created_at and not v_is_next then 'before_creation'
    when not v_schedule.is_active and v_schedule.paused_at is null then 'disabled'
    when not v_schedule.is_active and coalesce(v_schedule.paused_until > v_slot, true)
      then 'paused'
    when v_schedule.next_run_at > v_slot then 'not_recorded'
    when v_schedule.next_run_at is null then 'finished'
    when v_settings.is_frozen then 'frozen'
    when v_decision = 'defer' then 'would_wait'
    when v_decision = 'skip' then 'would_skip'
    else 'fires' end;
  v_because := case v_verdict
    when 'fired' then format('the slot was dispatched; its run: %s', coalesce((
      select replace(r.status, '_', ' ') from lenses.workflow_runs as r where r.id = v_entry.run_id
    ), 'not kept any more'))
    when 'skipped' then format('the slot was skipped: %s%s', v_entry.reason, case
      when v_entry.reason = 'calendar' then ' (' || (v_guards -> 1 ->> 'detail') || ')'
      when v_entry.slot_count > 1 then format(
        ', with %s others', v_entry.slot_count - 1) else '' end)
    when 'failed' then format('the slot was used up by failures: %s', v_entry.reason)
    when 'waiting' then format('the slot waits: %s%s', v_entry.reason, v_detail)
    when 'moved' then format('calendar %s closes that date, so the slot moves to %s', (
      select c.name from lenses.schedule_calendars as c where c.id = v_schedule.calendar_id),
      to_char(v_moved_to at time zone v_zone, c_wall))
    when 'no_slot' then coalesce(v_unmet, 'the rule has no slot in this minute')
    when 'outside_window' then format('the window is %s to %s',
      coalesce(to_char(v_schedule.start_at at time zone v_zone, c_wall
        || case when extract(second from v_schedule.start_at) > 0 then ':SS' else '' end), 'open'),
      coalesce(to_char(v_schedule.end_at at time zone v_zone, c_wall
        || case when extract(second from v_schedule.end_at) > 0 then ':SS' else '' end), 'open'))
    when 'before_creation' then format('the schedule was created later, at %s',
      to_char(v_schedule.created_at at time zone v_zone, c_wall))
    when 'disabled' then 'the schedule is not active'
    when 'paused' then format('the schedule is paused since %s%s%s',
      to_char(v_schedule.paused_at at time zone v_zone, c_wall),
      coalesce(', until ' || to_char(v_schedule.paused_until at time zone v_zone, c_wall), ''),
      coalesce(': ' || v_schedule.pause_note, ''))
    when 'not_recorded' then format('nothing is recorded of this slot; the next one is %s: %s',
      to_char(v_schedule.next_run_at at time zone v_zone, c_wall), case
        when v_slot > now() then 'the slots before it are passed over'
        else 'the schedule was edited, paused or not there when it was due' end)
    when 'frozen' then format('dispatching is frozen%s; onMissed decides afterwards about what is '
      'late', coalesce(': ' || v_settings.frozen_reason, ''))
    when 'finished' then 'the schedule has no slot left'
    when 'would_wait' then format('the slot would wait now: %s (%s)', v_reason, v_detail)
    when 'would_skip' then format('the slot would be skipped now: %s%s', v_reason,
      coalesce(' (' || v_detail || ')', ''))
    else case
      when v_rule_slot is distinct from v_slot then 'next_run_at was set to this minute, which is '
        'no slot of the rule, and every guard allows it'
      else 'the rule has a slot in this minute and every guard allows it' end end;
  v_next := lenses.fn_next_slot(
    v_schedule.cron_spec, v_schedule.timezone, v_schedule.interval_ms, v_schedule.created_at,
    v_schedule.start_at, v_schedule.end_at, v_until - interval '1 microsecond');
  return jsonb_build_object(
    'schedule_id', v_schedule.id,
    'schedule', lenses.fn_schedule_label(v_schedule.name, v_schedule.description, (
      select w.title from lenses.workflows as w where w.id = v_schedule.workflow_id)),
    'at', v_at,
    'slot', v_slot,
    'verdict', v_verdict,
    'because', v_because,
    'rule', v_rule,
    'clock_change', lenses.fn_explain_clock(v_zone, v_at),
    'moved_from', to_jsonb(v_moved),
    'moved_to', v_moved_to,
    'window', jsonb_build_object(
      'start_at', v_schedule.start_at, 'end_at', v_schedule.end_at, 'is_met', v_is_in_window),
    'pause', jsonb_build_object(
      'is_active', v_schedule.is_active, 'paused_at', v_schedule.paused_at,
      'paused_until', v_schedule.paused_until, 'note', v_schedule.pause_note),
    'guards', v_guards,
    'policies', lenses.fn_effective_policies(v_schedule),
    'ledger', v_ledger,
    'slot_before', lenses.fn_previous_slot(v_schedule, v_at),
    'slot_after', v_next);
end;
$$;

comment on function lenses.fn_explain_schedule(uuid, timestamptz) is
  'Why a schedule fires, fired or does not in the minute of p_at, as jsonb: schedule_id, schedule '
  '(name, else description, else title), verdict (fired, skipped, failed, waiting, moved, '
  'no_slot, outside_window, before_creation, disabled, paused, not_recorded, finished, frozen, '
  'would_wait, would_skip, fires), because (one sentence), at (the minute), slot (the instant '
  'within it that is judged), rule (type, expression, timezone, wall_time, is_slot and for cron '
  'each field with wants, value, is_met), clock_change within a day, moved_from, moved_to, '
  'window, pause, guards as they stand now, policies as they hold now, ledger (what was '
  'recorded), slot_before and slot_after. NULL for an unknown schedule. 22023: p_at is no instant '
  'of the years 1970 to 9999.';
