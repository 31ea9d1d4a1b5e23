-- owner: lf_sql_engine
-- When a calendar changes, slots that move off its closed dates move elsewhere: recomputes the next
-- slots of such schedules, of this calendar and of those whose rules refer to it. A slot that is
-- already due stays. A slot whose new place has passed is given up, and the log says so. Seeds do
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
  v_moved record;
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
      select m.id, m.next_run_at
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
    returning s.*, m.next_run_at as former
  loop
    if v_moved.next_run_at <= v_moved.former then
      continue;
    end if;
    -- The newest slot that has passed: a tick has handled it, or it has only now come to lie there.
    insert into agents.action_logs (lenser_id, schedule_id, action_type, payload)
    select new.lenser_id, v_moved.id, 'schedule_skipped', jsonb_build_object(
      'reason', 'schedule_edited', 'scheduled_for', p.slot,
      'detail', jsonb_build_object('count', 1, 'first', p.slot, 'last', p.slot))
    from (
      select max(c.slot) as slot
      from lenses.fn_cron_moves(
        v_moved.cron_spec, v_moved.timezone, v_now - interval '35 days',
        v_now + interval '35 days') as c
      where c.slot <= v_now and c.slot > v_moved.created_at
    ) as p
    where p.slot is not null
      and (v_moved.start_at <= p.slot) is not false and (p.slot <= v_moved.end_at) is not false
      and not exists (
        select from lenses.workflow_runs as r
        where r.schedule_id = v_moved.id and r.scheduled_for = p.slot)
      and not exists (
        select from agents.action_logs as a
        where a.schedule_id = v_moved.id and a.occurred_at >= p.slot - interval '1 day'
          and p.slot between coalesce(
            (a.payload #>> '{detail,first}')::timestamptz,
            (a.payload ->> 'scheduled_for')::timestamptz)
          and (a.payload ->> 'scheduled_for')::timestamptz);
  end loop;
  return null;
end;
$$;

comment on function lenses.tg_schedule_calendars_moved() is
  'Recomputes the next slots that a changed calendar moves, and logs the one that it moves into '
  'the past.';
