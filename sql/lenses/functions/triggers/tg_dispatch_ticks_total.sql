-- owner: lf_sql_engine
-- A purge of ticks adds what they counted to lenses.dispatch_totals, in the same transaction.
create or replace function lenses.tg_dispatch_ticks_total()
returns trigger
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update lenses.dispatch_totals as t
  set ticks = t.ticks + g.ticks,
    dispatched = t.dispatched + g.dispatched,
    deferred = t.deferred + g.deferred,
    failed = t.failed + g.failed,
    skipped = coalesce(lenses.fn_add_counts(t.skipped, g.skipped), '{}'),
    lag = lenses.fn_sum_lags(array[t.lag, g.lag])
  from (
    select
      count(*) as ticks, coalesce(sum(o.dispatched), 0) as dispatched,
      coalesce(sum(o.deferred), 0) as deferred,
      coalesce(sum(o.failed), 0) as failed,
      (
        select coalesce(jsonb_object_agg(k.key, k.total), '{}')
        from (
          select e.key, sum(e.value::numeric) as total
          from gone as x
          cross join lateral jsonb_each_text(x.skipped) as e
          group by e.key
        ) as k
      ) as skipped,
      lenses.fn_sum_lags(coalesce(array_agg(o.lag) filter (where o.lag <> '{}'), '{}')) as lag
    from gone as o
  ) as g
  where g.ticks > 0;
  return null;
end;
$$;
