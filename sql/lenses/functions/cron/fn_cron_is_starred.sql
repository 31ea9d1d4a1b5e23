-- Whether the minutes and hours of a spec are a set that people write with a star: all hours, or
-- minutes or hours at one distance all round the clock, from 0. Such a set is described as real
-- time without more words, all others as wall-clock time.
create or replace function lenses.fn_cron_is_starred(p_spec lenses.cron_spec)
returns boolean
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select p_spec.hours = 16777215
    or (p_spec.minutes & 1 = 1 and lenses.fn_cron_step(minutes) * cardinality(minutes) = 60)
    is true
    or (p_spec.hours & 1 = 1 and lenses.fn_cron_step(hours) * cardinality(hours) = 24) is true
    from
      lenses.fn_cron_values(p_spec.minutes) as minutes,
      lenses.fn_cron_values(p_spec.hours) as hours
$$;
