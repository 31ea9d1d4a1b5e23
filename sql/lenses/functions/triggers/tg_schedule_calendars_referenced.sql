-- owner: lf_sql_engine
-- Refuses to delete a calendar that another one of the tenant refers to.
create or replace function lenses.tg_schedule_calendars_referenced()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text;
begin
  if lensers.fn_is_departed(old.lenser_id) then
    return old;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('lf-sql calendars ' || old.lenser_id, 0));
  select c.name into v_name
  from lenses.schedule_calendars as c
  where c.lenser_id = old.lenser_id and c.id <> old.id
    and old.id = any (lenses.fn_calendar_references(c.rules))
  limit 1;
  if found then
    raise exception using
      errcode = '23503',
      message = format('the calendar "%s" refers to the calendar "%s"', v_name, old.name),
      hint = 'Take the rule out first: fn_update_schedule_calendar(…, p_rules => …).';
  end if;
  return old;
end;
$$;

comment on function lenses.tg_schedule_calendars_referenced() is
  'Refuses (23503) to delete a calendar that another one''s rules refer to.';
