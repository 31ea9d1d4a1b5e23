-- owner: lf_sql_engine
-- Where a moved slot came from, for people: "moved from Fri 25 Dec: us-federal-holidays"; NULL for
-- a slot of the expression itself. Of several that fall together the first is named, and how many.
create or replace function lenses.fn_moved_text(
  p_schedule lenses.workflow_schedules,
  p_slot timestamptz
)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from timestamptz[];
begin
  if p_schedule.on_holiday = 'skip' or p_schedule.calendar_id is null then
    return null;
  end if;
  v_from := lenses.fn_cron_moved_from(p_schedule.cron_spec, p_schedule.timezone, p_slot);
  if v_from = '{}' then
    return null;
  end if;
  return format('moved from %s%s: %s',
    to_char(v_from[1] at time zone p_schedule.timezone, 'Dy DD Mon'),
    case when cardinality(v_from) > 1
      then format(' and %s more', cardinality(v_from) - 1) else '' end,
    (select c.name from lenses.schedule_calendars as c where c.id = p_schedule.calendar_id));
end;
$$;
