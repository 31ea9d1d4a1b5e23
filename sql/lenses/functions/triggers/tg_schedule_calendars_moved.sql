-- owner: lf_sql_engine
-- When a calendar changes, slots that move off its closed dates move elsewhere: recomputes the next
-- slots of such schedules, of this calendar and of those whose rules refer to it. A slot that is
-- already due stays. Slots whose new place has passed are given up, and the log says so, also of
-- those that wait behind one that is due. Seeds do not change.
create or replace function lenses.tg_schedule_calendars_moved()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_ids uuid[] := array[new.id];
  v_more uuid[];
  v_now timestamptz := greatest(now(), clock_timestamp());
  v_moved record;
  v_schedule lenses.workflow_schedules;
begin
  loop
    v_more := array(
      select c.id from lenses.schedule_calendars as c
      where c.lenser_id = new.lenser_id and c.id <> all (v_ids)
        and lenses.fn_calendar_references(c.rules) && v_ids);
    exit when v_more = '{}';
    v_ids := v_ids || v_more;
  end loop;
  perform from lenses.workflow_schedules as m
  where m.calendar_id = any (v_ids) and m.lenser_id = new.lenser_id and m.on_holiday <> 'skip'
  order by m.id
  for no key update;
  for v_moved in
    with moved as materialized (
      select m.id, m.is_active or m.paused_at is not null as is_owed
      from lenses.workflow_schedules as m
      where m.calendar_id = any (v_ids) and m.lenser_id = new.lenser_id and m.on_holiday <> 'skip'
        and (m.next_run_at > v_now or m.next_run_at is null)
    )

    update lenses.workflow_schedules as s
    set next_run_at = null
    from moved as m
    where s.id = m.id
    returning s as schedule, m.is_owed
  loop
    v_schedule := v_moved.schedule;
    -- What a calendar that refers to this one had open before is not known.
    if v_moved.is_owed and v_schedule.calendar_id = new.id
      and lenses.fn_has_zone(v_schedule.timezone) then
      perform lenses.fn_log_moved(v_schedule, old, new, v_now);
    end if;
  end loop;
  for v_schedule in
    select m.*
    from lenses.workflow_schedules as m
    where m.calendar_id = new.id and m.lenser_id = new.lenser_id and m.on_holiday = 'before'
      and m.next_run_at <= v_now and (m.is_active or m.paused_at is not null)
  loop
    if lenses.fn_has_zone(v_schedule.timezone) then
      perform lenses.fn_log_closed(v_schedule, old, new, v_now);
    end if;
  end loop;
  return null;
end;
$$;

comment on function lenses.tg_schedule_calendars_moved() is
  'Recomputes the next slots that a changed calendar moves, and logs those that it moves into '
  'the past.';
