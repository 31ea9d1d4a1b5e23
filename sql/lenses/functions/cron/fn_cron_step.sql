-- The distance between neighbours of an ordered list, where it is the same all along; else NULL,
-- also for fewer than two.
create or replace function lenses.fn_cron_step(p_values integer[])
returns integer
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select case when min(distance) = max(distance) then min(distance) end
    from (
      select p_values[place + 1] - p_values[place] as distance
        from generate_series(1, cardinality(p_values) - 1) as place
    ) as neighbours
$$;
