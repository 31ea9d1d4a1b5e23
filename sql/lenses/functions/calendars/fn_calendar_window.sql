-- owner: lf_sql_engine
-- A calendar for a search of slots: its zone, whether its dates are closed (skip_dates) or the only
-- open ones, and all that it names on the dates of a stretch. A calendar that is gone closes
-- nothing.
create or replace function lenses.fn_calendar_window(
  p_calendar_id uuid,
  p_from timestamptz,
  p_until timestamptz,
  out timezone text,
  out is_skip boolean,
  out dates date[]
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  select c.timezone, c.kind = 'skip_dates' into timezone, is_skip
  from lenses.schedule_calendars as c where c.id = p_calendar_id;
  timezone := coalesce(timezone, 'UTC');
  is_skip := coalesce(is_skip, true);
  dates := array(
    select d
    from lenses.fn_calendar_dates(
      p_calendar_id, (p_from at time zone fn_calendar_window.timezone)::date,
      (p_until at time zone fn_calendar_window.timezone)::date) as d);
end;
$$;
