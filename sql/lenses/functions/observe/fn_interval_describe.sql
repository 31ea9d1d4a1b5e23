-- The English of an interval schedule: Every 6 hours, Every hour, Every 1 hour 30 minutes.
create or replace function lenses.fn_interval_describe(p_interval_ms bigint)
returns text
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select 'Every ' || case
  when count(*) = 1 and min(u.amount) = 1 then min(u.unit)
  else string_agg(
    u.amount || ' ' || u.unit || case when u.amount = 1 then '' else 's' end, ' ' order by u.place
  )
end
from (
  values
    (1, p_interval_ms / 86400000, 'day'),
    (2, p_interval_ms % 86400000 / 3600000, 'hour'),
    (3, p_interval_ms % 3600000 / 60000, 'minute'),
    (4, p_interval_ms % 60000 / 1000, 'second'),
    (5, p_interval_ms % 1000, 'millisecond')
) as u (place, amount, unit)
where u.amount > 0
$$;

comment on function lenses.fn_interval_describe(bigint) is
  'Milliseconds in English: Every 6 hours.';
