-- The period of an interval schedule as people write it: 6h, 1h 30m, 1d; parts that are 0 are left
-- out.
create or replace function lenses.fn_interval_period(p_interval_ms bigint)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select string_agg(u.amount || u.unit, ' ' order by u.place)
from (
  values
    (1, p_interval_ms / 86400000, 'd'),
    (2, p_interval_ms % 86400000 / 3600000, 'h'),
    (3, p_interval_ms % 3600000 / 60000, 'm'),
    (4, p_interval_ms % 60000 / 1000, 's'),
    (5, p_interval_ms % 1000, 'ms')
) as u (place, amount, unit)
where u.amount > 0
$$;

comment on function lenses.fn_interval_period(bigint) is
  'Milliseconds as a period such as 6h or 1h 30m.';
