-- The instant across which no slot moves: before p_at where p_step is -1, after it where it is 1.
-- The nearest two open dates in a row lie between. A move tries one date after the other, and its
-- tries are a day apart, 26 hours where clocks are turned: none steps over both dates. Where no two
-- are near it is 33 days away: no move is longer than that.
create or replace function lenses.fn_calendar_barrier(
  p_calendar_id uuid,
  p_at timestamptz,
  p_step integer
)
returns timestamptz
language sql
stable
strict
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    (
      -- where midnight comes twice, AT TIME ZONE gives the second
      select (t.today + p_step * n + (p_step < 0)::integer)::timestamp at time zone w.timezone
        - (p_step < 0)::integer * interval '3 hours'
      from generate_series(1, 32) as n
      where (t.today + p_step * n = any (w.dates)) is distinct from w.is_skip
        and (t.today + p_step * (n + 1) = any (w.dates)) is distinct from w.is_skip
      order by n
      limit 1
    ),
    p_at + p_step * interval '33 days')
  from lenses.fn_calendar_window(
    p_calendar_id, least(p_at, p_at + p_step * interval '35 days'),
    greatest(p_at, p_at + p_step * interval '35 days')) as w
  cross join lateral (select (p_at at time zone w.timezone)::date as today) as t
$$;
