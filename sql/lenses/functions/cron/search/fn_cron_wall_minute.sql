-- The wall-clock minute of a zone at a UTC minute, both as in lenses.fn_cron_epoch.
-- Rounded down, so that offsets with seconds (before 1972) stay on whole minutes.
create or replace function lenses.fn_cron_wall_minute(p_timezone text, p_minute bigint)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return floor(date_part('epoch', timezone(
    p_timezone, to_timestamp(((p_minute - lenses.fn_cron_epoch()) * 60)::float8))) / 60)::bigint
    + lenses.fn_cron_epoch();
end;
$$;
