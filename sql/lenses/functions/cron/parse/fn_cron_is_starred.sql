-- Whether the minutes and hours of a spec are a set that people write with a star: all hours, or
-- minutes or hours at equal distances around the clock, from 0. Such a set is described as real
-- time without more words, all others as wall-clock time.
create or replace function lenses.fn_cron_is_starred(p_minutes integer[], p_hours integer[])
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return cardinality(p_hours) = 24
    or coalesce(
      p_minutes[1] = 0 and lenses.fn_cron_step(p_minutes) * cardinality(p_minutes) = 60, false
    )
    or coalesce(
      p_hours[1] = 0 and lenses.fn_cron_step(p_hours) * cardinality(p_hours) = 24, false
    );
end;
$$;
