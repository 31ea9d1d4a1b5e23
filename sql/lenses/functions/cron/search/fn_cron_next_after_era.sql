-- What lenses.fn_cron_next_after_spec answers outside the years 1 to 9999: NULL after them, and
-- before them the first slot of the year 1.
create or replace function lenses.fn_cron_next_after_era(
  p_spec lenses.cron_spec,
  p_timezone text,
  p_after timestamptz
)
returns timestamptz
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_after < timestamptz '2000-01-01 00:00:00+00' then
      lenses.fn_cron_next_after_spec(
        p_spec, p_timezone, timestamptz '0001-01-01 00:00:00+00'
      )
  end
$$;
