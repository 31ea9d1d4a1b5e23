-- owner: lf_sql_engine
-- When a calendar changes, slots that move off its closed dates move elsewhere: recomputes the next
-- slots of such schedules, of this calendar and of those whose rules refer to it. A slot that is
-- already due stays. Seeds do not change.
create or replace function lenses.tg_schedule_calendars_moved()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[] := array[new.id];
  v_more uuid[];
begin
  loop
    v_more := array(
      select c.id from lenses.schedule_calendars as c
      where c.lenser_id = new.lenser_id and c.id <> all (v_ids)
        and lenses.fn_calendar_references(c.rules) && v_ids);
    exit when v_more = '{}';
    v_ids := v_ids || v_more;
  end loop;
  update lenses.workflow_schedules as s
  set next_run_at = null
  from (
    select m.id
    from lenses.workflow_schedules as m
    where m.calendar_id = any (v_ids) and m.lenser_id = new.lenser_id and m.on_holiday <> 'skip'
      and m.next_run_at > now()
    order by m.id
    for no key update
  ) as q
  where s.id = q.id;
  return null;
end;
$$;

comment on function lenses.tg_schedule_calendars_moved() is
  'Recomputes the next slots that a changed calendar moves.';
