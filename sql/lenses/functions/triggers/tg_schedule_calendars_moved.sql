-- owner: lf_sql_engine
-- When a calendar changes, slots that move off its closed dates move elsewhere: recomputes the next
-- slots of such schedules, of this calendar and of those whose rules refer to it. A slot that is
-- already due stays. Slots whose new place has passed are given up, and the log says so. Seeds do
-- not change.
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
  v_today constant date := v_now::date;
  -- The first date near now that has changed: a slot moves by 31 days at most. Two days are for
  -- zones.
  v_changed constant date := case
    when (new.kind, new.timezone) <> (old.kind, old.timezone)
      or lenses.fn_is_changed(new.rules, old.rules) then v_today - 33
    else (
      select min(d.day)
      from unnest(new.dates || old.dates) as d (day)
      where d.day between v_today - 33 and v_today + 33
        and (d.day = any (new.dates)) <> (d.day = any (old.dates)))
  end;
  v_moved record;
  v_open date;
  v_lost record;
begin
  loop
    v_more := array(
      select c.id from lenses.schedule_calendars as c
      where c.lenser_id = new.lenser_id and c.id <> all (v_ids)
        and lenses.fn_calendar_references(c.rules) && v_ids);
    exit when v_more = '{}';
    v_ids := v_ids || v_more;
  end loop;
  for v_moved in
    with moved as materialized (
      select
        m.id, m.is_active or m.paused_at is not null as is_owed,
        greatest(
          m.created_at, m.updated_at, m.start_at - interval '1 microsecond') as since
      from lenses.workflow_schedules as m
      where m.calendar_id = any (v_ids) and m.lenser_id = new.lenser_id and m.on_holiday <> 'skip'
        and m.next_run_at > v_now
      order by m.id
      for no key update
    )

    update lenses.workflow_schedules as s
    set next_run_at = null
    from moved as m
    where s.id = m.id
    returning s.*, m.is_owed, m.since
  loop
    -- Whether a slot was owed before the schedule's last change is not known.
    continue when v_changed is null or not v_moved.is_owed
      or not lenses.fn_has_zone(v_moved.timezone);
    -- A slot comes to lie on a date that was closed, or on the newest open one.
    select max(o.day) into v_open
    from lenses.fn_calendar_window(
      v_moved.calendar_id, v_now - interval '35 days', v_now + interval '2 days') as c
    cross join generate_series(0, 31) as n
    cross join lateral (select (v_now at time zone c.timezone)::date - n as day) as o
    where (o.day = any (c.dates)) is distinct from c.is_skip;
    -- What has passed and was not handled has only now come to lie there.
    select count(*) as slots, min(c.slot) as first, max(c.slot) as last into v_lost
    from lenses.fn_cron_moved_between(
      v_moved.cron_spec, v_moved.timezone,
      greatest(v_moved.since, (least(v_changed, v_open, v_today) - 1)::timestamptz), v_now
    ) as c (slot)
    where (c.slot <= v_moved.end_at) is not false
      and not exists (
        select from lenses.workflow_runs as r
        where r.schedule_id = v_moved.id and r.scheduled_for = c.slot)
      and not exists (
        select from agents.action_logs as a
        where a.schedule_id = v_moved.id and a.occurred_at >= c.slot - interval '1 day'
          and c.slot between coalesce(
            (a.payload #>> '{detail,first}')::timestamptz,
            (a.payload ->> 'scheduled_for')::timestamptz)
          and (a.payload ->> 'scheduled_for')::timestamptz);
    if v_lost.slots > 0 then
      perform lenses.fn_log_missed(
        v_moved.lenser_id, v_moved.id, v_lost.slots, v_lost.first, v_lost.last, v_now,
        'schedule_edited');
    end if;
  end loop;
  return null;
end;
$$;

comment on function lenses.tg_schedule_calendars_moved() is
  'Recomputes the next slots that a changed calendar moves, and logs those that it moves into '
  'the past.';
