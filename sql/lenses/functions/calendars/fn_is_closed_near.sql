-- Whether a calendar closes the date of an instant or one of the two days before, so that slots on
-- closed dates may have moved past the instant.
create or replace function lenses.fn_is_closed_near(p_calendar_id uuid, p_at timestamptz)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from generate_series(0, 2) as n
    where ((p_at at time zone w.timezone)::date - n = any (w.dates)) = w.is_skip
  )
  from lenses.fn_calendar_window(p_calendar_id, p_at - interval '3 days', p_at) as w
$$;
