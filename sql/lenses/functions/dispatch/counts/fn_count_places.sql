-- The rows of lenses.run_counts into which a change at an instant is folded: grain and begin. UTC,
-- and never a zone's: hours of a day are the same everywhere.
create or replace function lenses.fn_count_places(p_instant timestamptz)
returns table (grain smallint, instant timestamptz)
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
select 1::smallint, p_instant
union all
select 2::smallint, date_bin('5 seconds', p_instant, '2000-01-01Z')
union all
select 3::smallint, date_bin('1 minute', p_instant, '2000-01-01Z')
union all
select 4::smallint, date_bin('1 hour', p_instant, '2000-01-01Z')
$$;
