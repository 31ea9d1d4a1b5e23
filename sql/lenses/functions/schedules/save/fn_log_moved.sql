-- owner: lf_sql_engine
-- A change of a calendar may move slots that lay ahead into the past: logs those of a schedule, in
-- one row. Such a slot lay after p_now by p_old, and lies at or before it by p_new. The open dates
-- next to today decide: slots that move on ("after") come from the dates behind the last open one,
-- those that move back ("before") from today and later.
create or replace function lenses.fn_log_moved(
  p_schedule lenses.workflow_schedules,
  p_old lenses.schedule_calendars,
  p_new lenses.schedule_calendars,
  p_now timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_is_back constant boolean := (p_schedule.cron_spec).day_rule & 32 <> 0;
  v_today constant date := (p_now at time zone p_old.timezone)::date;
  v_was_open boolean;
  v_was_near date;
  v_is_near date;
  v_lost record;
begin
  -- the nearest other open date in the direction that slots come from, before and now
  select
    bool_or(d.day = v_today and d.was_open),
    case when v_is_back then min(d.day) filter (where d.was_open and d.day > v_today)
      else max(d.day) filter (where d.was_open and d.day < v_today) end,
    min(d.day) filter (where d.is_open and d.day > v_today)
  into v_was_open, v_was_near, v_is_near
  from lenses.fn_calendar_changes(p_old, p_new, v_today - 32, v_today + 32) as d;

  select count(distinct m.slot) as slots, min(m.slot) as first, max(m.slot) as last into v_lost
  from lenses.fn_cron_moves(
    p_schedule.cron_spec, p_schedule.timezone,
    case when v_is_back then v_today::timestamp at time zone p_old.timezone
      else (coalesce(v_was_near, v_today - 32) + 1)::timestamp at time zone p_old.timezone
    end - interval '1 microsecond',
    -- a day more, in case the zones of the two calendars differ
    case when v_is_back
      then (coalesce(v_is_near, v_today + 32) + 1)::timestamp at time zone p_old.timezone
      else p_now end
  ) as m
  cross join lateral (select (m.origin at time zone p_old.timezone)::date as day) as f
  where m.slot <= p_now and m.slot > p_schedule.created_at
    and (p_schedule.start_at <= m.slot) is not false
    and (m.slot <= p_schedule.end_at) is not false
    and case
      when v_is_back and f.day >= coalesce(v_was_near, v_today + 32) then true
      when v_was_open then p_now < (
        (m.origin at time zone p_schedule.timezone) + (v_today - f.day) * interval '1 day'
      ) at time zone p_schedule.timezone
      else not v_is_back
    end
    and not exists (
      select from lenses.workflow_runs as r
      where r.schedule_id = p_schedule.id and r.scheduled_for = m.slot)
    and not exists (
      select from agents.action_logs as a
      where a.schedule_id = p_schedule.id and a.occurred_at >= m.slot - interval '1 day'
        and m.slot between coalesce(
          (a.payload #>> '{detail,first}')::timestamptz,
          (a.payload ->> 'scheduled_for')::timestamptz)
        and (a.payload ->> 'scheduled_for')::timestamptz);
  if v_lost.slots > 0 then
    perform lenses.fn_log_missed(
      p_schedule.lenser_id, p_schedule.id, v_lost.slots, v_lost.first, v_lost.last, p_now,
      'schedule_edited');
  end if;
end;
$$;
