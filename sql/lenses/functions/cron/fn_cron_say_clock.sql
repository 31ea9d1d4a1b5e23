-- A minute of the day as 24-hour time.
create or replace function lenses.fn_cron_say_clock(p_minute integer)
returns text
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select lpad((p_minute / 60)::text, 2, '0') || ':' || lpad((p_minute % 60)::text, 2, '0')
$$;
