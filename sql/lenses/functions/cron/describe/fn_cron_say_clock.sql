-- A minute of the day as 24-hour time.
create or replace function lenses.fn_cron_say_clock(p_minute integer)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(p_minute / 60, 'FM00') || ':' || to_char(p_minute % 60, 'FM00');
end;
$$;
