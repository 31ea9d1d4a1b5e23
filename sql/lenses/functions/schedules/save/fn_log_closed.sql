-- owner: lf_sql_engine
-- A change of a calendar may close dates on which slots of a schedule wait behind the one that is
-- due: where slots move back off closed dates ("before"), theirs lie before it now, and nothing
-- comes to them any more. Logs them, in one row. Slots that move on ("after") still come.
create or replace function lenses.fn_log_closed(
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
  v_first constant date := (p_schedule.next_run_at at time zone p_old.timezone)::date;
  v_last constant date := (p_now at time zone p_old.timezone)::date;
  v_lost record;
begin
  select count(*) as slots, min(m.origin) as first, max(m.origin) as last into v_lost
  from lenses.fn_calendar_changes(p_old, p_new, v_first, v_last) as d
  cross join lateral lenses.fn_cron_moves(
    p_schedule.cron_spec, p_schedule.timezone,
    greatest(
      d.day::timestamp at time zone p_old.timezone - interval '1 microsecond',
      p_schedule.next_run_at),
    least(
      (d.day + 1)::timestamp at time zone p_old.timezone - interval '1 microsecond', p_now)
  ) as m
  where d.was_open and not d.is_open
    and m.slot <= p_schedule.next_run_at
    and (p_schedule.start_at <= m.origin) is not false
    and (m.origin <= p_schedule.end_at) is not false
    and (p_schedule.dropped @> m.origin) is not true
    and not exists (
      select from lenses.workflow_runs as r
      where r.schedule_id = p_schedule.id and r.scheduled_for = m.origin);
  if v_lost.slots > 0 then
    perform lenses.fn_log_missed(
      p_schedule.lenser_id, p_schedule.id, v_lost.slots, v_lost.first, v_lost.last, p_now,
      'schedule_edited');
  end if;
end;
$$;
