-- owner: lf_sql_engine
-- Slots that move off the closed dates of a calendar lie elsewhere once it has changed: the next
-- slots of such schedules are computed anew, of this calendar and of those whose rules lead to it.
-- A slot that is due already stays. Seeds do not change.
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
  where s.calendar_id = any (v_ids) and s.lenser_id = new.lenser_id and s.on_holiday <> 'skip'
    and s.next_run_at > now();
  return null;
end;
$$;

comment on function lenses.tg_schedule_calendars_moved() is
  'Computes the next slots anew that a changed calendar moves.';
