-- The sum of histograms as dispatch_ticks.lag keeps them: {"buckets":{bound: count},"count","sum"};
-- {}: none.
create or replace function lenses.fn_sum_lags(p_lags jsonb[])
returns jsonb
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
select case
  when w.count > 0 then jsonb_build_object(
    'buckets', (
      select coalesce(jsonb_object_agg(b.key, b.total), '{}')
      from (
        select e.key, sum(e.value::bigint) as total
        from unnest(p_lags) as l (lag)
        cross join lateral jsonb_each_text(l.lag -> 'buckets') as e
        group by e.key
      ) as b
    ),
    'count', w.count, 'sum', w.sum
  )
  else '{}'
end
from (
  select sum((l.lag ->> 'count')::bigint) as count, sum((l.lag ->> 'sum')::numeric) as sum
  from unnest(p_lags) as l (lag)
) as w
$$;
