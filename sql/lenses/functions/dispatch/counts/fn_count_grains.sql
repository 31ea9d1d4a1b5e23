-- The grains of lenses.run_counts into which a change is folded, and how long each is: a row of a
-- grain begins at date_bin(span, instant, '2000-01-01Z'). In UTC, where hours of a day are the same
-- everywhere.
create or replace function lenses.fn_count_grains()
returns table (grain smallint, span interval)
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
values
  (1::smallint, interval '1 microsecond'),
  (2::smallint, interval '5 seconds'),
  (3::smallint, interval '1 minute'),
  (4::smallint, interval '1 hour')
$$;
