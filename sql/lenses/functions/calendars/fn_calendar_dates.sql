-- owner: lf_sql_engine
-- All dates of a calendar from p_from through p_until, listed and by rule, each once, without
-- order. A chain of calendars that refer to one another is cut off beyond eight: the check of the
-- rules lets none that long in.
create or replace function lenses.fn_calendar_dates(
  p_calendar_id uuid,
  p_from date,
  p_until date,
  p_depth integer default 0
)
returns setof date
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_calendar lenses.schedule_calendars;
begin
  select c.* into v_calendar from lenses.schedule_calendars as c where c.id = p_calendar_id;
  if p_depth > 8 then
    raise exception using
      errcode = '22023',
      message = format('calendar %s refers to others more than eight deep', p_calendar_id),
      hint = 'Take a reference out of one of them.';
  end if;
  return query
  select d from unnest(v_calendar.dates) as d where d between p_from and p_until
  union
  select d from lenses.fn_calendar_rule_dates(v_calendar.rules, p_from, p_until, p_depth) as d;
end;
$$;
